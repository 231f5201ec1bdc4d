"""A worker's write to an attached client: 1,000 stamped lines a second, beside two pipes with cat between."""

import os
import re
import select
import socket
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import product
from benchmarks.context import Context
from benchmarks.harness import OURS, Bar, Benchmark, Row, Sample, Side, interleave, percentile
from benchmarks.processes import PIPE_BYTES

LINES = 4000
MICROSECONDS = 1000
WARM_LINES = 200
"""Lines at the start that are not counted: the client is still catching up with its subscription."""
STAMP = re.compile(rb"t=(\d{20});")
_TAIL = 22


class Arrivals:
    """Milliseconds from each stamp to the moment at which its bytes were read."""

    def __init__(self) -> None:
        self.millis: list[float] = []
        self._tail = b""

    def take(self, data: bytes) -> None:
        moment = time.monotonic_ns()
        data = self._tail + data
        end = 0
        for found in STAMP.finditer(data):
            self.millis.append((moment - int(found[1])) / 1e6)
            end = found.end()
        self._tail = data[max(end, len(data) - _TAIL) :]

    def sample(self, wanted: int) -> Sample:
        """The median, once all lines are there. Raises RuntimeError when some are not."""
        if len(self.millis) != wanted:
            raise RuntimeError(f"{len(self.millis)} of {wanted} lines arrived")
        counted = self.millis[min(WARM_LINES, wanted // 10) :]
        ranks = ", ".join(f"p{rank} {percentile(counted, rank / 100):.2f}" for rank in (50, 90, 99))
        return Sample(percentile(counted, 0.5), note=f"{ranks} ms of {len(counted)}")


def read_all(arrivals: Arrivals, wanted: int, read: Callable[[], bytes]) -> None:
    """Read until all lines arrived or the stream ended."""
    while len(arrivals.millis) < wanted and (data := read()):
        arrivals.take(data)


def ours(context: Context, lines: int) -> Sample:
    """Through the relay, the run server, its journal and its socket to one subscriber."""
    arrivals = Arrivals()
    with context.room("latency") as room, context.stage() as stage:
        gate = room / "gate"
        os.mkfifo(gate)
        load = context.programs.ticks(lines, MICROSECONDS)
        record = product.detach(context, stage, load, env={"LOAD_GATE": str(gate)})
        with product.subscribe(record) as client:
            open_gate(gate)
            read_all(arrivals, lines, lambda: client.recv(PIPE_BYTES))
            client.shutdown(socket.SHUT_RDWR)
        stage.finish(record.pid, 30)
    return arrivals.sample(lines)


def cat(context: Context, lines: int) -> Sample:
    """Through two pipes with `cat` between them."""
    arrivals = Arrivals()
    with context.stage() as stage:
        from_worker, into_cat = stage.pipe()
        output, into_output = stage.pipe()
        stage.start(["cat"], stdin=from_worker, stdout=into_output)
        stage.start(context.programs.ticks(lines, MICROSECONDS), stdout=into_cat)
        stage.close(from_worker, into_cat, into_output)

        def read() -> bytes:
            return os.read(output, PIPE_BYTES) if select.select([output], [], [], 30)[0] else b""

        read_all(arrivals, lines, read)
    return arrivals.sample(lines)


def open_gate(gate: Path) -> None:
    """Let the load start."""
    gate.write_bytes(b"x")


def measure(context: Context) -> list[Row]:
    """Three repetitions in turns."""
    product.program(context)
    lines = context.size(LINES)
    samples = interleave({OURS: lambda: ours(context, lines), "cat": lambda: cat(context, lines)}, 3)
    mine, theirs = (Side(name, "ms", tuple(samples[name])) for name in (OURS, "cat"))
    return [Row("latency", "worker write to attached client, 1,000 lines/s, p50", mine, theirs, Bar("<", 3, "ms"))]


BENCHMARKS = [Benchmark("latency", "a worker's write to an attached client, 1,000 lines/s, beside cat", measure)]
