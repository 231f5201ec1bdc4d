"""The lease table: who may write where, decided by one clock (docs/wire/peer.md, "Fleet leases").

Each call is one step: it ends what has run out, decides, and notes in `take_changes` what must be on the disk before
the decision is told to anybody.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from hopline.fleet.leases.memory import EndedIds, Past
from hopline.fleet.leases.queue import MAX_WAITERS_A_PEER, LeaseQueue
from hopline.fleet.leases.records import (
    ADVISORY,
    EXCLUSIVE,
    Change,
    Claim,
    Decision,
    Ended,
    Forgotten,
    Granted,
    Lease,
    Outcome,
    Renewed,
    Saved,
    Spent,
    Status,
    Waiter,
    peer_of,
)
from hopline.fleet.leases.shelf import LeaseShelf

MAX_LEASES_A_PEER = 512
"""PL-LEASE-BOUNDS; the waiters' bound is the queue's."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When a step happens, by the authority's clocks."""

    wall_millis: int
    """Milliseconds since the epoch; leases count its whole seconds (PL-LEASE-CLOCK)."""
    now: float
    """Monotonic seconds; the age of waiters counts by it."""

    @property
    def seconds(self) -> int:
        """The wall clock cut to whole seconds."""
        return self.wall_millis // 1000


