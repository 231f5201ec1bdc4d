"""What every benchmark is given: sizes, a private folder, the programs and the environment that they run in."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import Stage
from benchmarks.workloads import Programs

BIN = Path(sys.executable).parent
GB = 1e9


@dataclass(frozen=True, slots=True)
class Context:
    """Settings of one whole run of the benchmarks."""

    folder: Path
    """Private, on a disk, removed at the end."""
    programs: Programs
    environment: dict[str, str]
    scale: float
    """1 for the full sizes, 0.1 for --quick."""
    say: Callable[[str], None]
    """Progress, one short line."""

    def size(self, full: int) -> int:
        """A count or number of bytes at this run's scale, at least 1."""
        return max(1, int(full * self.scale))

    def stage(self) -> Stage:
        """A fresh stage with the private environment."""
        return Stage(self.environment)

    def program(self, name: str) -> str:
        """Path of an entry point of this Python's environment."""
        return str(BIN / name)

    @contextmanager
    def room(self, name: str) -> Iterator[Path]:
        """A folder below the private one, removed with what it holds."""
        with tempfile.TemporaryDirectory(prefix=name + "-", dir=self.folder, ignore_cleanup_errors=True) as path:
            yield Path(path)


def private_environment(folder: Path) -> dict[str, str]:
    """Our environment with every place of hopline below `folder`, and nothing of an enclosing run."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HOPLINE_", "LOAD_", "TMUX"))}
    runtime = folder / "x"
    runtime.mkdir(mode=0o700)
    return kept | {
        "HOPLINE_HOME": str(folder / "home"),
        "XDG_RUNTIME_DIR": str(runtime),
        "NO_COLOR": "1",
        "TERM": "xterm",
    }


def disk_folder() -> str:
    """Where the private folder goes: a disk, because some measures wait for one."""
    return "/var/tmp" if os.access("/var/tmp", os.W_OK) else tempfile.gettempdir()
