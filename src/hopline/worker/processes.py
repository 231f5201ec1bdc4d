"""What /proc says of processes: parentage, start times, environment markers. Linux only; reads, never signals."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Process:
    """One process as it was when its stat file was read."""

    pid: int
    name: str
    state: str
    """One letter of proc(5); Z is a zombie."""
    parent: int
    start_time: float
    """Seconds from boot to its start, in clock ticks: with the pid it names one process for as long as the machine
    runs, and never changes with the wall clock."""

    @property
    def ended(self) -> bool:
        """Whether it has exited and only waits to be reaped."""
        return self.state in "ZX"


def look_up(pid: int) -> Process | None:
    """The process that has `pid` now, or None. Raises OSError when /proc cannot be read at all."""
    try:
        text = (PROC / str(pid) / "stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    head, _, tail = text.rpartition(b")")
    fields = tail.split()
    return Process(
        pid=pid,
        name=head.partition(b"(")[2].decode(errors="replace"),
        state=fields[0].decode(),
        parent=int(fields[1]),
        start_time=int(fields[19]) / _TICKS,
    )


def every() -> Iterator[Process]:
    """Every process to be seen. Raises OSError when /proc cannot be listed or does not show this process."""
    names = [entry.name for entry in os.scandir(PROC)]
    if str(os.getpid()) not in names:
        raise FileNotFoundError(f"{PROC} does not show this process")
    for name in names:
        if name.isdigit() and (process := look_up(int(name))) is not None:
            yield process


def environment(pid: int) -> dict[bytes, bytes] | None:
    """The environment that a process was started with; None when it may not be read or the process is gone."""
    try:
        text = (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return None
    pairs = (entry.partition(b"=") for entry in text.split(b"\0"))
    return {name: value for name, _, value in pairs}


def boot_time() -> float:
    """When this machine booted, in seconds since the epoch."""
    for line in (PROC / "stat").read_bytes().splitlines():
        if line.startswith(b"btime "):
            return float(line.split()[1])
    return 0.0
