"""One WebSocket peer: whole text messages in and out, each write within its deadline, silence noticed by pings.

Past a deadline the connection is aborted and never closed, because a close frame is a write as well and would wait
where the first one did (WG-ABORT, WP-DISCONNECT; frontend reference 8.1 and 8.2).
"""

import asyncio
import contextlib
import socket
import struct

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from hopline.serve.gateway.limits import WebSocketLimits

AT_ONCE = struct.pack("ii", 1, 0)
"""Linger for no time: a reset. Else the system would keep megabytes for a peer that does not read, after its end."""


class PeerGone(Exception):
    """The peer has closed, was cut off, or was aborted; nothing more can be said to it."""


class NotText(Exception):
    """The peer sent a binary message."""


class WebSocketCarrier:
    """Carries the messages of one accepted connection.

    Args:
        connection: the handshake is over; its own keepalive is off.
        limits: its bounds.
    """

    def __init__(self, connection: ServerConnection, limits: WebSocketLimits) -> None:
        self._connection = connection
        self._limits = limits
        self._heard_at = connection.loop.time()

    async def receive(self) -> bytes:
        """The next text message as UTF-8. Raises PeerGone, or NotText for a binary one."""
        try:
            message = await self._connection.recv()
        except ConnectionClosed as closed:
            raise PeerGone(str(closed)) from None
        self._heard_at = self._connection.loop.time()
        if isinstance(message, str):
            return message.encode()
        raise NotText

    async def send(self, message: bytes) -> None:
        """Send one text message and wait until the peer has room for the next. Raises PeerGone."""
        try:
            async with asyncio.timeout(self._limits.write_deadline_seconds):
                await self._connection.send(message, text=True)
        except TimeoutError:
            self.abort()
            raise PeerGone("it took nothing within the write deadline") from None
        except ConnectionClosed as closed:
            raise PeerGone(str(closed)) from None

    async def keep_alive(self) -> None:
        """Ping whenever the peer has been silent; abort it when it does not answer. Returns once it is gone."""
        limits, loop = self._limits, self._connection.loop
        while True:
            await asyncio.sleep(max(0.0, self._heard_at + limits.ping_interval_seconds - loop.time()))
            if loop.time() < self._heard_at + limits.ping_interval_seconds:
                continue
            try:
                async with asyncio.timeout(limits.write_deadline_seconds):
                    pong = await self._connection.ping()
                async with asyncio.timeout(limits.ping_timeout_seconds):
                    await pong
            except TimeoutError:
                self.abort()
                return
            except ConnectionClosed:
                return
            self._heard_at = loop.time()

    async def close(self) -> None:
        """The ordinary close; past its deadline the connection is aborted. Safe to call at any time."""
        try:
            async with asyncio.timeout(self._limits.write_deadline_seconds):
                await self._connection.close()
        except TimeoutError:
            self.abort()

    def abort(self) -> None:
        """End the connection now; what is queued is dropped, here and in the system, and no close frame is sent."""
        transport = self._connection.transport
        connected: socket.socket = transport.get_extra_info("socket")
        with contextlib.suppress(OSError):
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        transport.abort()
