"""What the lease table holds, what it is asked, and what changed that must be on the disk before the answer leaves."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

EXCLUSIVE = "exclusive"
ADVISORY = "advisory"


class Outcome(StrEnum):
    """`outcome` of a `lease_result`."""

    GRANTED = "granted"
    CONFLICT = "conflict"
    QUEUED = "queued"
    WAITER_GONE = "waiter_gone"
    RELEASED = "released"
    NOT_OWNER = "not_owner"
    NOT_FOUND = "not_found"
    NOT_ACTIVE = "not_active"
    LIST = "list"
    ERROR = "error"


class Status(StrEnum):
    """How a lease stands. An ended one never becomes active again."""

    ACTIVE = "active"
    RELEASED = "released"
    EXPIRED = "expired"


def owner_of(session: str, peer: str) -> str:
    """The owner that leases are kept under; `peer` is the authenticated id (PL-LEASE-OWNER)."""
    return f"{session}@{peer}"


def peer_of(owner: str) -> str:
    """The peer of an owner."""
    return owner.rpartition("@")[2]


def stamp(seconds: int) -> str:
    """A time as leases carry it: UTC in whole seconds, such as 2026-01-01T00:00:00Z."""
    return f"{datetime.fromtimestamp(seconds, UTC).isoformat()[:19]}Z"


def seconds_of(text: str) -> int:
    """Seconds since the epoch of a time as leases carry it. Raises ValueError."""
    if len(text) != len("2026-01-01T00:00:00Z") or text[10] != "T" or text[19] != "Z":
        raise ValueError(f"{text[:40]!r} is no time of a lease")
    return round(datetime.fromisoformat(text).timestamp())


@dataclass(frozen=True, slots=True)
class Claim:
    """A checked `lease_claim`."""

    lease_id: str
    owner: str
    kind: str
    value: str
    mode: str
    ttl_secs: int
    reason: str | None = None
    wait: bool = False
    waiter_id: str | None = None


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease. Times are whole seconds since the epoch by the authority's clock."""

    fence: int
    """Above that of every lease before it."""
    id: str
    owner: str
    kind: str
    value: str
    mode: str
    reason: str | None
    ttl_secs: int
    acquired_at: int
    expires_at: int
    status: Status = Status.ACTIVE
    ended_at: int | None = None


@dataclass(frozen=True, slots=True)
class Waiter:
    """A claim in the queue. Kept in memory only."""

    id: str
    place: int
    """Lower came earlier."""
    lease_id: str
    owner: str
    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to a request, before it is spelled for the wire."""

    outcome: Outcome
    lease: Lease | None = None
    """With granted: the lease. With conflict and queued: the one in the way."""
    ahead: int | None = None
    """With conflict and queued, when only the queue is in the way: how many wait in front."""
    waiter_id: str | None = None
    leases: tuple[Lease, ...] = ()
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Granted:
    """A new lease."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class Renewed:
    """A lease lasts longer."""

    fence: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class Ended:
    """A lease has ended."""

    fence: int
    status: Status
    ended_at: int


@dataclass(frozen=True, slots=True)
class Spent:
    """A lease id that never was a lease can be none any more."""

    lease_id: str
    owner: str
    ended_at: int
    waited: bool
    """It was in the queue, so nobody else may use it either; else it is only this owner who may not."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """An ended lease id is no longer remembered."""

    lease_id: str
    owner: str
    fence: int | None
    """None for one that was spent."""
    last_fence: int
    """The highest fence ever given; it outlives the row that carried it."""


Change = Granted | Renewed | Ended | Spent | Forgotten


@dataclass(frozen=True, slots=True)
class Saved:
    """What the disk holds, to start from."""

    leases: tuple[Lease, ...]
    spent: tuple[Spent, ...]
    last_fence: int
