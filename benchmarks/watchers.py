"""Many watchers, watchers beside stalled ones, what one costs in memory, and one that comes back after a cut."""

import json
import socket
import time
from contextlib import closing

import msgspec

from benchmarks.context import Context
from benchmarks.fanout import COMPOSED
from benchmarks.fanout_servers import Load, Measured, Serving, client, hopline, loaded
from benchmarks.harness import OURS, Bar, Benchmark, Row, Sample, Side, interleave
from benchmarks.product import RECEIVE_BYTES

MANY = 1000
MANY_WEB = 400
"""Fewer over WebSocket, whose handshakes take longer; memory is counted a subscriber."""
HEALTHY, STALLED = 20, 5
PER_SECOND = 100
STALLED_PER_SECOND = 1000
STALLED_REPEATS = 7
BEHIND = 10_000
CUTS = 9


class _Head(msgspec.Struct):
    type: str
    through_sequence: int = 0
    events: list[msgspec.Raw] = msgspec.field(default_factory=list)


def run(context: Context, wire: str, load: Load) -> Measured:
    """One load on a fresh server."""
    with hopline(context, wire, pinned=False) as serving:
        return loaded(context, serving, load)


def delivered(found: Measured, load: Load) -> Sample:
    """p99 from the publisher's write to the subscriber's read. Raises RuntimeError when far too little arrived."""
    if found.timed < 0.8 * load.subscribers * load.rate * load.seconds:
        raise RuntimeError(f"{found.timed} deliveries in {found.seconds:.1f} s to {load.subscribers} subscribers")
    note = f"p50 {found.p50_ms:.1f}, p99 {found.p99_ms:.1f} ms of {found.timed:,}; {found.cpu_micros:.1f} us CPU each"
    return Sample(found.p99_ms, note=note)


def memory(wire: str, found: Measured, subscribers: int) -> Side:
    """Growth of the server's resident memory from nobody to the end of the load, a subscriber."""
    note = f"{subscribers} of them; the window of recent events (up to 8 MiB a run) is in it"
    return Side(OURS, "KB", (Sample((found.kb_after - found.kb_before) * 1.024 / subscribers, note=f"{wire}, {note}"),))


def measure_many(context: Context) -> list[Row]:
    """Both wires, one server each; the first fills the row of the delivery."""
    client(context)
    seconds = max(1.0, 5 * context.scale)
    loads = {
        wire: Load(subscribers, PER_SECOND, warm_seconds=1, seconds=seconds)
        for wire, subscribers in (("unix", MANY), ("web", MANY_WEB))
    }
    unix, web = (run(context, wire, load) for wire, load in loads.items())
    side = Side(OURS, "ms", (delivered(unix, loads["unix"]),))
    return [
        Row("watchers", "1,000 subscribers, 100 events/s, p99", side, None, Bar("<", 50, "ms"), COMPOSED),
        Row("watchers-unix", "  memory a subscriber, Unix", memory("unix", unix, MANY), None, Bar("<", 40, "KB")),
        Row("watchers-web", "  WebSocket", memory("web", web, MANY_WEB), None, Bar("<", 100, "KB")),
    ]


def measure_stalled(context: Context) -> list[Row]:
    """With and without the stalled in turns, a fresh server each."""
    client(context)

    def healthy(stalled: int) -> Sample:
        seconds = max(1.0, 2 * context.scale)
        load = Load(HEALTHY, STALLED_PER_SECOND, stalled, warm_seconds=1.5, seconds=seconds)
        return delivered(run(context, "unix", load), load)

    beside, alone = f"{OURS}, beside {STALLED} stalled", "without them"
    samples = interleave({beside: lambda: healthy(STALLED), alone: lambda: healthy(0)}, STALLED_REPEATS)
    mine, reference = (Side(name, "ms", tuple(samples[name])) for name in (beside, alone))
    note = f"{STALLED_PER_SECOND:,} events/s; 1.5 s pass first, in which the stalled fill up"
    return [Row("stalled", "20 healthy readers beside 5 stalled, p99", mine, reference, Bar("<=", 1.1), note)]


def come_back(serving: Serving, last: int) -> float:
    """Milliseconds from connecting anew to having the last event, each batch decoded."""
    request = {"type": "subscribe", "after_sequence": last - BEHIND, "store_id": serving.store_id}
    buffer = bytearray()
    events = 0
    started = time.monotonic()
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as end:
        end.settimeout(10)
        end.connect(serving.subscribe)
        end.sendall(json.dumps(request).encode() + b"\n")
        while data := end.recv(RECEIVE_BYTES):
            buffer += data
            *lines, rest = bytes(buffer).split(b"\n") if b"\n" in data else [bytes(buffer)]
            if lines:
                buffer = bytearray(rest)
            for line in lines:
                head = msgspec.json.decode(line, type=_Head)
                events += len(head.events)
                if head.through_sequence == last:
                    if events != BEHIND:
                        raise RuntimeError(f"{events} of {BEHIND} events came")
                    return (time.monotonic() - started) * 1000
    raise RuntimeError("the server left")


def measure_return(context: Context) -> list[Row]:
    """Cut and back again, on one server that has twice as many events."""
    last = 2 * BEHIND
    with hopline(context, "unix", last, pinned=False) as serving:
        side = Side(OURS, "ms", tuple(Sample(come_back(serving, last)) for _ in range(CUTS)))
    note = f"{BEHIND:,} events of 500 bytes behind, from connect to the last event decoded; no back-off in it"
    return [Row("return", "reconnect to live, 10,000 events behind", side, None, Bar("<", 100, "ms"), note)]


BENCHMARKS = [
    Benchmark("watchers", "1,000 subscribers at 100 events/s, and what one costs in memory", measure_many),
    Benchmark("stalled", "20 healthy readers beside 5 that never read", measure_stalled),
    Benchmark("return", "back to live after a cut, 10,000 events behind", measure_return),
]
