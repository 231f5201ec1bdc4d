"""Errors that a WebSocket peer is told in band: a `protocol_error` message, then the close.

Source: WP-PROTOCOL-ERROR, WG-IN-BAND.
"""

from hopline.errors import ConnectDenied, HoplineError, RunGone
from hopline.ids import new_store_id
from hopline.wire.client.responses import Code, diagnosed
from hopline.wire.client.streams import ProtocolError, encode_message

INVALID_FRAME = "invalid_frame"
"""A binary message came; only text is spoken (WP-FRAME-TYPE)."""

BACKEND_UNAVAILABLE = "backend_unavailable"
"""The run cannot be reached; trying again may help."""


def invalid_frame() -> bytes:
    """What a peer is told that sent a binary message."""
    return _message(
        INVALID_FRAME,
        "A binary message came; this connection speaks text only.",
        hint="Send each message as one text frame.",
        retryability="never",
    )


def unreachable(error: HoplineError) -> bytes:
    """What a peer is told whose run cannot be reached."""
    if isinstance(error, RunGone):
        return _message(Code.NOT_FOUND, str(error), retryability="never")
    if isinstance(error, ConnectDenied):
        return _message(Code.PERMISSION_DENIED, str(error), retryability="manual")
    return _message(BACKEND_UNAVAILABLE, str(error), retryability="automatic")


def too_long(limit: int) -> bytes:
    """What a peer is told whose run sent more in one message than is passed on."""
    return _message(
        BACKEND_UNAVAILABLE,
        f"The run sent a message longer than {limit} bytes.",
        hint="Ask for less at a time.",
        retryability="manual",
    )


def _message(code: str, summary: str, *, retryability: str, hint: str | None = None) -> bytes:
    diagnostic = diagnosed(
        new_store_id(), code, summary, hint=hint, scope="transport", retryability=retryability, source="gateway"
    )
    return encode_message(
        ProtocolError(request_id=None, code=diagnostic.code, message=diagnostic.summary, diagnostic=diagnostic)
    )
