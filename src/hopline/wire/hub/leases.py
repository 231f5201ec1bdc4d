"""What is asked of the hub about leases, and what it answers (docs/wire/hub.md, "Leases")."""

import msgspec

from hopline.wire.peer.leases import Lease


class ClaimLease(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`lease.claim`. Answered by LeaseClaimed, with LeaseQueued before it while it waits."""

    session: str
    kind: str
    value: str
    mode: str = "exclusive"
    ttl_secs: int
    reason: str | None = None
    wait: bool = False
    """Queue when it is held, instead of being refused."""
    wait_secs: float | None = None
    """How long at most; None for as long as it takes."""
    overlaps: bool = False
    """Tell with a grant which other leases overlap it; costs one more request."""


class InTheWay(msgspec.Struct, frozen=True, kw_only=True):
    """What keeps a claim from being granted: a lease, or others that wait in front."""

    holder: str | None = None
    """`<session>@<machine>`."""
    holder_lease: str | None = None
    expires_at: str | None = None
    """By the authority's clock; it moves on while the holder's session lives."""
    ttl_left_millis: int | None = None
    ahead: int | None = None


class LeaseQueued(msgspec.Struct, frozen=True, kw_only=True):
    """The claim waits."""

    waited_secs: float
    way: InTheWay
    trouble: str | None = None
    """What keeps the claim from being asked again for now, or that its place in the queue was lost."""


class LeaseClaimed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a claim."""

    outcome: str
    """`granted` or `conflict`."""
    authority: str
    lease: Lease | None = None
    good_for_millis: int | None = None
    """How long the lease may be believed from now on without hearing more."""
    way: InTheWay | None = None
    waited_secs: float = 0.0
    overlaps: list[Lease] = []
    """With a grant that was asked to tell: active leases of other owners that overlap it."""


class ReleaseLease(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`lease.release`: one lease by id, or the latest that the session holds of exactly this kind and value."""

    session: str
    lease_id: str | None = None
    kind: str | None = None
    value: str | None = None


class LeaseReleased(msgspec.Struct, frozen=True, kw_only=True):
    """The ids that are free again."""

    authority: str
    released: list[str]
    left: int = 0
    """How many more the session holds of the same kind and value."""


class ListLeases(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`lease.ls`. Answered by LeaseListing."""


class LeaseListing(msgspec.Struct, frozen=True, kw_only=True):
    """The active leases of the fleet, the oldest first."""

    authority: str
    identity: str
    leases: list[Lease]
    truncated: bool = False
    """There are more than fit into one answer."""


class CheckPaths(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`lease.check`: which of these paths somebody else holds exclusively."""

    session: str
    paths: list[str]
    """Relative to what the leases are relative to: the top of a repository."""


class HeldPath(msgspec.Struct, frozen=True, kw_only=True):
    """A path that is not to be written."""

    path: str
    lease: Lease


class PathsChecked(msgspec.Struct, frozen=True, kw_only=True):
    """Those that are held by others; at most `MAX_HELD_PATHS`, the first ones asked about."""

    authority: str
    owner: str
    """Who asked, as leases name owners."""
    held: list[HeldPath]
    more: int = 0
    """How many more are held."""


MAX_HELD_PATHS = 200
"""That one answer names."""


class AskAuthority(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`lease.authority`. Answered by LeaseAuthority."""


class LeaseAuthority(msgspec.Struct, frozen=True, kw_only=True):
    """Who keeps the leases, as this machine sees it."""

    identity: str
    configured: str
    """`lease_authority` of `[relay]`; empty when it is not set."""
    authority: str | None
    """In force; None when several machines are paired and none is named."""
    peers: list[str]
