"""Whole messages to and from a run's server, for asyncio; over any stream of JSON lines here.

A channel reads only when asked, so a reader that is slow holds back its own server connection and nothing else
(frontend reference 8.2).
"""

import asyncio
import contextlib
import socket
from collections import deque
from collections.abc import Callable
from typing import Protocol

from hopline.errors import ConnectFailed, HoplineError, RunGone, Unavailable
from hopline.wire.client.streams import MAX_LINE_BYTES
from hopline.wire.jsonl import LineSplitter

READ_BYTES = 1 << 20

WRITE_SECONDS = 40.0
"""How long the server may take no byte of a request (reference 11.1, status 7)."""

CLOSE_SECONDS = 2.0


class Channel(Protocol):
    """One connection of one role."""

    async def send(self, message: bytes) -> None:
        """Send one message without its newline. Raises RunGone when the server has left, Unavailable when stuck."""

    async def receive(self) -> bytes | None:
        """The next message; None at the end. Raises ConnectFailed for one over the bound."""

    @property
    def ended(self) -> bool:
        """Whether the server is known to have left."""

    async def explain(self) -> HoplineError | None:
        """Why it ended, when something is known; it may take a moment."""

    async def close(self) -> None:
        """Hang up. Safe to call at any time."""


class LineChannel:
    """JSON lines over a connected socket.

    Args:
        reader, writer: its ends, owned from now on.
        peer: what is at the other end, for messages.
        explain: tells why it ended; called in a thread.
        afterwards: called in a thread once it is closed.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        peer: str,
        explain: Callable[[], HoplineError | None] | None = None,
        afterwards: Callable[[], None] | None = None,
    ) -> None:
        self.peer = peer
        self._explain = explain
        self._reader = reader
        self._writer = writer
        self._afterwards = afterwards
        self._splitter = LineSplitter(MAX_LINE_BYTES)
        self._lines: deque[bytes | None] = deque()

    @classmethod
    async def over(
        cls,
        connected: socket.socket,
        peer: str,
        explain: Callable[[], HoplineError | None] | None = None,
        afterwards: Callable[[], None] | None = None,
    ) -> "LineChannel":
        """A channel over `connected`, which is taken over."""
        connected.setblocking(False)
        reader, writer = await asyncio.open_unix_connection(sock=connected, limit=READ_BYTES)
        return cls(reader, writer, peer, explain, afterwards)

    @property
    def ended(self) -> bool:
        """See Channel."""
        return self._reader.at_eof() or self._writer.is_closing()

    async def send(self, message: bytes) -> None:
        """See Channel."""
        try:
            self._writer.write(message + b"\n")
            async with asyncio.timeout(WRITE_SECONDS):
                await self._writer.drain()
        except TimeoutError:
            raise Unavailable(f"{self.peer} takes no requests; look at it: hopline doctor") from None
        except OSError as error:
            raise RunGone(f"{self.peer} has left.") from error

    async def receive(self) -> bytes | None:
        """See Channel."""
        while not self._lines:
            try:
                data = await self._reader.read(READ_BYTES)
            except OSError:
                return None
            if not data:
                return None
            self._lines.extend(self._splitter.receive(data))
        line = self._lines.popleft()
        if line is None:
            raise ConnectFailed(f"{self.peer} sent a line of more than {MAX_LINE_BYTES} bytes.")
        return line

    async def explain(self) -> HoplineError | None:
        """See Channel."""
        return None if self._explain is None else await asyncio.to_thread(self._explain)

    async def close(self) -> None:
        """See Channel."""
        self._writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._writer.wait_closed()
        if self._afterwards is not None:
            afterwards, self._afterwards = self._afterwards, None
            await asyncio.to_thread(afterwards)
