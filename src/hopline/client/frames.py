"""What a subscribed connection brings, decoded: every message of the wire, and the Response that refuses. Pure."""

from hopline.errors import ConnectFailed
from hopline.wire.client.responses import Response, ResponseRefused, decode_response
from hopline.wire.client.streams import ServerMessage, decode_server_line


def read_message(line: bytes) -> ServerMessage | Response:
    """The message in `line`. Raises ConnectFailed when it is none of this wire."""
    try:
        return decode_server_line(line)
    except ResponseRefused as error:
        raise ConnectFailed(f"the server sent {line[:80]!r}: {error}") from error


def read_response(line: bytes) -> Response:
    """The Response in `line`. Raises ConnectFailed when it is none."""
    try:
        return decode_response(line)
    except ResponseRefused as error:
        raise ConnectFailed(f"the server sent {line[:80]!r}: {error}") from error
