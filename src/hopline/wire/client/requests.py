"""What a frontend may ask: one strict struct a request type, chosen by `type`; reading and writing one.

An unknown key or an unknown type is refused; that refusal is how a client probes for a capability, so it is never
relaxed (docs/wire/client.md, "Requests"; WP-CAPABILITY-PROBE). A new request type is one more struct in `Request`.
"""

import msgspec
from msgspec import UNSET, UnsetType

from hopline.wire.client.asking import (
    MAX_GRACE_MILLIS,
    MAX_POLL_MILLIS,
    MAX_SEQUENCE,
    PROTOCOL_VERSION,
    PositiveSequence,
    RequestBase,
    Sequence,
)
from hopline.wire.client.commands import (
    Command,
    CommandInput,
    CommandInterrupt,
    CommandPause,
    CommandResize,
    CommandRestart,
    CommandResume,
    CommandSteer,
    CommandStop,
)
from hopline.wire.client.queries import Query, QueryChat, QueryEvents, QueryHistory, QuerySnapshot

__all__ = [
    "MAX_GRACE_MILLIS",
    "MAX_POLL_MILLIS",
    "MAX_REQUEST_LINE_BYTES",
    "MAX_SEQUENCE",
    "PROTOCOL_VERSION",
    "Command",
    "CommandInput",
    "CommandInterrupt",
    "CommandPause",
    "CommandResize",
    "CommandRestart",
    "CommandResume",
    "CommandSteer",
    "CommandStop",
    "Query",
    "QueryChat",
    "QueryEvents",
    "QueryHistory",
    "QuerySnapshot",
    "Request",
    "RequestBase",
    "RequestRefused",
    "Subscribe",
    "decode_request",
    "encode_request",
    "identity_of",
]

MAX_REQUEST_LINE_BYTES = 1 << 20
"""Longest request, its newline not counted (reference 1.4)."""


class Subscribe(RequestBase, frozen=True, kw_only=True, tag="subscribe"):
    """Take the connection over: `subscribed`, then event batches until the peer leaves. `heartbeat_ms` is refused."""

    after_sequence: Sequence = 0
    """The cursor: the last sequence the client has folded."""
    tail: PositiveSequence | None = None
    """At most this many of the newest events, with the spine before them; None for everything past the cursor."""
    store_id: str = ""
    """The store that `after_sequence` counts in; another live store replays from its start."""


Request = Subscribe | Query | Command


class RequestRefused(ValueError):
    """The line is no request of this wire; the message says where and why."""


class _Identity(msgspec.Struct):
    """The two fields that a refusal echoes, read from any JSON object; nothing else of it is kept."""

    request_id: msgspec.Raw | UnsetType = UNSET
    client_id: msgspec.Raw | UnsetType = UNSET


_encoder = msgspec.json.Encoder()
_requests: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)
_identities = msgspec.json.Decoder(_Identity)
_UNKNOWN = "unknown"
_MAX_ECHO_CHARACTERS = 200


def encode_request(request: Request) -> bytes:
    """The request as one line, its newline included; what equals its default is left out."""
    return _encoder.encode(request) + b"\n"


def decode_request(line: bytes) -> Request:
    """The request in one line. Raises RequestRefused; nesting is refused before memory is spent on it."""
    try:
        return _requests.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RequestRefused(str(error)) from error


def identity_of(line: bytes) -> tuple[str, str]:
    """(request_id, client_id) that a refusal of `line` echoes.

    request_id is the text of the raw value when the line is an object that has one, else "unknown"; client_id is
    echoed only if it is a string (reference 3.2). A value that is not a string is cut at 200 characters.
    """
    try:
        found = _identities.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _UNKNOWN, ""
    request_id = _UNKNOWN if found.request_id is UNSET else _text(found.request_id)
    client_id = "" if found.client_id is UNSET else _string(found.client_id) or ""
    return request_id, client_id


def _string(raw: msgspec.Raw) -> str | None:
    try:
        return msgspec.json.decode(raw, type=str)
    except (msgspec.MsgspecError, ValueError):
        return None


def _text(raw: msgspec.Raw) -> str:
    text = _string(raw)
    return bytes(raw).decode("utf-8", "replace")[:_MAX_ECHO_CHARACTERS] if text is None else text
