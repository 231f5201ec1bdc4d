"""The whole path: what a command writes, from its first byte to the journal, beside what captures output to a file."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import product
from benchmarks.context import GB, Context
from benchmarks.harness import OURS, Bar, Benchmark, Row, Sample, Side, interleave
from benchmarks.processes import until
from benchmarks.workloads import LINE_BYTES

FULL = 1_000_000_000
SCRIPT_BYTES = 256_000_000
TMUX_BYTES = 64_000_000
LINES = 1_000_000


def sample(total: int, seconds: float, cpu: float, *, per: int = 1_000_000, note: str = "") -> Sample:
    """A rate in `per` bytes a second and the CPU cost of every process of the capture, the worker included."""
    return Sample(total / seconds / per, cpu / total * GB, note)


def ours(context: Context, command: list[str], total: int, per: int = 1_000_000) -> Sample:
    """`hopline run --detach` until its record says completed, with nobody watching."""
    with context.stage() as stage:
        started = time.monotonic()
        record = product.detach(context, stage, command)
        ended = product.wait_ended(context, record)
        seconds = time.monotonic() - started
        server = stage.finish(record.pid, 60)
    if ended.status != "completed":
        raise RuntimeError(f"the run ended as {ended.status}")
    if (kept := product.output_bytes(record)) != total:
        raise RuntimeError(f"the journal holds {kept} of {total} bytes")
    product.forget(record)
    own, children = server.own_cpu_seconds, server.children_cpu_seconds
    note = f"CPU s/GB: run server {own / total * GB:.2f}, relay and worker {children / total * GB:.2f}"
    return sample(total, seconds, own + children, per=per, note=note)


def kept_file(path: Path, least: int) -> None:
    """Check that a capture is whole, and remove it."""
    size = path.stat().st_size
    path.unlink()
    if size < least:
        raise RuntimeError(f"{path.name} holds {size} of {least} bytes")


def tee(context: Context, command: list[str], total: int, per: int = 1_000_000) -> Sample:
    """`CMD | tee FILE > /dev/null`."""
    with context.room("tee") as room, context.stage() as stage:
        output, into_tee = stage.pipe()
        started = time.monotonic()
        copy = stage.start(["tee", room / "capture"], stdin=output)
        worker = stage.start(command, stdout=into_tee)
        stage.close(output, into_tee)
        cpu = stage.finish(worker).own_cpu_seconds
        cpu += stage.finish(copy).own_cpu_seconds
        seconds = time.monotonic() - started
        kept_file(room / "capture", total)
    return sample(total, seconds, cpu, per=per)


def script(context: Context, command: list[str], total: int) -> Sample:
    """`script -q -c CMD FILE`, its own output thrown away."""
    with context.room("script") as room, context.stage() as stage:
        started = time.monotonic()
        pid = stage.start(["script", "-q", "-c", " ".join(command), room / "capture"])
        ended = stage.finish(pid)
        seconds = time.monotonic() - started
        kept_file(room / "capture", total)
    return sample(total, seconds, ended.own_cpu_seconds + ended.children_cpu_seconds)


def tmux(context: Context, command: list[str], total: int) -> Sample:
    """`tmux pipe-pane 'cat > FILE'` on a server of its own; the command waits at a gate until the pipe is there."""
    with context.room("tmux") as room, context.stage() as stage:
        gate = room / "gate"
        os.mkfifo(gate)
        base = ["tmux", "-S", str(room / "s"), "-f", "/dev/null"]
        pid_file = room / "pid"
        new = [*base, "new-session", "-d", "-x", "200", "-y", "50", "-e", f"LOAD_GATE={gate}", " ".join(command)]
        with pid_file.open("wb") as file:
            stage.finish(stage.start(new))
            stage.finish(stage.start([*base, "pipe-pane", f"cat > {room / 'capture'}"]))
            stage.finish(stage.start([*base, "display-message", "-p", "#{pid}"], stdout=file))
        server = stage.adopt(int(pid_file.read_text()))
        started = time.monotonic()
        gate.write_bytes(b"x")
        ended = stage.finish(server)
        for _ in until(10):
            if (room / "capture").stat().st_size >= total:
                break
        seconds = time.monotonic() - started
        kept_file(room / "capture", total)
    return sample(total, seconds, ended.own_cpu_seconds + ended.children_cpu_seconds)


def measure_ansi(context: Context) -> list[Row]:
    """Three repetitions in turns; a reference that is slow gets fewer bytes, for these are rates."""
    product.program(context)

    def load(full: int) -> tuple[list[str], int]:
        total = context.size(full)
        return context.programs.flood("ansi", total), total

    sides: dict[str, Callable[[], Sample]] = {
        OURS: lambda: ours(context, *load(FULL)),
        "script": lambda: script(context, *load(SCRIPT_BYTES)),
        "tmux pipe-pane": lambda: tmux(context, *load(TMUX_BYTES)),
        "tee": lambda: tee(context, *load(FULL)),
    }
    missing = {name: why for name in ("script", "tmux") if (why := _absent(name))}
    for name in missing:
        sides.pop({"tmux": "tmux pipe-pane"}.get(name, name))
    samples = interleave(sides, 3)
    found = {name: Side(name, "MB/s", tuple(values)) for name, values in samples.items()}
    mine = found[OURS]
    text = "whole path, 1 GB of ANSI text, detached"
    return [
        Row("path-script", text, mine, found.get("script"), Bar(">=", 2), missing.get("script", "")),
        Row("path-tmux", "  beside tmux", mine, found.get("tmux pipe-pane"), Bar(">=", 8), missing.get("tmux", "")),
        Row("path-tee", "  share of tee", mine, found["tee"]),
    ]


def _absent(name: str) -> str:
    return "" if shutil.which(name) else f"{name} is not installed"


def measure_lines(context: Context) -> list[Row]:
    """Three repetitions in turns."""
    lines = context.size(LINES)
    command, total = context.programs.flood("line", lines * LINE_BYTES, LINE_BYTES), lines * LINE_BYTES
    samples = interleave(
        {
            OURS: lambda: ours(context, command, total, LINE_BYTES),
            "tee": lambda: tee(context, command, total, LINE_BYTES),
        },
        3,
    )
    mine, theirs = (Side(name, "lines/s", tuple(samples[name])) for name in (OURS, "tee"))
    text = "1,000,000 writes of 100 bytes, journalled"
    return [Row("path-lines", text, mine, theirs, Bar(">=", 200_000, "lines/s"))]


BENCHMARKS = [
    Benchmark("path-ansi", "ANSI text from a detached run into its journal, beside script, tmux and tee", measure_ansi),
    Benchmark("path-lines", "writes of 100 bytes from a detached run into its journal, beside tee", measure_lines),
]
