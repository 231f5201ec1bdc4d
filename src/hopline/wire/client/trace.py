"""Spans: the run trace, one whole span in each event (docs/wire/client.md, "Spans"; frontend reference 6.3).

Readers replace by `span.id` in sequence order and take state from the span, never from the event's type.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from hopline.wire.client.payload import Payload

SpanId = Annotated[str, Meta(max_length=512)]
Identifier = Annotated[str, Meta(max_length=512)]
SpanStatus = Annotated[str, Meta(max_length=64, examples=["running", "waiting", "done", "failed", "stopped"])]
Kind = Annotated[str, Meta(max_length=64, examples=["planning_call", "workstream", "agent_turn", "gate", "adoption"])]
Verdict = Annotated[
    str,
    Meta(
        max_length=64,
        examples=["accepted", "rejected", "passed", "failed_check", "slower", "adopted", "not_adopted"],
    ),
]
WaitKind = Annotated[str, Meta(max_length=64, examples=["operation", "slot", "time", "stop"])]
FailureKind = Annotated[str, Meta(max_length=64, examples=["outcome", "interruption"])]


class SpanLink(msgspec.Struct, frozen=True, kw_only=True):
    """A relation to another span, such as builds_on."""

    kind: Annotated[str, Meta(max_length=64, examples=["builds_on"])]
    span_id: SpanId


class SpanLabel(msgspec.Struct, frozen=True, kw_only=True):
    """What a search declares of a span; an unknown kind is rendered from these fields alone."""

    kind: Kind
    title: Annotated[str, Meta(max_length=1024)]
    verdict: Verdict | None = None
    attrs_json: Annotated[str, Meta(max_length=32_768)] = "{}"
    """The JSON text of one object."""
    links: Annotated[list[SpanLink], Meta(max_length=64)] = []


class SpanWait(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a span waits for; a span that waits for the first of several has an entry each."""

    kind: WaitKind
    span_id: SpanId | None = None
    until: float | None = None
    """Epoch seconds."""
    detail: Annotated[str, Meta(max_length=512)] | None = None


class SpanFailure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a span failed (outcome) or stopped (interruption)."""

    kind: FailureKind
    message: Annotated[str, Meta(max_length=8192)]


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the run; the bounds keep an event with it below the size bound."""

    id: SpanId
    """`flow:<path>#<n>` or `op:<decision id>`; stable across replay and restart."""
    parent_id: SpanId | None = None
    """None only for the root; a parent comes earlier in the trace."""
    name: Annotated[str, Meta(max_length=512)]
    status: SpanStatus
    label: SpanLabel | None = None
    waiting_on: Annotated[list[SpanWait], Meta(max_length=64)] = []
    failure: SpanFailure | None = None
    invocation: Identifier | None = None
    """The invocation that an agent turn ran as."""
    started_at: str
    ended_at: str | None = None


class SpanEvent(Payload, frozen=True, kw_only=True):
    """What the three span events have in common."""

    span: Span


class SpanStarted(SpanEvent, frozen=True, kw_only=True, tag="span_started"):
    """The span is new in the trace."""


class SpanUpdated(SpanEvent, frozen=True, kw_only=True, tag="span_updated"):
    """The span changed."""


class SpanEnded(SpanEvent, frozen=True, kw_only=True, tag="span_ended"):
    """The span reached a final status."""


TraceKind = SpanStarted | SpanUpdated | SpanEnded
