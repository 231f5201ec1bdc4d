"""The claims that wait: first come, first served among those that overlap, dropped when they stop polling."""

from collections import Counter
from collections.abc import Callable, Iterator

from hopline.fleet.leases.overlap import OverlapIndex
from hopline.fleet.leases.records import Claim, Waiter, peer_of

SILENT_SECONDS = 30.0
"""A waiter that did not poll for longer is dropped: three missed polls of a requester as slow as one in 10 s.
(PL-LEASE-SILENT)"""

MAX_WAITERS_A_PEER = 64


class LeaseQueue:
    """The live waiters.

    Args:
        random_bytes: where waiter ids come from, so that nobody polls for somebody else.
    """

    def __init__(self, random_bytes: Callable[[int], bytes]) -> None:
        self._random_bytes = random_bytes
        self._waiters: dict[str, Waiter] = {}
        self._by_lease: dict[str, Waiter] = {}
        self._polled: dict[str, float] = {}  # the longest silent first
        self._index = OverlapIndex()
        self._a_peer: Counter[str] = Counter()
        self._places = 0

    def of_lease(self, lease_id: str) -> Waiter | None:
        """The waiter that holds a place for this lease id."""
        return self._by_lease.get(lease_id)

    def of_peer(self, peer: str) -> int:
        """How many wait for this peer's sessions."""
        return self._a_peer[peer]

    def join(self, claim: Claim, now: float) -> Waiter:
        """Give the claim the last place."""
        self._places += 1
        name = f"wt_{self._random_bytes(16).hex()}"
        waiter = Waiter(name, self._places, claim.lease_id, claim.owner, claim.kind, claim.value)
        self._waiters[name] = self._by_lease[claim.lease_id] = waiter
        self._polled[name] = now
        self._index.add(name, claim.kind, claim.value)
        self._a_peer[peer_of(claim.owner)] += 1
        return waiter

    def polled(self, waiter: Waiter, now: float) -> None:
        """It is still there; it keeps its place."""
        del self._polled[waiter.id]
        self._polled[waiter.id] = now

    def leave(self, waiter: Waiter) -> None:
        """Its place is free."""
        del self._waiters[waiter.id], self._by_lease[waiter.lease_id], self._polled[waiter.id]
        self._index.discard(waiter.id, waiter.kind, waiter.value)
        peer = peer_of(waiter.owner)
        self._a_peer[peer] -= 1
        if not self._a_peer[peer]:
            del self._a_peer[peer]

    def drop_silent(self, now: float) -> None:
        """Drop those that did not poll for longer than SILENT_SECONDS."""
        while self._polled:
            name, polled = next(iter(self._polled.items()))
            if now - polled <= SILENT_SECONDS:
                return
            self.leave(self._waiters[name])

    def overlapping(self, kind: str, value: str) -> Iterator[Waiter]:
        """Who waits for something that overlaps this."""
        return (self._waiters[name] for name in self._index.overlapping(kind, value))
