"""Every benchmark, in the order in which they run and are shown."""

from benchmarks import relay
from benchmarks.harness import Benchmark

BENCHMARKS: list[Benchmark] = [
    *relay.BENCHMARKS,
]
