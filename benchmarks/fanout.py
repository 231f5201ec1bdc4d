"""Fan-out of 500-byte events to 100 subscribers from one process, over both transports, beside nats-server and redis.

Deliveries a second, and the server's CPU a delivery from the same repetitions.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager

from benchmarks.context import Context
from benchmarks.fanout_servers import PAYLOAD_BYTES, Load, Measured, Serving, client, hopline, loaded, nats, redis
from benchmarks.harness import OURS, Bar, Benchmark, NotMeasured, Row, Sample, Side

SUBSCRIBERS = 100
REPEATS = 5
UNIX, WEB, REDIS, NATS = OURS, "hopline, WebSocket", "redis-server", "nats-server"
COMPOSED = (
    "journal, subscriptions and carriers of a run server in one process without a worker; every event comes from the "
    "client's publisher, one line each"
)

Measurements = dict[str, list[Measured]]
Server = Callable[[Context], AbstractContextManager[Serving]]
SERVERS: dict[str, Server] = {
    UNIX: lambda context: hopline(context, "unix"),
    WEB: lambda context: hopline(context, "web"),
    REDIS: redis,
    NATS: nats,
}


def measurements(context: Context) -> tuple[Measurements, list[str]]:
    """Every server in turns, and why one is missing."""
    found: Measurements = {name: [] for name in SERVERS}
    missing: list[str] = []
    load = Load(SUBSCRIBERS, warm_seconds=0.5, seconds=max(0.5, context.scale * 2))
    for repetition in range(REPEATS):
        for name, server in SERVERS.items():
            try:
                with server(context) as serving:
                    found[name].append(loaded(context, serving, load))
            except NotMeasured as reason:
                if repetition == 0:
                    missing.append(str(reason))
    return found, missing


def rates(name: str, found: list[Measured]) -> Side:
    """Deliveries a second of one server, CPU beside."""
    samples = (Sample(one.rate, one.cpu_micros / 1e6 * 1e9 / PAYLOAD_BYTES) for one in found)
    return Side(name, "deliveries/s", tuple(samples))


def costs(name: str, found: list[Measured]) -> Side:
    """Microseconds a delivery of one server."""
    return Side(name, "us", tuple(Sample(one.cpu_micros) for one in found))


def measure(context: Context) -> list[Row]:
    """Five repetitions of every server in turns; a row's reference is the better one by the row's own figure."""
    client(context)
    found, missing = measurements(context)
    others = [name for name in (REDIS, NATS) if found[name]]
    fastest = max((rates(name, found[name]) for name in others), key=lambda side: side.value, default=None)
    cheapest = min((costs(name, found[name]) for name in others), key=lambda side: side.value, default=None)
    listed = "; ".join(f"{name} {rates(name, found[name]).value:,.0f}/s" for name in others)
    note = "; ".join([COMPOSED, *([listed] if listed else []), *missing])
    unix, web = rates(UNIX, found[UNIX]), rates(WEB, found[WEB])
    return [
        Row("fanout-unix", "500 B events to 100 subscribers, Unix", unix, fastest, Bar(">=", 1.5), note),
        Row(
            "fanout-web", "  the same over WebSocket, against Unix", web, unix, Bar(">=", 0.5), "its gateway is inside"
        ),
        Row(
            "fanout-cpu-unix", "  server CPU a delivery, Unix", costs(UNIX, found[UNIX]), cheapest, Bar("<=", 0.4, "us")
        ),
        Row(
            "fanout-cpu-web",
            "  server CPU a delivery, WebSocket",
            costs(WEB, found[WEB]),
            cheapest,
            Bar("<=", 0.6, "us"),
        ),
    ]


BENCHMARKS = [Benchmark("fanout", "events to 100 subscribers on Unix and WebSocket, beside redis and nats", measure)]
