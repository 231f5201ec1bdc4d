"""What workers write and readers read: blocks of bytes, and the load and reader programs, compiled when possible."""

import shutil
import subprocess
import sys
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
BLOCK_BYTES = 1 << 20
LINE_BYTES = 100

_STAGES = ("fetch", "build", "check", "index", "upload")


def ansi_block() -> bytes:
    """1 MiB of ASCII lines with ANSI colours, as a build or an agent prints them: about 4 % escape bytes."""
    lines: list[bytes] = []
    size = number = 0
    while size < BLOCK_BYTES:
        stage = _STAGES[number % len(_STAGES)]
        colour = 31 + number % 6
        text = (
            f"\x1b[2m{number:06d}\x1b[0m \x1b[1;{colour}m{stage:<6}\x1b[0m item {number * 7919 % 99991:05d} of 99991: "
        )
        lines.append(text.encode() + b"read, compared and kept; nothing to report (0.%03d s)\n" % (number * 31 % 1000))
        size += len(lines[-1])
        number += 1
    return b"".join(lines)[: BLOCK_BYTES - 1] + b"\n"


def invalid_block() -> bytes:
    """1 MiB of 0xFF: never valid UTF-8, so every frame is base64."""
    return b"\xff" * BLOCK_BYTES


def line_block() -> bytes:
    """100,000 lines of 100 bytes, one a write."""
    return b"".join(b"%08d %s\n" % (number, b"x" * (LINE_BYTES - 10)) for number in range(100_000))


class Programs:
    """The load and reader programs as argv prefixes, the same on both sides of every ratio.

    Args:
        folder: where compiled programs and block files are put.
        compile_them: False for the Python versions although there is a compiler.
    """

    def __init__(self, folder: Path, *, compile_them: bool = True) -> None:
        self._folder = folder
        compiler = shutil.which("gcc") or shutil.which("cc")
        compiled = compile_them and compiler is not None and self._compile(compiler)
        self.kind = "C" if compiled else "Python"
        self.loads = self._argv("loads", compiled)
        self.reader = self._argv("reader", compiled)
        self._blocks: dict[str, Path] = {}

    def block(self, name: str) -> Path:
        """The file of a block: ansi, invalid or line."""
        if name not in self._blocks:
            make = {"ansi": ansi_block, "invalid": invalid_block, "line": line_block}[name]
            path = self._folder / f"{name}.block"
            path.write_bytes(make())
            self._blocks[name] = path
        return self._blocks[name]

    def flood(self, block: str, total: int, each: int = 65536) -> list[str]:
        """argv of a load that writes `total` bytes of the block, `each` bytes a write."""
        return [*self.loads, "flood", str(self.block(block)), str(total), str(each)]

    def ticks(self, count: int, microseconds: int) -> list[str]:
        """argv of a load that writes a stamped line every so many microseconds."""
        return [*self.loads, "ticks", str(count), str(microseconds)]

    def patient(self, seconds: int) -> list[str]:
        """argv of a load that does nothing for so long."""
        return [*self.loads, "patient", str(seconds)]

    def frames(self, block: str) -> list[str]:
        """argv of the reader that strictly decodes worker-wire events and compares their output with the block."""
        return [*self.reader, "frames", str(self.block(block))]

    def raw(self, block: str) -> list[str]:
        """argv of the reader that compares the bytes with the block."""
        return [*self.reader, "raw", str(self.block(block))]

    def discard(self) -> list[str]:
        """argv of the reader that only counts."""
        return [*self.reader, "discard"]

    def _compile(self, compiler: str) -> bool:
        for name in ("loads", "reader"):
            argv = [compiler, "-O2", "-o", str(self._folder / name), str(PROGRAMS / f"{name}.c")]
            if subprocess.run(argv, capture_output=True, check=False).returncode != 0:
                return False
        return True

    def _argv(self, name: str, compiled: bool) -> list[str]:
        return [str(self._folder / name)] if compiled else [sys.executable, str(PROGRAMS / f"{name}.py")]
