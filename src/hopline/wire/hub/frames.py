"""The hub's control lines: one request a line, then progress lines, then one result or one error.

JSON Lines on a Unix socket that only its owner may open. `args` and `result` are the structs of the operation, from
the module of `wire/hub/` that is named for its room.
"""

import msgspec

MAX_LINE_BYTES = 1 << 20
"""The longest control line, both ways."""


class HubRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked: `op` is `<room>.<verb>`, such as `lease.claim`."""

    op: str
    args: msgspec.Raw = msgspec.Raw(b"{}")


class HubError(msgspec.Struct, frozen=True):
    """A refusal: one sentence with the next step, and the status the command line exits with."""

    message: str
    exit_status: int = 1
    code: str = "failed"


class HubReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line back. Exactly one of the three is set; `progress` lines come before the other two."""

    progress: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: HubError | None = None


_request: "msgspec.json.Decoder[HubRequest]" = msgspec.json.Decoder(HubRequest)
_reply: "msgspec.json.Decoder[HubReply]" = msgspec.json.Decoder(HubReply)


def decode_request(line: bytes) -> HubRequest:
    """Raises msgspec.MsgspecError for a line that is no request."""
    return _request.decode(line)


def decode_reply(line: bytes) -> HubReply:
    """Raises msgspec.MsgspecError for a line that is no reply."""
    return _reply.decode(line)


def encode(frame: HubRequest | HubReply) -> bytes:
    """The line, with its newline."""
    return msgspec.json.encode(frame) + b"\n"
