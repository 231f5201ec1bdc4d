"""Attaching with a tail of 100 to a journal of 1 GB and to one of 1 MB: opening must not grow with the run."""

import os
import time

from benchmarks import product, stored
from benchmarks.context import Context
from benchmarks.harness import Bar, Benchmark, Row, Sample, Side, interleave
from benchmarks.processes import until, wait_orphans
from benchmarks.stored import Line, output_event
from hopline.records import RunRecord

LARGE_BYTES = 1_000_000_000
SMALL_BYTES = 1_000_000
EVENT_BYTES = 1000
REPEATS = 9
TAIL = 100


def thousand_bytes(run_id: str) -> Line:
    """Output events of about a thousand bytes."""
    envelope = len(output_event(run_id, b"")(1_000_000)) + 1
    return output_event(run_id, b"y" * (EVENT_BYTES - envelope - 2) + b"\\n")


def attach(context: Context, record: RunRecord) -> Sample:
    """Milliseconds of `hopline attach RUN --plain --tail 100`, start to end, with no server up before it."""
    wait_gone(record)
    with context.stage() as stage:
        output, into_output = stage.pipe()
        argv = [product.program(context), "attach", record.id, "--plain", "--tail", str(TAIL)]
        started = time.monotonic()
        pid = stage.start(argv, stdout=into_output)
        stage.close(into_output)
        shown = b"".join(iter(lambda: os.read(output, 1 << 20), b""))
        status = stage.finish(pid, 60).status
        seconds = time.monotonic() - started
    if status != 0 or shown.count(b"\n") < TAIL - 10:
        raise RuntimeError(f"attach ended with {status} after {shown.count(b'y')} bytes")
    return Sample(seconds * 1000)


def wait_gone(record: RunRecord) -> None:
    """Return when the short-lived server of an earlier attach has left."""
    for _ in until(20, 0.02):
        if not os.path.exists(record.socket_path):  # noqa: PTH110  # called often, no Path needed
            return


def measure(context: Context) -> list[Row]:
    """Nine attaches to each in turns."""
    product.program(context)
    large_bytes = context.size(LARGE_BYTES)
    records = {
        "1 GB": stored.finished_run(context, large_bytes // EVENT_BYTES, thousand_bytes),
        "1 MB": stored.finished_run(context, SMALL_BYTES // EVENT_BYTES, thousand_bytes),
    }
    samples = interleave(
        {name: lambda record=record: attach(context, record) for name, record in records.items()},  # type: ignore[misc]  # the default binds the loop variable
        REPEATS,
    )
    wait_orphans(5)
    for record in records.values():
        product.forget(record)
    large, small = (Side(name, "ms", tuple(samples[name])) for name in records)
    note = f"the large journal has {large_bytes / 1e6:,.0f} MB"
    return [Row("attach", "attach --tail 100, 1 GB journal against 1 MB", large, small, Bar("<=", 1.3), note)]


BENCHMARKS = [Benchmark("attach", "attach with a tail of 100 to a 1 GB journal against a 1 MB one", measure)]
