"""Strict frames to structs and back. One line in, one frame out, or `FrameRefused`; nothing else ever escapes.

msgspec checks shape, types, UTF-8 and surrogates; the second pass sees what it cannot: duplicate names, `-0` and
integers past u64 (docs/wire/worker.md, "Strictness").
"""

import json
from typing import Any, TypeVar

import msgspec

from hopline.wire.worker.messages import MAX_U64, Command, Event, Frame, SemanticEvent

_T = TypeVar("_T")

_RAW_PREFIXES = (
    b'{"kind":"stdout","data":"',
    b'{"kind":"stderr","data":"',
    b'{"kind":"stdout_bytes","data":"',
    b'{"kind":"stderr_bytes","data":"',
)


class FrameRefused(ValueError):
    """The peer sent a line that is no frame of this wire; the transport has failed. The message says why."""


_encoder = msgspec.json.Encoder()
_commands: msgspec.json.Decoder[Command] = msgspec.json.Decoder(Command)
_events: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
_semantic: msgspec.json.Decoder[SemanticEvent] = msgspec.json.Decoder(SemanticEvent)


def encode(frame: Frame) -> bytes:
    """The frame as one line, its newline included. Raises ValueError on a lone surrogate (our own bug)."""
    return _encoder.encode(frame) + b"\n"


def decode_command(line: bytes) -> Command:
    """A controller's command. Raises FrameRefused."""
    return _strict(_commands, line)


def decode_event(line: bytes) -> Event:
    """A relay's event. Raises FrameRefused.

    Lines that begin as our relay writes the four raw kinds skip the second pass, which costs throughput where the
    bytes are; nothing in them is an integer.
    """
    if line.startswith(_RAW_PREFIXES):
        try:
            return _events.decode(line)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise FrameRefused(f"malformed frame: {error}") from error
    return _strict(_events, line)


def decode_semantic(line: bytes) -> SemanticEvent:
    """An event on the worker's sideband. Raises FrameRefused."""
    return _strict(_semantic, line)


def _strict(decoder: "msgspec.json.Decoder[_T]", line: bytes) -> _T:
    try:
        frame = decoder.decode(line)
        json.loads(line, object_pairs_hook=_unique, parse_int=_u64)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise FrameRefused(f"malformed frame: {error}") from error
    return frame


def _unique(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("duplicate field")


def _u64(token: str) -> int:
    value = int(token) if len(token) <= 20 else MAX_U64 + 1
    if token.startswith("-") or value > MAX_U64:
        raise ValueError(f"{token[:24]} is not an integer from 0 to {MAX_U64}")
    return value
