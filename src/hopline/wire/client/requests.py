"""What a frontend may ask: one strict struct a request type, chosen by `type`.

An unknown key or an unknown type is refused; that refusal is how a client probes for a capability, so it is never
relaxed (docs/wire/client.md, "Requests"; WP-CAPABILITY-PROBE). A new request type is one more struct in `Request`.
"""

from datetime import datetime
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

PROTOCOL_VERSION = 1

MAX_REQUEST_LINE_BYTES = 1 << 20
"""Longest request, its newline not counted (reference 1.4)."""

MAX_SEQUENCE = (1 << 63) - 1
MAX_POLL_MILLIS = 30_000
MAX_GRACE_MILLIS = 86_400_000

Sequence = Annotated[int, Meta(ge=0, le=MAX_SEQUENCE)]
GraceMillis = Annotated[int, Meta(ge=0, le=MAX_GRACE_MILLIS)]


class RequestBase(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", omit_defaults=True
):
    """What every request carries; all of it is optional for the sender."""

    mutating: ClassVar[bool] = False
    """Whether a run that only serves its record refuses it with `run_read_only`."""

    protocol_version: Literal[1] = 1
    request_id: str | UnsetType = UNSET
    """Echoed by the Response; the server makes one up when absent."""
    client_id: str = ""
    """Stable per client instance, echoed (WP-IDENTITY)."""
    timestamp: Annotated[datetime, Meta(tz=True)] | UnsetType = UNSET


class Subscribe(RequestBase, frozen=True, kw_only=True, tag="subscribe"):
    """Take the connection over: `subscribed`, then event batches until the peer leaves. `heartbeat_ms` is refused."""

    after_sequence: Sequence = 0
    """The cursor: the last sequence the client has folded."""
    tail: Annotated[int, Meta(ge=1, le=MAX_SEQUENCE)] | None = None
    """At most this many of the newest events, with the spine before them; None for everything past the cursor."""
    store_id: str = ""
    """The store that `after_sequence` counts in; another live store replays from its start."""


class QuerySnapshot(RequestBase, frozen=True, kw_only=True, tag="query.snapshot"):
    """The fold of the run's events."""


class QueryEvents(RequestBase, frozen=True, kw_only=True, tag="query.events"):
    """Events with `after_sequence` < sequence < `before_sequence`, at most one Response's worth, oldest first."""

    after_sequence: Sequence = 0
    before_sequence: Annotated[int, Meta(ge=1, le=MAX_SEQUENCE)] | None = None
    """Exclusive; None for no bound."""
    timeout_ms: Annotated[int, Meta(ge=0, le=MAX_POLL_MILLIS)] = 0
    """How long to wait for a first event past the cursor."""


class CommandStop(RequestBase, frozen=True, kw_only=True, tag="command.stop"):
    """Retire the worker and end the run as stopped."""

    mutating: ClassVar[bool] = True

    mode: Literal["after_current_agent_call"] = "after_current_agent_call"
    grace_ms: GraceMillis | None = None
    """Beyond the seed: how long the worker may take to leave before it is killed; None for the run's own setting."""


class CommandInterrupt(RequestBase, frozen=True, kw_only=True, tag="command.interrupt"):
    """Beyond the seed: SIGINT to the direct worker; the Response waits for the receipt."""

    mutating: ClassVar[bool] = True


class CommandInput(RequestBase, frozen=True, kw_only=True, tag="command.input"):
    """Beyond the seed: bytes for the worker's stdin, or its end; the Response comes when they are accepted.

    `text` and `bytes_base64` exclude one another; `close` may stand alone or follow the bytes of the same request.
    """

    mutating: ClassVar[bool] = True

    text: str | None = None
    bytes_base64: bytes | None = None
    """Bytes here; standard padded base64 on the wire."""
    close: bool = False

    def __post_init__(self) -> None:
        if self.text is not None and self.bytes_base64 is not None:
            raise ValueError("text and bytes_base64 exclude one another")
        if self.text is None and self.bytes_base64 is None and not self.close:
            raise ValueError("one of text, bytes_base64 and close is needed")

    def data(self) -> bytes:
        """The bytes to write, in either form."""
        return self.text.encode("utf-8", "replace") if self.text is not None else self.bytes_base64 or b""


class CommandRestart(RequestBase, frozen=True, kw_only=True, tag="command.restart"):
    """Beyond the seed: retire this generation and, once it is gone, launch the next."""

    mutating: ClassVar[bool] = True

    grace_ms: GraceMillis | None = None


Query = QuerySnapshot | QueryEvents
Command = CommandStop | CommandInterrupt | CommandInput | CommandRestart
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
