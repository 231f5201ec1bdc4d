"""Leases kept by one authority for a fleet (docs/wire/peer.md, "Fleet leases")."""

import msgspec


class LeaseClaim(msgspec.Struct, frozen=True, omit_defaults=True):
    """Requester to authority, one-shot."""

    request_id: str
    lease_id: str
    session: str
    kind: str
    value: str
    mode: str
    ttl_secs: int
    reason: str | None = None
    wait: bool = False
    waiter_id: str | None = None


class LeaseRelease(msgspec.Struct, frozen=True):
    """Requester to authority, one-shot."""

    request_id: str
    lease_id: str
    session: str


class LeaseList(msgspec.Struct, frozen=True):
    """Requester to authority, one-shot."""

    request_id: str


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """A lease as the authority shows it. The last three are ours (page, "Beyond the seed")."""

    id: str
    expires_at: str | None = None
    """`YYYY-MM-DDTHH:MM:SSZ` on the authority's clock."""
    owner_session_id: str = ""
    """`<session>@<peer>`."""
    owner_agent: str = ""
    resource_kind: str = ""
    resource_value: str = ""
    mode: str = ""
    reason: str | None = None
    acquired_at: str = ""
    status: str = ""
    ttl_secs: int | None = None
    fence: int | None = None
    """Grows with every lease of one authority. None from an authority that sends none, which is not 0."""
    ttl_left_millis: int | None = None
    """What was left when the answer was made, so that no clock of the requester matters."""


class LeaseResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Authority to requester, by the same connection. `poll_secs` and `truncated` are ours."""

    request_id: str
    outcome: str
    """`granted`, `conflict`, `queued`, `waiter_gone`, `released`, `not_owner`, `not_found`, `not_active`, `list` or
    `error`."""
    lease: Lease | None = None
    holder: str | None = None
    holder_lease: str | None = None
    expires_at: str | None = None
    ttl_left_millis: int | None = None
    """Ours, beside `expires_at`: what is left of the lease in the way."""
    ahead: int | None = None
    waiter_id: str | None = None
    poll_secs: int | None = None
    leases: list[Lease] | None = None
    truncated: bool | None = None
    message: str | None = None
