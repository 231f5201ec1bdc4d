"""Start to end of short commands, beside a Python that only imports what a daemon needs."""

import sys
import time
from collections.abc import Sequence

from benchmarks import product, stored
from benchmarks.context import Context
from benchmarks.harness import Bar, Benchmark, Row, Sample, Side, interleave
from benchmarks.processes import wait_orphans

REFERENCE = "python -c import"
IMPORTS = "import asyncio, msgspec, sqlite3"
FINISHED_RUNS = 100
REPEATS = 21


def command(context: Context, argv: Sequence[str]) -> Sample:
    """Milliseconds from before the start to the end, with the CPU milliseconds of everything waited for as note."""
    with context.stage() as stage:
        started = time.monotonic()
        ended = stage.finish(stage.start(argv), 30)
        seconds = time.monotonic() - started
    wait_orphans(2)
    if ended.status != 0:
        raise RuntimeError(f"{' '.join(argv)} ended with {ended.status}")
    cpu = ended.own_cpu_seconds + ended.children_cpu_seconds
    return Sample(seconds * 1000, note=f"{cpu * 1000:.0f} ms of CPU")


def measure(context: Context) -> list[Row]:
    """Every command after the other, over and over."""
    hopline = product.program(context)
    runs = [
        stored.finished_run(context, 3, lambda run_id: stored.output_event(run_id, b"done\\n"))
        for _ in range(FINISHED_RUNS)
    ]
    commands = {
        REFERENCE: [sys.executable, "-c", IMPORTS],
        "--version": [hopline, "--version"],
        "ls": [hopline, "ls", "--all"],
        "run -- true": [hopline, "run", "--", "true"],
    }
    samples = interleave(
        {name: lambda argv=argv: command(context, argv) for name, argv in commands.items()},  # type: ignore[misc]  # the default binds the loop variable
        max(3, context.size(REPEATS)),
    )
    for run in runs:
        product.forget(run)
    sides = {name: Side(name, "ms", tuple(values)) for name, values in samples.items()}
    bars = {"--version": 1.0, "ls": 1.5, "run -- true": 5.0}
    texts = {name: f"hopline {name}" for name in bars} | {"ls": f"hopline ls --all, {FINISHED_RUNS} finished runs"}
    return [
        Row(f"startup-{name.split()[0].strip('-')}", texts[name], sides[name], sides[REFERENCE], Bar("<=", limit))
        for name, limit in bars.items()
    ]


BENCHMARKS = [Benchmark("startup", "hopline --version, ls and run -- true, beside a Python that imports", measure)]
