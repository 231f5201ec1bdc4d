"""The hub's room for conversations: takes them, sends them, and lists both."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import msgspec

from hopline.fleet.ports import Links, Operation, Progress
from hopline.fleet.transfer.intake import Intake
from hopline.fleet.transfer.ledger import Ledger, Received, Sent
from hopline.fleet.transfer.receiver import Receiver
from hopline.fleet.transfer.sender import Sender
from hopline.settings import private_folder
from hopline.wire.hub.sessions import ListedSession, ListSessions, SendSession, SessionList, SessionSent

FOLDER = "transfers"
"""Under the fleet's folder."""

MAX_LISTED_BYTES = 900_000
"""Of one listing, so that it fits into a control line."""


class TransferRoom:
    """Conversations between this hub and its peers (hopline.fleet.ports.Room).

    Args:
        fleet_folder: private and made.
        home: of the person, under which transcripts are placed.

    Raises ConnectDenied or Unavailable when its own folder cannot be had.
    """

    def __init__(self, fleet_folder: Path, home: Path) -> None:
        folder = private_folder(fleet_folder / FOLDER)
        self._ledger = Ledger(folder)
        self._receiver = Receiver(Intake(folder, self._ledger, home))
        self._sender = Sender(self._ledger)

    def attach(self, links: Links) -> None:
        """See Room."""
        self._receiver.attach(links)
        self._sender.attach(links)

    def operations(self) -> Mapping[str, Operation]:
        """See Room."""
        return {
            "session.send": Operation(SendSession, self._send),
            "session.ls": Operation(ListSessions, self._list),
        }

    async def run(self) -> None:
        """See Room."""
        try:
            await asyncio.Event().wait()
        finally:
            self._receiver.close()

    async def _send(self, asked: SendSession, progress: Progress) -> SessionSent:
        return await self._sender.send(asked, progress)

    async def _list(self, _asked: ListSessions, _progress: Progress) -> SessionList:
        return await asyncio.to_thread(self._listing)

    def _listing(self) -> SessionList:
        sent = (_sent(entry, self._sender.state(entry)) for entry in self._ledger.all_sent())
        found = [*sent, *map(_received, self._ledger.all_received())]
        found.sort(key=lambda session: session.at)
        size, kept = 0, len(found)
        while kept and (size := size + len(msgspec.json.encode(found[kept - 1])) + 1) <= MAX_LISTED_BYTES:
            kept -= 1
        return SessionList(sessions=found[kept:], dropped=kept)


def _sent(entry: Sent, state: str) -> ListedSession:
    return ListedSession(
        session_id=entry.session_id,
        peer=entry.peer,
        direction="sent",
        state=state,
        cwd=entry.cwd,
        bytes=entry.bytes,
        at=entry.sent_at,
        path=entry.remote_path,
        resume=entry.resume,
    )


def _received(entry: Received) -> ListedSession:
    return ListedSession(
        session_id=entry.session_id,
        peer=entry.peer,
        direction="received",
        state="received",
        cwd=entry.cwd,
        bytes=entry.bytes,
        at=entry.received_at,
        path=entry.path,
        resume=entry.resume,
    )
