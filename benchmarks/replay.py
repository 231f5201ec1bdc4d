"""Replay of a million events from a finished run's server to a client that discards, beside cat of the segments."""

import json
import os
import time
from pathlib import Path

from benchmarks import product, stored
from benchmarks.context import Context
from benchmarks.harness import OURS, Bar, Benchmark, Row, Sample, Side, interleave
from benchmarks.product import RECEIVE_BYTES
from hopline.records import RunRecord

EVENTS = 1_000_000
EVENT_BYTES = 300
REPEATS = 5


def segments(record: RunRecord) -> list[Path]:
    """The segment files, in order."""
    return sorted((Path(record.journal) / "segments").glob("[0-9]*.jsonl"))


def ours(context: Context, record: RunRecord, events: int) -> Sample:
    """Events a second from the request to the last frame, which carries the last sequence.

    Only the end of each read is looked at, so the client costs next to nothing.
    """
    last = b'],"through_sequence":%d,' % events
    buffer = bytearray(RECEIVE_BYTES)
    view = memoryview(buffer)
    received = 0
    with context.stage() as stage:
        server = product.reopen(context, stage, record)
        tail = b""
        started = time.monotonic()
        with product.subscribe(record, after_sequence=0) as client:
            while size := client.recv_into(view):
                received += size
                tail = (tail + bytes(view[max(0, size - 512) : size]))[-512:]
                if last in tail and tail.endswith(b"\n"):
                    break
            seconds = time.monotonic() - started
        ended = stage.finish(server, 30)
    size_stored = sum(path.stat().st_size for path in segments(record))
    if not size_stored <= received < size_stored * 1.1:
        raise RuntimeError(f"{received} bytes came for a journal of {size_stored}")
    cost = ended.own_cpu_seconds / size_stored * 1e9
    return Sample(
        events / seconds, cost, f"{received / seconds / 1e6:,.0f} MB/s; the server's start included in its CPU"
    )


def cat(context: Context, record: RunRecord, events: int) -> Sample:
    """`cat` of the same files into the same discarding reader program."""
    paths = segments(record)
    with context.stage() as stage:
        output, into_reader = stage.pipe()
        report, into_report = stage.pipe()
        reading = stage.start(context.programs.discard(), stdin=output, stdout=into_report)
        copy = stage.start(["cat", *paths], stdout=into_reader)
        stage.close(output, into_reader, into_report)
        cost = stage.finish(copy).own_cpu_seconds / sum(path.stat().st_size for path in paths) * 1e9
        counted = json.loads(b"".join(iter(lambda: os.read(report, 65536), b"")))
        stage.finish(reading)
    return Sample(events / counted["seconds"], cost)


def measure(context: Context) -> list[Row]:
    """One journal, five repetitions in turns; its bytes are in the page cache on both sides."""
    product.program(context)
    events = context.size(EVENTS)
    record = stored.finished_run(
        context, events - stored.LIFE_EVENTS, lambda run_id: stored.small_event(run_id, EVENT_BYTES)
    )
    samples = interleave(
        {OURS: lambda: ours(context, record, events), "cat": lambda: cat(context, record, events)}, REPEATS
    )
    product.forget(record)
    mine, theirs = (Side(name, "events/s", tuple(samples[name])) for name in (OURS, "cat"))
    text = "replay of 1,000,000 events of 300 B, client discards"
    return [Row("replay", text, mine, theirs, Bar(">=", 2_000_000, "events/s"))]


BENCHMARKS = [
    Benchmark("replay", "a million stored events to a discarding client, beside cat of the segments", measure)
]
