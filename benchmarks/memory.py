"""Resident memory of run server and relay: idle, under a flood, and with a watcher that does not read."""

import contextlib
import os
import time
from pathlib import Path

from benchmarks import product
from benchmarks.context import Context
from benchmarks.harness import OURS, Bar, Benchmark, Row, Sample, Side
from benchmarks.processes import Stage, children_of, memory_mb
from hopline.records import RunRecord

FLOOD_BYTES = 1_000_000_000
IDLE_SECONDS = 2.0
IDLE_BAR_MB = 75
FLOOD_BAR_MB = 120
GROWTH_BAR = 1.2


def peaks(record: RunRecord) -> tuple[float, float]:
    """VmHWM of the run server and of its relay, MB; zeros once they are gone."""
    server = relay = 0.0
    with contextlib.suppress(OSError):
        server = memory_mb(record.pid)
        relay = max((memory_mb(child) for child in children_of(record.pid)), default=0.0)
    return server, relay


def idle(context: Context) -> Sample:
    """Both together, two seconds after the start of a run that does nothing; nobody watches."""
    with context.stage() as stage:
        record = product.detach(context, stage, context.programs.patient(30))
        time.sleep(IDLE_SECONDS)
        server, relay = peaks(record)
        end(context, stage, record)
    return Sample(server + relay, note=f"peaks: run server {server:.1f} MB, relay {relay:.1f} MB")


def end(context: Context, stage: Stage, record: RunRecord) -> None:
    """Stop a run and wait for its server."""
    stage.finish(stage.start([product.program(context), "stop", record.id, "--grace", "0"]), 30)
    stage.finish(record.pid, 30)


def flood(context: Context, total: int, *, watched: bool) -> tuple[Sample, float]:
    """The greatest peaks seen while `total` bytes go through, and the server's peak at a quarter of them.

    Args:
        watched: a client subscribes first and never reads.
    """
    server = relay = quarter = 0.0
    with context.room("memory") as room, context.stage() as stage:
        gate = room / "gate"
        os.mkfifo(gate)
        load = context.programs.flood("ansi", total)
        record = product.detach(context, stage, load, env={"LOAD_GATE": str(gate), "LOAD_SECONDS": "60"})
        with contextlib.ExitStack() as clients:
            if watched:
                clients.enter_context(product.subscribe(record))
            gate.write_bytes(b"x")
            path = Path(record.journal).parent / "record.json"
            while b'"status":"completed"' not in path.read_bytes():
                now = peaks(record)
                server, relay = max(server, now[0]), max(relay, now[1])
                if not quarter and stored(record) >= total // 4:
                    quarter = server
                time.sleep(0.01)
        stage.finish(record.pid, 60)
        product.forget(record)
    return Sample(server + relay, note=f"peaks: run server {server:.1f} MB, relay {relay:.1f} MB"), server / quarter


def stored(record: RunRecord) -> int:
    """Bytes in the journal's segments."""
    return sum(path.stat().st_size for path in (Path(record.journal) / "segments").iterdir())


def measure_idle(context: Context) -> list[Row]:
    """Two runs."""
    side = Side(OURS, "MB", tuple(idle(context) for _ in range(2)))
    return [Row("memory-idle", "resident, run server and relay, idle", side, None, Bar("<", IDLE_BAR_MB, "MB"))]


def measure_flood(context: Context) -> list[Row]:
    """One flood with nobody there, one with a watcher that does not read."""
    total = context.size(FLOOD_BYTES)
    alone, _ = flood(context, total, watched=False)
    blocked, growth = flood(context, total, watched=True)
    grown = Sample(growth, note="peak of the run server at the end over its peak at a quarter of the flood")
    bar = Bar("<", FLOOD_BAR_MB, "MB")
    return [
        Row("memory-flood", "  under a flood of 1 GB", Side(OURS, "MB", (alone,)), None, bar),
        Row("memory-blocked", "  the same with a blocked watcher", Side(OURS, "MB", (blocked,)), None, bar),
        Row("memory-bounded", "  its growth", Side(OURS, "times", (grown,)), None, Bar("<=", GROWTH_BAR, "times")),
    ]


BENCHMARKS = [
    Benchmark("memory-idle", "resident memory of an idle run's server and relay", measure_idle),
    Benchmark("memory-flood", "the same under a flood, alone and with a blocked watcher", measure_flood),
]
