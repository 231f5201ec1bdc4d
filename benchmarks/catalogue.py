"""Every benchmark, in the order in which they run and are shown."""

from benchmarks import (
    attach,
    durable,
    fanout,
    interrupts,
    latency,
    memory,
    page,
    path,
    peer_leases,
    peer_link,
    peer_transfer,
    relay,
    replay,
    startup,
    watchers,
)
from benchmarks.harness import Benchmark

BENCHMARKS: list[Benchmark] = [
    *relay.BENCHMARKS,
    *interrupts.BENCHMARKS,
    *path.BENCHMARKS,
    *latency.BENCHMARKS,
    *replay.BENCHMARKS,
    *durable.BENCHMARKS,
    *attach.BENCHMARKS,
    *startup.BENCHMARKS,
    *memory.BENCHMARKS,
    *fanout.BENCHMARKS,
    *watchers.BENCHMARKS,
    *page.BENCHMARKS,
    *peer_link.BENCHMARKS,
    *peer_leases.BENCHMARKS,
    *peer_transfer.BENCHMARKS,
]
