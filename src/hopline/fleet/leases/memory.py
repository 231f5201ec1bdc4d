"""Which lease ids have ended, so that none of them ever becomes a lease again."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hopline.fleet.leases.records import peer_of

REMEMBERED_SECONDS = 7 * 86_400
MAX_REMEMBERED_A_PEER = 4096
"""The oldest go first."""


@dataclass(frozen=True, slots=True)
class Past:
    """A lease id that has ended."""

    lease_id: str
    owner: str
    ended_at: int
    fence: int | None = None
    """None when it never was a lease."""
    known: bool = True
    """It was a lease or in the queue, so it has ended for everybody; else only for this owner."""

    @property
    def key(self) -> tuple[str, str]:
        """What it is looked up by."""
        return self.lease_id, "" if self.known else self.owner


class EndedIds:
    """The ended lease ids, oldest first.

    Args:
        known: those the disk holds, in any order.
    """

    def __init__(self, known: Iterable[Past]) -> None:
        self._past: dict[tuple[str, str], Past] = {}
        self._a_peer: dict[str, dict[tuple[str, str], None]] = {}
        for past in sorted(known, key=lambda one: one.ended_at):
            self._add(past)

    def get(self, lease_id: str, owner: str) -> Past | None:
        """What is remembered of it, as far as it concerns this owner."""
        return self._past.get((lease_id, "")) or self._past.get((lease_id, owner))

    def remember(self, past: Past) -> Past | None:
        """Hold it. Returns the one that its peer has to give up for it."""
        self._add(past)
        of_peer = self._a_peer[peer_of(past.owner)]
        return self._remove(next(iter(of_peer))) if len(of_peer) > MAX_REMEMBERED_A_PEER else None

    def outdated(self, now: int) -> Iterator[Past]:
        """Give up those that ended longer than REMEMBERED_SECONDS ago."""
        while self._past:
            oldest = next(iter(self._past.values()))
            if now - oldest.ended_at <= REMEMBERED_SECONDS:
                return
            yield self._remove(oldest.key)

    def _add(self, past: Past) -> None:
        self._past[past.key] = past
        self._a_peer.setdefault(peer_of(past.owner), {})[past.key] = None

    def _remove(self, key: tuple[str, str]) -> Past:
        past = self._past.pop(key)
        of_peer = self._a_peer[peer_of(past.owner)]
        del of_peer[key]
        if not of_peer:
            del self._a_peer[peer_of(past.owner)]
        return past
