"""Every benchmark, in the order in which they run and are shown."""

from benchmarks import interrupts, path, relay
from benchmarks.harness import Benchmark

BENCHMARKS: list[Benchmark] = [
    *relay.BENCHMARKS,
    *interrupts.BENCHMARKS,
    *path.BENCHMARKS,
]
