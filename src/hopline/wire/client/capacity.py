"""Payloads of provider limits: how much is left, and what a run does when nothing is.

Source: docs/wire/client.md, "Event kinds" (frontend reference 5.3, 6.5).
"""

from typing import Annotated

from msgspec import Meta

from hopline.wire.client.payload import Payload

Condition = Annotated[str, Meta(examples=["quota_exhausted", "rate_limited"])]
Epoch = float
"""Seconds since 1970."""


class RateLimitUpdate(Payload, frozen=True, kw_only=True, tag="rate_limit_update"):
    """What a provider says of its limit."""

    provider: str | None = None
    window: str | None = None
    limit: str | float | None = None
    """Its name or its size, as the provider tells it."""
    used_fraction: float | None = None
    resets_at: Epoch | None = None
    window_minutes: float | None = None
    exhausted: bool


class QuotaPaused(Payload, frozen=True, kw_only=True, tag="quota_paused"):
    """The run is paused on a limit."""

    provider: str
    condition: Condition
    detail: str
    resets_at: Epoch | None = None
    resumes_at: Epoch | None = None
    policy: Annotated[str, Meta(examples=["pause", "wait", "fail", "fallback"])] = "pause"
    fallback_provider: str | None = None
    fallback_model: str | None = None


class QuotaResumed(Payload, frozen=True, kw_only=True, tag="quota_resumed"):
    """The run goes on."""

    provider: str
    reason: Annotated[str, Meta(examples=["operator", "wait_elapsed"])] = "operator"


class QuotaAbandoned(Payload, frozen=True, kw_only=True, tag="quota_abandoned"):
    """The run gives up on the provider."""

    provider: str
    condition: Condition
    detail: str
    reason: str


class QuotaWaiting(Payload, frozen=True, kw_only=True, tag="quota_waiting"):
    """A wait for capacity is armed."""

    provider: str
    resumes_at: Epoch | None = None
    """None when it polls without a reset time."""


class QuotaWaitCancelled(Payload, frozen=True, kw_only=True, tag="quota_wait_cancelled"):
    """The wait was ended by a person."""

    provider: str
    reason: Annotated[str, Meta(examples=["resumed", "paused"])]


class ProviderSwitched(Payload, frozen=True, kw_only=True, tag="provider_switched"):
    """The run goes on with another provider."""

    from_provider: str
    to_provider: str
    to_model: str
    reason: Annotated[str, Meta(examples=["policy", "operator"])]
    detail: str


CapacityKind = (
    RateLimitUpdate | QuotaPaused | QuotaResumed | QuotaAbandoned | QuotaWaiting | QuotaWaitCancelled | ProviderSwitched
)
