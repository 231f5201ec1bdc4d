"""The active leases, found by id, owner, resource and the moment they run out."""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator

from hopline.fleet.leases.overlap import OverlapIndex
from hopline.fleet.leases.records import EXCLUSIVE, Lease, peer_of

_SPARE_ENTRIES = 64


class LeaseShelf:
    """The active leases. No answer costs by how many there are, only by how many are found."""

    def __init__(self, leases: Iterable[Lease]) -> None:
        self._leases: dict[str, Lease] = {}
        self._owned: dict[str, dict[str, None]] = {}
        self._a_peer: Counter[str] = Counter()
        self._exclusive = OverlapIndex()
        self._due: list[tuple[int, str]] = []
        for lease in leases:
            self.add(lease)

    def __len__(self) -> int:
        return len(self._leases)

    def __iter__(self) -> Iterator[Lease]:
        return iter(self._leases.values())

    def get(self, lease_id: str) -> Lease | None:
        """The active lease of this id."""
        return self._leases.get(lease_id)

    def of_owner(self, owner: str) -> list[Lease]:
        """What this owner holds."""
        return [self._leases[lease_id] for lease_id in self._owned.get(owner, ())]

    def of_peer(self, peer: str) -> int:
        """How many leases this peer's sessions hold."""
        return self._a_peer[peer]

    def exclusive(self, kind: str, value: str) -> Iterator[Lease]:
        """The exclusive leases that overlap this."""
        return (self._leases[lease_id] for lease_id in self._exclusive.overlapping(kind, value))

    def add(self, lease: Lease) -> None:
        """Hold a new lease."""
        self._leases[lease.id] = lease
        self._owned.setdefault(lease.owner, {})[lease.id] = None
        self._a_peer[peer_of(lease.owner)] += 1
        if lease.mode == EXCLUSIVE:
            self._exclusive.add(lease.id, lease.kind, lease.value)
        self._note_due(lease)

    def renew(self, lease: Lease) -> None:
        """Hold this in place of the same lease with another end."""
        before = self._leases[lease.id]
        self._leases[lease.id] = lease
        if lease.expires_at < before.expires_at:  # the clock was set back
            self._note_due(lease)

    def remove(self, lease: Lease) -> None:
        """It has ended."""
        del self._leases[lease.id]
        owned = self._owned[lease.owner]
        del owned[lease.id]
        if not owned:
            del self._owned[lease.owner]
        peer = peer_of(lease.owner)
        self._a_peer[peer] -= 1
        if not self._a_peer[peer]:
            del self._a_peer[peer]
        if lease.mode == EXCLUSIVE:
            self._exclusive.discard(lease.id, lease.kind, lease.value)

    def run_out(self, now: int) -> list[Lease]:
        """The leases whose end is before `now`, still held here: the caller ends them."""
        found: dict[str, Lease] = {}
        while self._due and self._due[0][0] < now:
            _, lease_id = heapq.heappop(self._due)
            lease = self._leases.get(lease_id)
            if lease is None:
                continue
            if lease.expires_at < now:
                found[lease_id] = lease
            else:
                self._note_due(lease)
        return list(found.values())

    def _note_due(self, lease: Lease) -> None:
        heapq.heappush(self._due, (lease.expires_at, lease.id))
        if len(self._due) > 2 * len(self._leases) + _SPARE_ENTRIES:  # mostly leases that are gone
            self._due = [(one.expires_at, one.id) for one in self._leases.values()]
            heapq.heapify(self._due)
