"""How the gateway reaches a run: a duplex of whole messages, dialled by run id through whatever carrier is at hand.

Reading from a run stops while its peer is slow (WG-STALL).
"""

import asyncio
import socket
import struct
from collections import deque
from typing import Protocol, cast

from hopline.errors import HoplineError
from hopline.serve.gateway.limits import GatewayLimits
from hopline.wire.jsonl import LineSplitter


class MessageTooLong(HoplineError):
    """The run sent a message longer than the gateway passes on."""


class Upstream(Protocol):
    """One connection to a run. A message is whole and carries no newline (WP-NEWLINE)."""

    async def send(self, message: bytes) -> None:
        """Give the run one message; waits while the run takes nothing. Raises ConnectionError when it has gone."""

    async def receive(self) -> bytes | None:
        """The run's next message; None when it has ended the connection and everything was given. Raises
        MessageTooLong."""

    def close(self) -> None:
        """End the connection: the run reads an ordinary end of stream. Safe to call at any time."""


class Dialer(Protocol):
    """Connects to runs."""

    async def dial(self, run_id: str) -> Upstream:
        """A connection to the run. Raises RunGone, or another HoplineError when it cannot be had."""


class LineUpstream(asyncio.Protocol):
    """An Upstream over a stream of JSON lines: a run's Unix socket.

    Args:
        limits: how long a message may be, and how much is held for a slow peer.
    """

    def __init__(self, limits: GatewayLimits) -> None:
        self._max_held = limits.upstream_buffer_bytes
        self._max_line = limits.response_bytes
        self._splitter = LineSplitter(limits.response_bytes)
        self._messages: deque[bytes | None] = deque()
        self._held = 0
        self._transport: asyncio.Transport | None = None
        self._news = asyncio.Event()
        self._writable = asyncio.Event()
        self._over = False

    async def send(self, message: bytes) -> None:
        """See Upstream. A newline inside the message becomes a tab: both are white space between JSON tokens, and
        neither may stand inside a string."""
        if self._transport is None or self._over:
            raise ConnectionResetError("the run has gone")
        self._transport.write(message.replace(b"\n", b"\t") + b"\n")
        await self._writable.wait()

    async def receive(self) -> bytes | None:
        """See Upstream."""
        while not self._messages:
            if self._over:
                return None
            self._news.clear()
            await self._news.wait()
        message = self._messages.popleft()
        if message is None:
            raise MessageTooLong(f"the run sent a message longer than {self._max_line} bytes")
        self._held -= len(message)
        if self._held <= self._max_held // 2 and self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()
        return message

    def close(self) -> None:
        """See Upstream."""
        if self._transport is not None:
            self._transport.close()

    def owner(self) -> int:
        """The user whose process serves the run."""
        assert self._transport is not None
        peer: socket.socket = self._transport.get_extra_info("socket")
        credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        uid: int = struct.unpack("3i", credentials)[1]
        return uid

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The run has accepted."""
        self._transport = cast(asyncio.Transport, transport)
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        """Bytes from the run, cut anyhow."""
        for line in self._splitter.receive(data):
            self._messages.append(line)
            self._held += 0 if line is None else len(line)
        if self._held > self._max_held and self._transport is not None:
            self._transport.pause_reading()
        self._news.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """The run has ended the connection; an unfinished line is dropped."""
        self._over = True
        self._writable.set()
        self._news.set()

    def pause_writing(self) -> None:
        """The run takes nothing at the moment."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """The run takes more."""
        self._writable.set()
