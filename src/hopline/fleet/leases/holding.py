"""How long a requester may believe an answer about a lease, by its own monotonic clock alone."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Holding:
    """A lease as its requester knows it. Past `good_until` without a newer answer it is lost: stop writing."""

    lease_id: str
    fence: int | None
    """None from an authority that gives none: unknown, not 0."""
    good_until: float
    """Monotonic seconds of the requester."""


def good_until(asked_at: float, expires_at: int, answered_at_millis: int, ttl_left_millis: int | None = None) -> float:
    """The moment up to which the lease is safely held (PL-LEASE-BELIEVED).

    Args:
        asked_at: the requester's monotonic seconds when it sent the request; the time on the way counts against it.
        expires_at: the lease's end in seconds since the epoch, by the authority's clock.
        answered_at_millis: the answer's `timestamp`, by the same clock.
        ttl_left_millis: what the authority itself says is left, when it says so.
    """
    left = expires_at * 1000 - answered_at_millis
    if ttl_left_millis is not None:
        left = min(left, ttl_left_millis)
    return asked_at + max(0, left) / 1000