class LeaseTable:
    """Every lease of the fleet, as its authority knows them.

    Args:
        saved: what the disk holds.
        random_bytes: where waiter ids come from.
    """

    def __init__(self, saved: Saved, random_bytes: Callable[[int], bytes]) -> None:
        self.last_fence = saved.last_fence
        """The highest fence ever given."""
        self._shelf = LeaseShelf(one for one in saved.leases if one.status is Status.ACTIVE)
        ended = [_past(one) for one in saved.leases if one.status is not Status.ACTIVE]
        self._ended = EndedIds(
            ended + [Past(one.lease_id, one.owner, one.ended_at, known=one.waited) for one in saved.spent]
        )
        self._queue = LeaseQueue(random_bytes)
        self._changes: list[Change] = []

    def take_changes(self) -> list[Change]:
        """What changed since the last call, in order."""
        changes, self._changes = self._changes, []
        return changes

    def claim(self, claim: Claim, at: Moment) -> Decision:
        """Grant, queue or refuse."""
        self._sweep(at)
        lease, waiter = self._shelf.get(claim.lease_id), self._queue.of_lease(claim.lease_id)
        past = self._ended.get(claim.lease_id, claim.owner)
        for known in (lease, waiter, past):
            if known is not None and known.owner != claim.owner:
                return _error("this lease_id belongs to another owner")
        if past is not None:
            return Decision(Outcome.NOT_ACTIVE)  # PL-LEASE-ENDED
        if (lease is not None and not _same(claim, lease, lease.mode)) or (
            waiter is not None and not _same(claim, waiter, EXCLUSIVE)
        ):
            return _error("this lease_id was used for another kind, value or mode")
        if lease is not None:
            return Decision(Outcome.GRANTED, lease)  # PL-LEASE-ONCE
        if claim.mode == ADVISORY:
            return self._grant(claim, at)
        if claim.waiter_id is not None and (waiter is None or waiter.id != claim.waiter_id):
            return Decision(Outcome.WAITER_GONE)
        waits = claim.wait or claim.waiter_id is not None
        if waiter is not None and waits:
            self._queue.polled(waiter, at.now)
        return self._try(claim, waiter, waits, at)

    def release(self, owner: str, lease_id: str, at: Moment) -> Decision:
        """End a lease or leave the queue. An unknown id can be claimed no more."""
        self._sweep(at)
        lease, waiter = self._shelf.get(lease_id), self._queue.of_lease(lease_id)
        past = self._ended.get(lease_id, owner)
        known = lease or waiter or past
        if known is None:
            self._spend(lease_id, owner, at, waited=False)
            return Decision(Outcome.NOT_FOUND)
        if known.owner != owner:
            return Decision(Outcome.NOT_OWNER)
        if past is not None:
            return Decision(Outcome.NOT_ACTIVE)
        if lease is not None:
            self._end(lease, Status.RELEASED, at)
        if waiter is not None:
            self._queue.leave(waiter)
            self._spend(lease_id, owner, at, waited=True)
        return Decision(Outcome.RELEASED)

    def list(self, at: Moment) -> Decision:
        """The active leases, the oldest first."""
        self._sweep(at)
        return Decision(Outcome.LIST, leases=tuple(sorted(self._shelf, key=lambda one: (one.acquired_at, one.id))))

    def renew(self, owners: Iterable[str], at: Moment) -> None:
        """Let the active leases of these owners last their `ttl_secs` from now on."""
        self._sweep(at)
        for owner in owners:
            for lease in self._shelf.of_owner(owner):
                expires_at = at.seconds + lease.ttl_secs
                if expires_at != lease.expires_at:
                    self._shelf.renew(replace(lease, expires_at=expires_at))
                    self._changes.append(Renewed(lease.fence, expires_at))

    def _blocking(self, owner: str, kind: str, value: str) -> Lease | None:
        others = [one for one in self._shelf.exclusive(kind, value) if one.owner != owner]
        return min(others, key=lambda one: (-one.expires_at, one.id), default=None)

    def _try(self, claim: Claim, waiter: Waiter | None, waits: bool, at: Moment) -> Decision:
        """Decide an exclusive claim whose id is free, or waits."""
        holder = self._blocking(claim.owner, claim.kind, claim.value)
        ahead = None if holder is not None else self._ahead(claim, waiter if waits else None)
        if holder is None and not ahead:
            return self._grant(claim, at)
        if not waits:
            return Decision(Outcome.CONFLICT, holder, ahead)
        if waiter is None:
            if self._queue.of_peer(peer_of(claim.owner)) >= MAX_WAITERS_A_PEER:
                return _error(f"this peer waits for {MAX_WAITERS_A_PEER} leases already; leave one queue first")
            waiter = self._queue.join(claim, at.now)
        return Decision(Outcome.QUEUED, holder, ahead, waiter.id)

    def _ahead(self, claim: Claim, place: Waiter | None) -> int:
        """How many others wait in front, not counting those that wait for this claimant themselves (PL-LEASE-QUEUE)."""
        holds = any(one.mode == EXCLUSIVE for one in self._shelf.of_owner(claim.owner))
        count = 0
        for other in self._queue.overlapping(claim.kind, claim.value):
            if other.owner == claim.owner or (place is not None and other.place > place.place):
                continue
            if holds and any(one.owner == claim.owner for one in self._shelf.exclusive(other.kind, other.value)):
                continue
            count += 1
        return count

    def _grant(self, claim: Claim, at: Moment) -> Decision:
        if self._shelf.of_peer(peer_of(claim.owner)) >= MAX_LEASES_A_PEER:
            return _error(f"this peer holds {MAX_LEASES_A_PEER} leases already; release one first")
        if (waiter := self._queue.of_lease(claim.lease_id)) is not None:
            self._queue.leave(waiter)
        self.last_fence += 1  # PL-LEASE-FENCE
        lease = Lease(
            fence=self.last_fence,
            id=claim.lease_id,
            owner=claim.owner,
            kind=claim.kind,
            value=claim.value,
            mode=claim.mode,
            reason=claim.reason,
            ttl_secs=claim.ttl_secs,
            acquired_at=at.seconds,
            expires_at=at.seconds + claim.ttl_secs,
        )
        self._shelf.add(lease)
        self._changes.append(Granted(lease))
        return Decision(Outcome.GRANTED, lease)

    def _sweep(self, at: Moment) -> None:
        for lease in self._shelf.run_out(at.seconds):
            self._end(lease, Status.EXPIRED, at)
        self._queue.drop_silent(at.now)
        for past in self._ended.outdated(at.seconds):
            self._forget(past)

    def _end(self, lease: Lease, status: Status, at: Moment) -> None:
        self._shelf.remove(lease)
        self._changes.append(Ended(lease.fence, status, at.seconds))
        self._remember(Past(lease.id, lease.owner, at.seconds, lease.fence))

    def _spend(self, lease_id: str, owner: str, at: Moment, *, waited: bool) -> None:
        self._changes.append(Spent(lease_id, owner, at.seconds, waited))
        self._remember(Past(lease_id, owner, at.seconds, known=waited))

    def _remember(self, past: Past) -> None:
        if (displaced := self._ended.remember(past)) is not None:
            self._forget(displaced)

    def _forget(self, past: Past) -> None:
        self._changes.append(Forgotten(past.lease_id, past.owner, past.fence, self.last_fence))


def _same(claim: Claim, known: Lease | Waiter, mode: str) -> bool:
    return (claim.kind, claim.value, claim.mode) == (known.kind, known.value, mode)


def _past(lease: Lease) -> Past:
    return Past(lease.id, lease.owner, lease.ended_at or lease.expires_at, lease.fence)


def _error(message: str) -> Decision:
    return Decision(Outcome.ERROR, message=message)
