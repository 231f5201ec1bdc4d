"""How decisions of the lease table are spelled on the wire (docs/wire/peer.md, "Fleet leases")."""

import msgspec

from hopline.fleet.leases import records
from hopline.fleet.leases.records import Decision, Outcome, stamp
from hopline.fleet.leases.table import Moment
from hopline.wire.peer.leases import Lease, LeaseResult
from hopline.wire.peer.limits import MAX_LEASE_LIST_BYTES

POLL_SECONDS = 2
"""How soon a queued claim is to poll."""

OWNER_AGENT = "claude-code"
"""`owner_agent` of every lease: what peers expect to read there."""


def spelled(request_id: str, decision: Decision, at: Moment) -> LeaseResult:
    """The answer to `request_id`, as of the moment it was decided."""
    outcome = decision.outcome
    if outcome is Outcome.GRANTED and decision.lease is not None:
        return LeaseResult(request_id=request_id, outcome=outcome.value, lease=shown(decision.lease, at))
    if outcome in (Outcome.CONFLICT, Outcome.QUEUED):
        holder = decision.lease
        return LeaseResult(
            request_id=request_id,
            outcome=outcome.value,
            holder=holder.owner if holder is not None else None,
            holder_lease=holder.id if holder is not None else None,
            expires_at=stamp(holder.expires_at) if holder is not None else None,
            ttl_left_millis=_left(holder, at) if holder is not None else None,
            ahead=decision.ahead,
            waiter_id=decision.waiter_id,
            poll_secs=POLL_SECONDS if outcome is Outcome.QUEUED else None,
        )
    if outcome is Outcome.LIST:
        kept, truncated = _fitting([shown(one, at) for one in decision.leases])
        return LeaseResult(request_id=request_id, outcome=outcome.value, leases=kept, truncated=truncated or None)
    return LeaseResult(request_id=request_id, outcome=outcome.value, message=decision.message)


def error(request_id: str, message: str) -> LeaseResult:
    """A request that was not decided."""
    return LeaseResult(request_id=request_id, outcome=Outcome.ERROR.value, message=message)


def shown(lease: records.Lease, at: Moment) -> Lease:
    """The lease as everybody sees it."""
    return Lease(
        id=lease.id,
        owner_session_id=lease.owner,
        owner_agent=OWNER_AGENT,
        resource_kind=lease.kind,
        resource_value=lease.value,
        mode=lease.mode,
        reason=lease.reason,
        acquired_at=stamp(lease.acquired_at),
        expires_at=stamp(lease.expires_at),
        status=lease.status.value,
        ttl_secs=lease.ttl_secs,
        fence=lease.fence,
        ttl_left_millis=_left(lease, at),
    )


def _left(lease: records.Lease, at: Moment) -> int:
    return max(0, lease.expires_at * 1000 - at.wall_millis)


def _fitting(leases: list[Lease]) -> tuple[list[Lease], bool]:
    """As many as stay below the bound of a list, and whether that left some out."""
    size = 0
    for at, lease in enumerate(leases):
        size += len(msgspec.json.encode(lease)) + 1
        if size > MAX_LEASE_LIST_BYTES:
            return leases[:at], True
    return leases, False
