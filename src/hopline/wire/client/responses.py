"""The one Response a request gets.

Complete models: absent optionals are null, defaults are present, compact JSON, raw UTF-8
(docs/wire/client.md, "Responses"). Readers ignore keys that they do not know.
"""

from typing import Annotated

import msgspec
from msgspec import Meta, Raw

from hopline.wire.client.diagnostics import Code, Diagnostic, diagnosed, validation_paths
from hopline.wire.client.sections import (
    ChatAnswer,
    ChatOptions,
    DesignPatch,
    DesignRound,
    ExperimentUpdate,
    HypothesisEntry,
    IterationsPage,
    IterationsUnavailable,
    PerformanceContext,
    RoundPerformance,
    TuiDefaults,
)
from hopline.wire.client.state import ChatThread, RunSnapshot
from hopline.wire.client.texts import plain, redact

__all__ = [
    "MAX_RESPONSE_BYTES",
    "NO_EVENTS",
    "Ack",
    "Code",
    "Diagnostic",
    "Response",
    "ResponseRefused",
    "RunSnapshot",
    "decode_response",
    "diagnosed",
    "encode_response",
    "failed",
    "plain",
    "redact",
    "validation_paths",
]

MAX_RESPONSE_BYTES = 64 << 20
"""What a client accepts of one Response; Responses are never split (reference 3.1)."""

NO_EVENTS = Raw(b"[]")


class Ack(msgspec.Struct, frozen=True):
    """What became of a command when its Response was written."""

    action: Annotated[
        str, Meta(examples=["pause", "resume", "steer", "stop", "interrupt", "input", "resize", "restart"])
    ]
    """The last four are beyond the seed."""
    status: Annotated[str, Meta(examples=["pending", "consumed", "delivered", "accepted"])]
    """Beyond the seed: delivered (interrupt), accepted (input, resize)."""


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """Exactly one a request, correlated by `request_id`; it has no `type`."""

    protocol_version: int = 1
    request_id: str
    client_id: str = ""
    timestamp: str
    ok: bool = True
    error: str | None = None
    """Equals `diagnostic.summary` on failure."""
    diagnostic: Diagnostic | None = None
    ack: Ack | None = None
    chat: ChatAnswer | None = None
    chat_thread: ChatThread | None = None
    chat_options: ChatOptions | None = None
    """None: the run has not attached its selection."""
    tui_defaults: TuiDefaults | None = None
    """None: nobody provides them."""
    snapshot: RunSnapshot | None = None
    events: Raw = msgspec.field(default_factory=lambda: NO_EVENTS)
    """The JSON list of RunEvents as stored; `events.decode_events` reads it."""
    performance: list[RoundPerformance] = []
    performance_context: PerformanceContext | None = None
    experiments: list[HypothesisEntry] = []
    experiment_update: ExperimentUpdate | None = None
    experiments_ready: bool | None = None
    """False: the run's state is not attached."""
    design: list[DesignRound] = []
    design_ready: bool | None = None
    design_patch: DesignPatch | None = None
    """None: not attached."""
    iterations: IterationsPage | IterationsUnavailable | None = None


class ResponseRefused(ValueError):
    """The server sent a line that is no Response of this wire."""


_encoder = msgspec.json.Encoder()
_responses = msgspec.json.Decoder(Response)


def encode_response(response: Response) -> bytes:
    """The Response as one frame, without the Unix newline."""
    return _encoder.encode(response)


def decode_response(line: bytes) -> Response:
    """A server's Response; unknown keys pass. Raises ResponseRefused."""
    try:
        response = _responses.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ResponseRefused(f"not a Response of protocol version 1: {error}") from error
    if response.protocol_version != 1:
        raise ResponseRefused(f"the server speaks protocol version {response.protocol_version}, this client 1")
    return response


def failed(request_id: str, client_id: str, timestamp: str, diagnostic: Diagnostic) -> Response:
    """The failed Response: every section at its default."""
    return Response(
        request_id=request_id,
        client_id=client_id,
        timestamp=timestamp,
        ok=False,
        error=diagnostic.summary,
        diagnostic=diagnostic,
    )
