"""Processes that a benchmark starts: their CPU seconds and memory from /proc, a bound on every wait, an end for each.

The benchmark adopts what its children leave behind (it is a subreaper), so a detached run server can be waited for
and measured like a child. Only processes started here, or adopted from those, are ever ended, each by its pid.
"""

import contextlib
import ctypes
import fcntl
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

PIPE_BYTES = 1 << 20
_PR_SET_CHILD_SUBREAPER = 36
_TICK = os.sysconf("SC_CLK_TCK")


class TookTooLong(Exception):
    """A process or a wait passed its bound; what was started is ended."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What is known of a process after its end."""

    status: int
    """As subprocess gives it: the exit code, or minus the signal."""
    own_cpu_seconds: float
    children_cpu_seconds: float
    """Of the children that it waited for, and theirs."""


def adopt_orphans() -> None:
    """From now on whatever our children leave behind becomes our child. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def big_pipe() -> tuple[int, int]:
    """A pipe of 1 MiB where the system grants it: its read and write end."""
    read, write = os.pipe()
    with contextlib.suppress(OSError):
        fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return read, write


def stat_fields(pid: int) -> list[str]:
    """The fields of /proc/<pid>/stat from the state on (field 3 is the first). Raises OSError when it is gone."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def cpu_seconds(pid: int, *, children: bool = False) -> float:
    """CPU seconds of a live or unreaped process, or of the children it waited for, in ticks of the kernel's clock."""
    at = 13 if children else 11
    fields = stat_fields(pid)
    return (int(fields[at]) + int(fields[at + 1])) / _TICK


def memory_mb(pid: int, field: str = "VmHWM") -> float:
    """VmHWM (peak) or VmRSS (now) of a live process in MB of 1,000,000 bytes; 0 once it has none."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def children_of(pid: int) -> list[int]:
    """The direct children of a process, of all its threads."""
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += [int(word) for word in (task / "children").read_text().split()]
    return found


def descendants_of(pid: int) -> list[int]:
    """All descendants, parents before children."""
    found: list[int] = []
    for child in children_of(pid):
        found += [child, *descendants_of(child)]
    return found


class Stage:
    """Keeps what it started; at the end of the block ends what still lives of it and closes what it was given."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self._children: dict[int, subprocess.Popen[bytes] | None] = {}
        self._descriptors: set[int] = set()

    def __enter__(self) -> "Stage":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for descriptor in list(self._descriptors):
            self.close(descriptor)
        for pid in list(self._children):
            self.end(pid)

    def start(self, argv: Sequence[str | Path], *, env: dict[str, str] | None = None, **streams: Any) -> int:
        """Start a program with the stage's environment and `env` added. Streams as for Popen, /dev/null by default.

        Returns its pid. Raises OSError.
        """
        given = {name: streams.get(name, subprocess.DEVNULL) for name in ("stdin", "stdout", "stderr")}
        passed = streams.get("pass_fds", ())
        environment = {**self._environment, **(env or {})}
        child = subprocess.Popen([str(word) for word in argv], env=environment, pass_fds=passed, **given)
        self._children[child.pid] = child
        return child.pid

    def adopt(self, pid: int) -> int:
        """Take charge of an orphan that became our child, such as a detached server."""
        self._children.setdefault(pid, None)
        return pid

    def pipe(self) -> tuple[int, int]:
        """A 1 MiB pipe; the stage closes the ends that nobody closed."""
        ends = big_pipe()
        self._descriptors.update(ends)
        return ends

    def keep(self, descriptor: int) -> int:
        """Take charge of an open descriptor."""
        self._descriptors.add(descriptor)
        return descriptor

    def close(self, *descriptors: int) -> None:
        """Close ends of the stage's pipes."""
        for descriptor in descriptors:
            if descriptor in self._descriptors:
                self._descriptors.discard(descriptor)
                os.close(descriptor)

    def finish(self, pid: int, seconds: float = 120.0) -> Ended:
        """Wait for the end of a child, reap it and say what it cost. Raises TookTooLong after `seconds`."""
        descriptor = os.pidfd_open(pid)
        try:
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            if not poll.poll(seconds * 1000):
                raise TookTooLong(f"process {pid} did not end within {seconds:g} s")
        finally:
            os.close(descriptor)
        children = cpu_seconds(pid, children=True)
        _, status, usage = os.wait4(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if child := self._children.pop(pid, None):
            child.returncode = code
        return Ended(code, max(0.0, usage.ru_utime + usage.ru_stime - children), children)

    def end(self, pid: int) -> None:
        """End and reap a child if it still lives."""
        with contextlib.suppress(ProcessLookupError, ChildProcessError, FileNotFoundError):
            os.kill(pid, signal.SIGKILL)
            self.finish(pid, 10.0)
        self._children.pop(pid, None)


def wait_orphans(seconds: float) -> None:
    """Reap what our children left behind as it ends, until nothing is left or the time is over. No child may live."""
    with contextlib.suppress(TookTooLong, ChildProcessError):
        for _ in until(seconds):
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue


def end_orphans() -> list[str]:
    """End and reap whatever is still our child, deepest last, a few times over. Returns the names of what lived."""
    names: list[str] = []
    for _ in range(5):
        for pid in descendants_of(os.getpid()):
            with contextlib.suppress(OSError):
                if stat_fields(pid)[0] != "Z":
                    names.append(f"{Path(f'/proc/{pid}/comm').read_text().strip()} ({pid})")
                    os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
        if not children_of(os.getpid()):
            break
        time.sleep(0.02)
    return names


def until(seconds: float, pause: float = 0.01) -> Iterator[float]:
    """Yield the seconds passed, `pause` apart, for a polling loop. Raises TookTooLong when `seconds` are over."""
    started = time.monotonic()
    while (passed := time.monotonic() - started) < seconds:
        yield passed
        time.sleep(pause)
    raise TookTooLong(f"not there within {seconds:g} s")
