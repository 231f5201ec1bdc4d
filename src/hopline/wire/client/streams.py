"""What a subscription sends: `subscribed`, event batches, `protocol_error`; and how a client reads them.

A batch is stored bytes with their newlines made commas between a head and a tail; nothing is re-encoded
(docs/wire/client.md, "Streams"). A frame here never carries the Unix newline.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Raw

from hopline.wire.client.checkpoint import (
    DIGEST,
    MAX_STREAM_FRAME_BYTES,
    NO_EXECUTIONS,
    ActiveExecutionsChunk,
    ExecutionList,
)
from hopline.wire.client.events import RunEvent
from hopline.wire.client.responses import Diagnostic, Response, ResponseRefused, decode_response

__all__ = [
    "MAX_LINE_BYTES",
    "MAX_STREAM_FRAME_BYTES",
    "ActiveExecutionsChunk",
    "BatchEnvelope",
    "EventBatch",
    "ProtocolError",
    "RawEventBatch",
    "ServerMessage",
    "SingleEvent",
    "Subscribed",
    "decode_server_line",
    "encode_message",
]

MAX_LINE_BYTES = 64 << 20
"""Longest line a client of ours takes from a server: a Response may be this big, a stream frame may not."""


class Subscribed(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="subscribed"):
    """The subscription is accepted; always first, also when the replay then fails (WP-SUBSCRIBE-ACK)."""

    request_id: str
    client_id: str = ""
    run_id: str
    latest_sequence: int


class EventBatch(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="event_batch"):
    """Events in sequence order; a payload construct, not framing (WP-GRANULARITY)."""

    events: list[RunEvent]
    through_sequence: int = 0
    """The cursor after folding this frame."""
    active_executions: list[Raw] | None = []
    """None: keep the last complete list until the parts of this one have come."""
    active_executions_checkpoint_id: Annotated[str, Meta(pattern=DIGEST)] | None = None
    """Names the deferred list; there exactly when `active_executions` is None."""
    store_id: str = ""
    history_after_sequence: int = 0
    """The floor: every event of this stream's history but the spine has a larger sequence."""
    rebootstrap: bool = False
    """A second bootstrap on an open subscription: it supersedes what the client folded (WP-REBOOTSTRAP)."""


class RawEventBatch(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="event_batch"):
    """An EventBatch whose events stay bytes, for a client that forwards or counts them."""

    events: Raw
    through_sequence: int = 0
    store_id: str = ""
    history_after_sequence: int = 0
    rebootstrap: bool = False


class SingleEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="event"):
    """Legacy: one event. Never sent here; readers accept it."""

    event: RunEvent


class ProtocolError(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="protocol_error"):
    """The stream failed; the server closes after it (WP-PROTOCOL-ERROR)."""

    request_id: str | None
    client_id: str = ""
    code: str
    message: str
    """Equals `diagnostic.summary`."""
    diagnostic: Diagnostic | None = None


ServerMessage = Subscribed | EventBatch | ActiveExecutionsChunk | SingleEvent | ProtocolError

_encoder = msgspec.json.Encoder()
_messages: msgspec.json.Decoder[ServerMessage] = msgspec.json.Decoder(ServerMessage)


def encode_message(message: Subscribed | ProtocolError) -> bytes:
    """The message as one frame."""
    return _encoder.encode(message)


def decode_server_line(line: bytes) -> ServerMessage | Response:
    """What a server wrote on a subscribed connection: a stream message, or the Response that refused it.

    Raises ResponseRefused when it is neither.
    """
    try:
        return _messages.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        if b'"ok":' in line:
            return decode_response(line)
        raise ResponseRefused(f"not a message of protocol version 1: {error}") from error


_HEAD = b'{"type":"event_batch","events":['


class BatchEnvelope:
    """Everything of an event batch but its events, for one subscription.

    Args:
        store_id: names the sequence space.
        history_after_sequence: the floor.
        executions: the list that every frame repeats.
        deferred: whether the list comes in parts after the last frame. Raises CheckpointTooLarge when it cannot.
    """

    def __init__(
        self,
        store_id: str,
        history_after_sequence: int,
        executions: ExecutionList = NO_EXECUTIONS,
        deferred: bool = False,
    ) -> None:
        self._rest = (
            b',"active_executions":%b,"active_executions_checkpoint_id":%b,"store_id":%b,"history_after_sequence":%d'
            % (
                b"null" if deferred else executions.text,
                b'"%b"' % executions.checkpoint_id.encode() if deferred else b"null",
                _encoder.encode(store_id),
                history_after_sequence,
            )
        )
        self.max_events_bytes = MAX_STREAM_FRAME_BYTES - len(self.frame(b"", (1 << 63) - 1, False)) + 1
        """Stored bytes, newlines included, that fit one frame whatever its cursor; not positive when none do."""

    def frame(self, lines: bytes, through_sequence: int, rebootstrap: bool) -> bytes:
        """One whole frame of stored lines, each ending with its newline.

        Args:
            lines: events as the journal holds them; may be empty.
            through_sequence: the cursor after this frame.
            rebootstrap: the marker; true on the first frame of a second bootstrap only.
        """
        flag: Literal[b"true", b"false"] = b"true" if rebootstrap else b"false"
        return b'%b%b],"through_sequence":%d%b,"rebootstrap":%b}' % (
            _HEAD,
            lines[:-1].replace(b"\n", b","),
            through_sequence,
            self._rest,
            flag,
        )
