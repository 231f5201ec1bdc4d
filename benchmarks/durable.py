"""Durable appends at a fixed rate: from the moment an event is due to its publication, beside fdatasync alone."""

import itertools
import os
import threading
import time

from benchmarks.context import Context
from benchmarks.harness import OURS, Bar, Benchmark, Row, Sample, Side, interleave, percentile
from benchmarks.stored import small_event, wait_room
from hopline.journal import Journal, JournalOptions

RATE = 20_000
SECONDS = 2.0
REPEATS = 5
"""In turns: the disk is shared, and its bad moments should fall on both sides."""
EVENT_BYTES = 300
TICK_SECONDS = 0.001
BURST = int(RATE * TICK_SECONDS)
"""Events that are due at each tick."""


def ours(context: Context, seconds: float) -> Sample:
    """p99 in milliseconds from due to published, open loop: lateness of the offering thread counts too."""
    published: list[tuple[int, float]] = []
    with context.room("durable") as room:
        journal: Journal
        ready = threading.Event()

        def on_commit() -> None:
            ready.wait(10)
            published.append((journal.committed_sequence, time.monotonic()))

        journal = Journal.create(room / "journal", "durable", JournalOptions(durability="full"), on_commit)
        ready.set()
        line = small_event("durable", EVENT_BYTES)
        total = int(RATE * seconds)
        started = time.monotonic()
        due = [started + number // BURST * TICK_SECONDS for number in range(total)]
        for first in range(0, total, BURST):
            time.sleep(max(0.0, due[first] - time.monotonic()))
            for sequence in range(first + 1, min(first + BURST, total) + 1):
                journal.append(line(sequence), kind="output")
            if not journal.room():
                wait_room(journal)
        journal.close(30)
        if journal.committed_sequence != total:
            raise RuntimeError(f"{journal.committed_sequence} of {total} events were committed")
    waits: list[float] = []
    at = 0
    for sequence, moment in published:
        waits += [(moment - each) * 1000 for each in due[at:sequence]]
        at = max(at, sequence)
    return _sample(waits, f"{len(published):,} commits for {len(waits):,} events")


def fdatasync(context: Context, seconds: float) -> Sample:
    """p99 in milliseconds of fdatasync after appending one tick's worth of bytes, one after the other."""
    data = b"x" * (BURST * EVENT_BYTES)
    waits: list[float] = []
    with context.room("fdatasync") as room:
        file = os.open(room / "file", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            os.write(file, data)
            started = time.monotonic()
            os.fdatasync(file)
            waits.append((time.monotonic() - started) * 1000)
        os.close(file)
    return _sample(waits, f"{len(waits):,} calls after {len(data):,} bytes each")


def paced(context: Context, seconds: float) -> Sample:
    """p99 in milliseconds from due to durable when one thread writes and syncs whatever is due, and nothing else."""
    event = b"x" * (BURST * EVENT_BYTES)
    ticks = int(seconds / TICK_SECONDS)
    waits: list[float] = []
    syncs = 0
    with context.room("paced") as room:
        file = os.open(room / "file", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        started = time.monotonic()
        due = [started + tick * TICK_SECONDS for tick in range(ticks)]
        while (done := len(waits)) < ticks:
            time.sleep(max(0.0, due[done] - time.monotonic()))
            ready = sum(1 for _ in itertools.takewhile(lambda moment: moment <= time.monotonic(), due[done:]))
            os.write(file, event * ready)
            os.fdatasync(file)
            syncs += 1
            moment = time.monotonic()
            waits += [(moment - each) * 1000 for each in due[done : done + ready]]
        os.close(file)
    return _sample(waits, f"{syncs:,} calls")


def _sample(waits: list[float], note: str) -> Sample:
    ranks = ", ".join(f"p{rank} {percentile(waits, rank / 100):.2f}" for rank in (50, 90, 99))
    return Sample(percentile(waits, 0.99), note=f"{ranks} ms; {note}")


def measure(context: Context) -> list[Row]:
    """Five repetitions in turns; every side is judged by the p99 of each."""
    os.sync()  # what other rows wrote is not to be waited for in this one
    seconds = SECONDS * max(context.scale, 0.25)
    sides = {
        OURS: lambda: ours(context, seconds),
        "fdatasync": lambda: fdatasync(context, seconds / 2),
        "fdatasync, paced": lambda: paced(context, seconds),
    }
    mine, alone, rate = (Side(name, "ms", tuple(found)) for name, found in interleave(sides, REPEATS).items())
    text = "durable append of 300 B events at 20,000/s, p99 to publication"
    return [
        Row("durable", text, mine, alone, Bar("<", 10)),
        Row("durable-paced", "  beside fdatasync at that rate", mine, rate),
    ]


BENCHMARKS = [Benchmark("durable", "durable appends at 20,000 events/s, beside fdatasync alone", measure)]
