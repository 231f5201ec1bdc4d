"""What was sent to and received from other machines, one small file a session. Blocking; called in threads."""

import os
import secrets
from pathlib import Path
from typing import TypeVar

import msgspec

_Entry = TypeVar("_Entry", bound=msgspec.Struct)

MAX_ENTRIES = 10_000
"""How many of each are listed."""


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """The sender's record of one session: `transfers/<session_id>.json`."""

    session_id: str
    peer: str
    cwd: str
    bytes: int
    digest: str
    state: str
    """`sending`, then `sent` until the receiver says that it has it, then `received`; or `refused` by it."""
    sent_at: str
    received_at: str | None = None
    remote_path: str | None = None
    resume: str | None = None


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """The receiver's: `transfers/received/<session_id>.json`."""

    session_id: str
    peer: str
    cwd: str
    bytes: int
    digest: str
    received_at: str
    path: str
    resume: str


class Ledger:
    """Both kinds of record, under one private folder.

    Args:
        folder: made already.
    """

    def __init__(self, folder: Path) -> None:
        self._sent = folder
        self._received = folder / "received"

    def record_sent(self, entry: Sent) -> None:
        """Replace the record of a session that was sent. Raises OSError."""
        _write(self._sent, entry.session_id, entry)

    def record_received(self, entry: Received) -> None:
        """Replace the record of a session that was received. Raises OSError."""
        self._received.mkdir(mode=0o700, exist_ok=True)
        _write(self._received, entry.session_id, entry)

    def sent(self, session_id: str) -> Sent | None:
        """The record of a session that was sent; None when there is none that can be read."""
        return _read(self._sent / f"{session_id}.json", Sent)

    def all_sent(self) -> list[Sent]:
        """Oldest first. A record that cannot be read is left out."""
        return sorted(_all(self._sent, Sent), key=lambda entry: entry.sent_at)

    def all_received(self) -> list[Received]:
        """Oldest first. A record that cannot be read is left out."""
        return sorted(_all(self._received, Received), key=lambda entry: entry.received_at)


def _write(folder: Path, name: str, entry: msgspec.Struct) -> None:
    temporary = folder / f".{name}.{secrets.token_hex(4)}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(entry) + b"\n")
        temporary.replace(folder / f"{name}.json")
    finally:
        temporary.unlink(missing_ok=True)


def _all(folder: Path, kind: type[_Entry]) -> list[_Entry]:
    try:
        newest = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)[:MAX_ENTRIES]
    except FileNotFoundError:
        return []
    return [entry for path in newest if (entry := _read(path, kind)) is not None]


def _read(path: Path, kind: type[_Entry]) -> _Entry | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError):
        return None
