"""The relay alone: a worker's bytes through it to a reader that decodes every frame strictly and compares the bytes."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.context import GB, Context
from benchmarks.harness import OURS, Bar, Benchmark, NotMeasured, Row, Sample, Side, interleave

ORACLE = "mcp-console"
CEILING = "cat"


@dataclass(frozen=True, slots=True)
class Load:
    """What the worker writes."""

    name: str
    text: str
    block: str
    total: int
    each: int
    bar: float


ANSI = Load("relay-ansi", "relay, ANSI text, 64 KiB writes", "ansi", 1_000_000_000, 65536, 1.5)
INVALID = Load("relay-invalid", "relay, all 0xFF, 64 KiB writes", "invalid", 500_000_000, 65536, 1.2)
SMALL = Load("relay-small", "relay, ANSI text, 64-byte writes", "ansi", 128_000_000, 64, 1.0)


def relay_argv(context: Context, name: str) -> list[str]:
    """argv prefix of a relay: ours or the oracle's. Raises NotMeasured when it is not installed."""
    program = context.program(name)
    if not os.access(program, os.X_OK):
        raise NotMeasured(f"{name} is not installed beside this Python")
    return [program, "worker-relay"]


def through(context: Context, middle: Sequence[str], load: Load, *, relay: bool) -> Sample:
    """MB/s of payload from the first byte that the reader gets to the end, and the middle process's own CPU cost.

    Raises RuntimeError when the reader finds anything wrong.
    """
    total = context.size(load.total)
    worker = context.programs.flood(load.block, total, load.each)
    reader = context.programs.frames(load.block) if relay else context.programs.raw(load.block)
    with context.stage() as stage:
        output, into_reader = stage.pipe()
        report, into_report = stage.pipe()
        input_end, controller = stage.pipe()
        reading = stage.start(reader, stdin=output, stdout=into_report, stderr=into_report)
        stage.close(output, into_report)
        if relay:
            middle_pid = stage.start([*middle, *worker], stdin=input_end, stdout=into_reader)
        else:
            from_worker, into_middle = stage.pipe()
            middle_pid = stage.start(middle, stdin=from_worker, stdout=into_reader)
            stage.close(from_worker)
            stage.start(worker, stdout=into_middle)
            stage.close(into_middle)
        stage.close(into_reader, input_end)
        said = b"".join(iter(lambda: os.read(report, 65536), b""))
        middle_end = stage.finish(middle_pid, 10)
        reader_end = stage.finish(reading, 10)
        stage.close(controller)
    if reader_end.status != 0 or middle_end.status != 0:
        raise RuntimeError(f"{middle[0]} ended with {middle_end.status}; the reader said: {said.decode().strip()}")
    counted = json.loads(said)
    if counted["payload"] != total:
        raise RuntimeError(f"{counted['payload']} of {total} bytes came through {middle[0]}")
    note = f"{counted['frames']:,} frames; reader in {context.programs.kind}" if relay else ""
    return Sample(total / counted["seconds"] / 1e6, middle_end.own_cpu_seconds / total * GB, note)


def measure(context: Context, load: Load, repeats: int = 5) -> list[Row]:
    """Ours beside the oracle, with `cat` as the ceiling."""
    ours, oracle = relay_argv(context, OURS), relay_argv(context, ORACLE)
    samples = interleave(
        {
            OURS: lambda: through(context, ours, load, relay=True),
            ORACLE: lambda: through(context, oracle, load, relay=True),
            CEILING: lambda: through(context, ["cat"], load, relay=False),
        },
        repeats,
    )
    mine, theirs, most = (Side(name, "MB/s", tuple(samples[name])) for name in (OURS, ORACLE, CEILING))
    return [
        Row(load.name, load.text, mine, theirs, Bar(">=", load.bar)),
        Row(f"{load.name}-ceiling", "  share of the ceiling", mine, most),
    ]


def _benchmark(load: Load) -> Benchmark:
    return Benchmark(load.name, f"{load.text}, beside {ORACLE} and {CEILING}", lambda context: measure(context, load))


BENCHMARKS = [_benchmark(load) for load in (ANSI, INVALID, SMALL)]
