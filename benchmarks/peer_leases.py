"""Leases between two hubs beside etcd and redis, and what a claim costs when there are many already."""

import os
import time
from contextlib import ExitStack

from benchmarks import hubs, lock_servers, product
from benchmarks.context import Context
from benchmarks.harness import OURS, Bar, Benchmark, NotMeasured, Row, Sample, Side
from benchmarks.hubs import HubPlace, at_home
from benchmarks.lock_servers import LockAndUnlock, p50_ms
from benchmarks.peer_link import load
from hopline.client.hub import HubClient
from hopline.wire.hub.leases import ClaimLease, LeaseClaimed, LeaseReleased, ReleaseLease

ROUNDS = 1000
REPEATS = 5
FEW, MANY = 10, 1000
SPEAKERS = 16
"""Peers that hold and wait: one may hold 512 leases and wait for 64."""
ETCD, REDIS, SYNCED = "etcd-server", "redis-server", "redis-server, appendfsync always"


def claim(client: HubClient, value: str, session: str = "bench") -> str:
    """Claim a path. Returns the lease's id."""
    asked = ClaimLease(session=session, kind="path_glob", value=value, ttl_secs=600)
    answer = client.call("lease.claim", asked, LeaseClaimed)
    if answer.lease is None:
        raise RuntimeError(f"the claim of {value} was answered {answer.outcome}")
    return answer.lease.id


def release(client: HubClient, lease_id: str) -> None:
    """Give it back."""
    client.call("lease.release", ReleaseLease(session="bench", lease_id=lease_id), LeaseReleased)


def asking(running: ExitStack, place: HubPlace) -> HubClient:
    """A connection to the hub of `place`."""
    with at_home(place):
        return running.enter_context(HubClient.open(start=False))


def measure_pair(context: Context) -> list[Row]:
    """Five repetitions of every server in turns, the median of their medians; each waits for its disk as it does."""
    product.program(context)
    missing: list[str] = []
    samples: dict[str, list[Sample]] = {}
    with ExitStack() as running:
        near, far = running.enter_context(hubs.pair(context, lease_authority="far-00000002"))
        client = asking(running, near)
        sides: dict[str, LockAndUnlock] = {OURS: lambda: release(client, claim(client, "src/auth/**"))}
        for name, server in {
            ETCD: lock_servers.etcd(context),
            REDIS: lock_servers.redis(context, durable=False),
            SYNCED: lock_servers.redis(context, durable=True),
        }.items():
            try:
                sides[name] = running.enter_context(server)
            except NotMeasured as reason:
                missing.append(str(reason))
        for _ in range(REPEATS):
            for name, work in sides.items():
                samples.setdefault(name, []).append(Sample(p50_ms(work, context.size(ROUNDS) // 5)))
        del far
    found = {name: Side(name, "ms", tuple(each)) for name, each in samples.items()}
    ours = found[OURS]
    text = "claim + release at another hub, durable"
    return [
        Row("lease-etcd", text, ours, found.get(ETCD), Bar("<=", 0.5), "; ".join(missing)),
        Row("lease-redis", "  beside redis, which syncs nothing", ours, found.get(REDIS)),
        Row("lease-redis-synced", "  beside redis, which syncs every write", ours, found.get(SYNCED)),
    ]


def crowded(running: ExitStack, context: Context, leases: int, waiters: int) -> HubClient:
    """The socket of a hub that keeps so many leases and waiters, of SPEAKERS peers."""
    (place,) = running.enter_context(hubs.places(context, "crowd-00000001", lease_authority="crowd-00000001"))
    key = os.urandom(32)
    for number in range(SPEAKERS):
        place.know(f"holder{number}-00000002", key)
    served = place.serve()
    load(place.stage, context, "leases", served["listen"], place.name, key.hex(), str(leases), str(waiters))
    return asking(running, place)


def claims_ms(client: HubClient, count: int) -> float:
    """The median of claims of free paths in milliseconds; their releases are not counted."""
    took = []
    for number in range(count):
        started = time.perf_counter()
        lease_id = claim(client, f"free/{number:05d}/**")
        took.append(time.perf_counter() - started)
        release(client, lease_id)
    return sorted(took)[count // 2] * 1000


def measure_many(context: Context) -> list[Row]:
    """Two hubs in turns. Waiters poll at least every 30 s or are dropped, so all of it is over before."""
    product.program(context)
    samples: dict[str, list[Sample]] = {"few": [], "many": []}
    with ExitStack() as running:
        clients = {"few": crowded(running, context, FEW, 0), "many": crowded(running, context, MANY, MANY)}
        started = time.monotonic()
        for _ in range(REPEATS):
            for name, client in clients.items():
                samples[name].append(Sample(claims_ms(client, max(20, context.size(200)))))
        if (seconds := time.monotonic() - started) > 25:
            raise RuntimeError(f"it took {seconds:.0f} s, and the waiters were dropped meanwhile")
    few, many = Side(f"{FEW} leases", "ms", tuple(samples["few"])), Side(OURS, "ms", tuple(samples["many"]))
    text = f"claim with {MANY:,} leases and {MANY:,} waiters"
    return [Row("lease-many", text, many, few, Bar("<=", 2))]


BENCHMARKS = [
    Benchmark("lease-pair", "claim and release at another hub, beside etcd and redis", measure_pair),
    Benchmark("lease-many", "a claim among a thousand leases and waiters", measure_many),
]
