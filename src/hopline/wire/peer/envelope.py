"""The envelope of every peer frame (docs/wire/peer.md, "Envelope")."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from hopline.errors import Misuse
from hopline.wire.peer.faults import ProtocolFault
from hopline.wire.peer.limits import MAX_BODY_BYTES, MAX_MESSAGE_ID_CHARACTERS, MAX_U64

Payload = Mapping[str, Any] | msgspec.Struct


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """One frame. `payload` is kept as it came until somebody who knows the type decodes it."""

    id: str
    msg_type: str
    from_peer: str
    timestamp: int
    """Milliseconds since the epoch, by the sender's clock."""
    payload: msgspec.Raw


class EnvelopeWith(Envelope, frozen=True, kw_only=True):
    """One frame that came with bytes beside its JSON, which no JSON can bring."""

    attached: memoryview


class _Outgoing(msgspec.Struct, frozen=True, gc=False):
    """The same, with the payload still to be encoded."""

    id: str
    msg_type: str
    from_peer: str
    timestamp: int
    payload: Payload


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Envelope).decode
_OPENING_BRACE = ord("{")
_QUOTES = 16
"""Quotes of an envelope as we write it, before its payload: five keys and three values."""


def message_id(now_millis: int, entropy: str) -> str:
    """An id nobody else uses: ids of all peers are compared with each other, so the time alone is not enough.

    Args:
        entropy: 16 random hex digits.
    """
    return f"msg_{now_millis}_{entropy}"


def encode(msg_type: str, payload: Payload, *, from_peer: str, message_id: str, timestamp: int) -> bytes:
    """The JSON of one frame, without framing. Raises Misuse when it is longer than any framing carries."""
    body = _encode(_Outgoing(message_id, msg_type, from_peer, timestamp, payload))
    if len(body) > MAX_BODY_BYTES:
        raise Misuse(f"a {msg_type} of {len(body)} bytes; a frame holds {MAX_BODY_BYTES}: send it in parts")
    return body


def decode(data: bytes) -> Envelope:
    """The frame that `data` holds. Unknown keys are ignored (PL-MORE-KEYS). Raises ProtocolFault (PL-ENVELOPE)."""
    try:
        if not data.isascii():
            data.decode()
        envelope = _decode(data)
        head = (
            f'{{"id":"{envelope.id}","msg_type":"{envelope.msg_type}","from_peer":"{envelope.from_peer}",'
            f'"timestamp":{envelope.timestamp},"payload":'
        ).encode()
        payload = memoryview(envelope.payload)
        written_as_ours = (
            data.startswith(head) and len(head) + len(payload) + 1 == len(data) and head.count(b'"') == _QUOTES
        )
        if not written_as_ours:
            _refuse_doubled_keys(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ProtocolFault(f"no frame: {error}") from error
    if not 0 <= envelope.timestamp <= MAX_U64:
        raise ProtocolFault("no frame: timestamp is no u64")
    if len(envelope.id) > MAX_MESSAGE_ID_CHARACTERS:
        raise ProtocolFault(f"an id of {len(envelope.id)} characters")
    if payload[0] != _OPENING_BRACE:
        raise ProtocolFault("no frame: payload is no object")
    return envelope


def _refuse_doubled_keys(data: bytes) -> None:
    """Keys of the envelope itself; inside a payload the last of two counts, as it does for our peers (PL-DOUBLED)."""
    outermost: list[str] = []

    def keep(pairs: list[tuple[str, object]]) -> None:
        outermost[:] = [name for name, _ in pairs]

    json.loads(data, object_pairs_hook=keep)
    if len(set(outermost)) != len(outermost):
        raise ValueError("a doubled key")
