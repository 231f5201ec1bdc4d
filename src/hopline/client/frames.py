"""What a subscribed connection brings, decoded: every message of the wire, and the Response that refuses. Pure."""

import msgspec

from hopline.client.checkpoints import ExecutionsChunk
from hopline.errors import ConnectFailed
from hopline.wire.client.responses import Response, ResponseRefused, decode_response
from hopline.wire.client.streams import EventBatch, ProtocolError, SingleEvent, Subscribed

Message = Subscribed | EventBatch | SingleEvent | ExecutionsChunk | ProtocolError

_messages: "msgspec.json.Decoder[Message]" = msgspec.json.Decoder(Message)


def read_message(line: bytes) -> Message | Response:
    """The message in `line`. Raises ConnectFailed when it is none of this wire."""
    try:
        return _messages.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        told = str(error)
    if b'"ok":' in line:
        return read_response(line)
    raise ConnectFailed(f"the server sent {line[:80]!r}, which is no message of protocol version 1: {told}")


def read_response(line: bytes) -> Response:
    """The Response in `line`. Raises ConnectFailed when it is none."""
    try:
        return decode_response(line)
    except ResponseRefused as error:
        raise ConnectFailed(f"the server sent {line[:80]!r}: {error}") from error
