"""Event batches as a watcher needs them: output as bytes with nothing else of its event, or events left as bytes.

Most batches of a busy run hold nothing but output; those take a decoder that reads two fields an event.
"""

from dataclasses import dataclass

import msgspec

from hopline.errors import ConnectFailed, Unavailable
from hopline.wire.client.events import RunEvent, decode_events, output_of
from hopline.wire.client.responses import ResponseRefused
from hopline.wire.client.streams import (
    ActiveExecutionsChunk,
    EventBatch,
    ProtocolError,
    SingleEvent,
    Subscribed,
    decode_server_line,
)

_text: "msgspec.json.Decoder[str]" = msgspec.json.Decoder(str)


class _TextData(msgspec.Struct, gc=False):
    stream: str
    content: str

    def written(self) -> bytes:
        return self.content.encode()


class _ExactData(msgspec.Struct, gc=False):
    stream: str
    content: msgspec.Raw
    raw: bytes | None = None

    def written(self) -> bytes:
        return _text.decode(self.content).encode() if self.raw is None else self.raw


class _TextEvent(msgspec.Struct, tag_field="type", tag="subprocess_output", gc=False):
    sequence: int
    data: _TextData


class _ExactEvent(msgspec.Struct, tag_field="type", tag="subprocess_output", gc=False):
    sequence: int
    data: _ExactData


class _Batch(msgspec.Struct, tag_field="type", tag="event_batch", gc=False):
    events: list[_TextEvent]
    through_sequence: int = 0
    store_id: str = ""
    history_after_sequence: int = 0
    rebootstrap: bool = False


class _ExactBatch(msgspec.Struct, tag_field="type", tag="event_batch", gc=False):
    events: list[_ExactEvent]
    through_sequence: int = 0
    store_id: str = ""
    history_after_sequence: int = 0
    rebootstrap: bool = False


class _Lines(msgspec.Struct, tag_field="type", tag="event_batch", gc=False):
    events: list[msgspec.Raw]
    through_sequence: int = 0
    store_id: str = ""
    history_after_sequence: int = 0
    rebootstrap: bool = False


class Head(msgspec.Struct, gc=False):
    """What a listing of raw events looks at."""

    sequence: int
    type: str


_texts = msgspec.json.Decoder(_Batch)
_exacts = msgspec.json.Decoder(_ExactBatch)
_lines = msgspec.json.Decoder(_Lines)
_head = msgspec.json.Decoder(Head)


class Output(msgspec.Struct, frozen=True, gc=False):
    """What the worker wrote, in one event."""

    sequence: int
    stream: str
    """stdout or stderr."""
    data: bytes


@dataclass(frozen=True, slots=True)
class Batch:
    """One frame of a subscription, decoded."""

    events: list[Output | RunEvent]
    through_sequence: int
    """The cursor after this frame."""
    store_id: str
    floor: int
    rebootstrap: bool


@dataclass(frozen=True, slots=True)
class LineBatch:
    """One frame of a subscription, its events as the journal holds them."""

    lines: list[tuple[Head, msgspec.Raw]]
    through_sequence: int
    store_id: str
    floor: int
    rebootstrap: bool


class StreamFailed(Unavailable):
    """The server ended the stream and said why."""


def read_batch(line: bytes) -> Batch:
    """The events of one frame. Raises StreamFailed for a protocol_error, ConnectFailed for what is no frame."""
    fast = _exacts if b'"raw":"' in line else _texts
    try:
        found = fast.decode(line)
    except msgspec.MsgspecError:
        return _read_any(line)
    return Batch(
        [Output(event.sequence, event.data.stream, event.data.written()) for event in found.events],
        found.through_sequence,
        found.store_id,
        found.history_after_sequence,
        found.rebootstrap,
    )


def read_outputs(events: msgspec.Raw) -> list[Output | RunEvent]:
    """The `events` section of a Response. Raises msgspec.MsgspecError."""
    return [_typed(event) for event in decode_events(events)]


def read_lines(line: bytes) -> LineBatch:
    """The events of one frame as bytes, each with its head. Raises as `read_batch` does."""
    try:
        found = _lines.decode(line)
        lines = [(_head.decode(event), event) for event in found.events]
    except msgspec.MsgspecError:
        if (other := _read_any(line)).events:
            raise ConnectFailed("the run's server sent an event without a sequence or a type.") from None
        return LineBatch([], other.through_sequence, other.store_id, other.floor, other.rebootstrap)
    return LineBatch(lines, found.through_sequence, found.store_id, found.history_after_sequence, found.rebootstrap)


def _read_any(line: bytes) -> Batch:
    try:
        message = decode_server_line(line)
    except ResponseRefused as error:
        raise ConnectFailed(f"the run's server sent {line[:80]!r}: {error}") from error
    match message:
        case EventBatch():
            return Batch(
                [_typed(event) for event in message.events],
                message.through_sequence,
                message.store_id,
                message.history_after_sequence,
                message.rebootstrap,
            )
        case ActiveExecutionsChunk():
            # Who is at work is no concern of a watcher of output.
            return Batch([], message.through_sequence, message.store_id, message.history_after_sequence, False)
        case SingleEvent():
            return Batch([_typed(message.event)], message.event.sequence, "", 0, False)
        case ProtocolError():
            raise StreamFailed(f"the run's server ended the stream: {message.message}")
        case Subscribed():
            raise ConnectFailed("the run's server acknowledged the subscription twice.")
        case _:
            raise ConnectFailed(f"the run's server answered inside a stream: {message.error or 'a Response'}")


def _typed(event: RunEvent) -> Output | RunEvent:
    output = output_of(event)
    return event if output is None else Output(event.sequence, output.stream, output.written())
