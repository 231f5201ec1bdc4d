"""What is asked of the hub about conversations, and what it answers (docs/wire/hub.md, "Sessions")."""

import msgspec

MAX_SEND_BYTES = 1 << 30
"""The longest transcript that is sent when nothing else is asked for."""


class SendSession(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`session.send`: hand one transcript to a peer. Answered by SessionSent, with SendProgress before it."""

    peer: str
    session_id: str
    transcript: str
    """Absolute path of a file that the hub can read."""
    cwd: str
    """Where the conversation took place."""
    remote_cwd: str = ""
    """Where it shall go on over there; "" for the same."""
    max_bytes: int
    """A longer transcript is refused."""


class SendProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a transfer is."""

    state: str
    """hashing, connecting, sending, confirming; waiting before another attempt."""
    done: int
    size: int
    """Bytes of the transcript."""


class SessionSent(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a transfer."""

    session_id: str
    peer: str
    state: str
    """`received` when the receiver said so; `sent` when it did not answer in time."""
    cwd: str
    """Where it was placed for."""
    bytes: int
    digest: str
    """SHA-256 of the transcript, in hex."""
    bytes_sent: int
    """Less than `bytes` when the receiver had some of it."""
    seconds: float
    remote_path: str | None = None
    resume: str | None = None
    """The command that resumes it on the receiver."""


class ListSessions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`session.ls`. Answered by SessionList."""


class ListedSession(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation that was sent or received."""

    session_id: str
    peer: str
    direction: str
    """`sent` or `received`: seen from here."""
    state: str
    """`received` when it is known to have arrived, `sent` when that is not known. Of what was sent also `sending`,
    `cut` (it goes on when it is sent again) and `refused`."""
    cwd: str
    bytes: int
    at: str
    """When it was sent, or when it arrived here."""
    path: str | None = None
    resume: str | None = None


class SessionList(msgspec.Struct, frozen=True, kw_only=True):
    """The newest transfers, oldest first."""

    sessions: list[ListedSession]
    dropped: int = 0
    """How many older ones did not fit."""
