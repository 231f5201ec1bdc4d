"""How a bridge can end: one exit status an outcome, and the line on stderr that says so to a program. Pure."""

from dataclasses import dataclass
from enum import StrEnum

MAX_DETAIL_CHARACTERS = 1000
"""Keeps the line within one atomic write to a pipe (4,096 bytes) for any path a system allows."""


class Outcome(StrEnum):
    """Why a bridge ended (docs/wire/bridge.md, "Ends")."""

    CLIENT_CLOSED = "client_closed"
    """stdin reached its end, or stdout was closed: the client went away."""
    SERVER_CLOSED = "server_closed"
    """The server closed the connection; everything it sent was relayed first."""
    RUN_GONE = "run_gone"
    """No socket, or nothing listens on it."""
    CONNECT_DENIED = "connect_denied"
    """The socket exists and this user may not connect to it."""
    CONNECT_FAILED = "connect_failed"
    """Connecting failed another way, the connect timeout included."""
    SERVER_STALLED = "server_stalled"
    """A write toward the server made no progress within the write deadline."""
    CLIENT_STALLED = "client_stalled"
    """A write toward stdout made no progress within the write deadline."""
    SERVER_FAILED = "server_failed"
    """The socket failed with an error other than a close."""
    CLIENT_FAILED = "client_failed"
    """stdin or stdout failed with an error other than a close."""
    SERVER_UNRESPONSIVE = "server_unresponsive"
    """The socket sent nothing within the read deadline."""


EXIT_STATUS: dict[Outcome, int] = {
    Outcome.CLIENT_CLOSED: 0,
    Outcome.SERVER_CLOSED: 3,
    Outcome.RUN_GONE: 4,
    Outcome.CONNECT_DENIED: 5,
    Outcome.CONNECT_FAILED: 6,
    Outcome.SERVER_STALLED: 7,
    Outcome.CLIENT_STALLED: 8,
    Outcome.SERVER_FAILED: 9,
    Outcome.CLIENT_FAILED: 10,
    Outcome.SERVER_UNRESPONSIVE: 11,
}
"""1 stays an uncaught error and 2 a usage error (WB-ONE-STATUS)."""


@dataclass(frozen=True, slots=True)
class ChannelEnd:
    """One end of one bridge.

    `detail` is a sentence for a person; programs go by the outcome or the status.
    """

    outcome: Outcome
    detail: str

    @property
    def exit_status(self) -> int:
        """What the process exits with."""
        return EXIT_STATUS[self.outcome]

    def line(self) -> bytes:
        """What goes on stderr: one JSON line, or nothing when the client went away."""
        return end_line(self.outcome, self.exit_status, self.detail) if self.exit_status else b""


def end_line(outcome: str, exit_status: int, detail: str) -> bytes:
    """`{"outcome", "exit_status", "detail"}` as one line of UTF-8, however strange a path `detail` holds."""
    import json

    detail = detail.encode("utf-8", "replace").decode()[:MAX_DETAIL_CHARACTERS]
    found = {"outcome": outcome, "exit_status": exit_status, "detail": detail}
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
