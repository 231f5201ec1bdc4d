"""The Unix carrier: JSON lines over a listening socket. Framing, back-pressure and closing; no message is looked at.

Limits are in docs/wire/client.md, "Limits". A stalled peer holds up to one frame here and nothing else.
"""

import asyncio
import contextlib
import logging
import resource
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

from hopline.ids import new_store_id
from hopline.wire.client.responses import Code, diagnosed, encode_response, failed
from hopline.wire.client.session import ClientSession, Received, Rejected

MAX_CONNECTIONS = 1200
"""Connections served at a time; one more is told so and closed."""

RESERVED_DESCRIPTORS = 128
"""Of those that this process may have, what is left to everything else; fewer connections are served where the limit is
low."""

HIGH_WATER_BYTES = 256 * 1024
LOW_WATER_BYTES = 32 * 1024
"""The send buffer past which, and down to which, a peer counts as stalled; the socket's own buffer comes on top."""

BACKLOG = 128

log = logging.getLogger(__name__)


class UnixChannel(asyncio.Protocol):
    """One accepted connection and its session.

    Args:
        listener: who counts and ends connections.
        write_deadline_seconds: how long the peer may take nothing while something waits for it; 0 for ever.
    """

    def __init__(self, listener: "UnixListener", write_deadline_seconds: float = 0.0) -> None:
        self.session = ClientSession(new_store_id)
        self._stalled = False
        self.on_writable: Callable[[], None] = lambda: None
        """Called when a stall ends."""
        self._listener = listener
        self._deadline_seconds = write_deadline_seconds
        self._deadline: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None
        self._news = asyncio.Event()
        self._drained = asyncio.Event()
        self._drained.set()
        self._over = asyncio.Event()

    async def next(self) -> Received | Rejected | None:
        """The next request or refusal; None when the peer is gone or has ended and everything was answered."""
        while not self._over.is_set():
            item = self.session.take()
            self._let_read()
            if item is not None:
                return item
            if self.session.done:
                return None
            self._news.clear()
            await self._news.wait()
        return None

    async def send(self, message: bytes) -> None:
        """Write one message and wait until the peer has taken enough for the next."""
        self.push(message)
        await self._drained.wait()

    def answered(self) -> None:
        """The request that `next` gave has its Response: the next may come."""
        if not self._over.is_set():
            self.session.answered()

    def stalled(self) -> bool:
        """Whether the peer takes nothing at the moment: do not `push`."""
        return self._stalled

    def push(self, message: bytes) -> None:
        """Write one message without waiting; look at `stalled` before the next."""
        if self._transport is not None and not self._over.is_set():
            # Not writelines: in Python 3.12.0-3.12.7 and 3.13.0 it never calls pause_writing: nothing would bound us.
            self._transport.write(self._listener.line_of(message))

    def unsent_bytes(self) -> int:
        """What waits for the peer in this process."""
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    async def gone(self) -> None:
        """Wait until the peer has left: its end of a stream is its leaving."""
        while not (self._over.is_set() or self.session.ended):
            self._news.clear()
            await self._news.wait()

    def close(self) -> None:
        """End the connection once what is queued has been sent."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """End the connection now; what is queued is dropped."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A peer has connected."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=HIGH_WATER_BYTES, low=LOW_WATER_BYTES)
        self._listener.connected(self)

    def data_received(self, data: bytes) -> None:
        """Bytes from the peer, cut anyhow."""
        self.session.receive(data)
        if self.session.full and self._transport is not None:
            self._transport.pause_reading()
        self._news.set()

    def eof_received(self) -> bool:
        """The peer sends nothing more; it may still read."""
        self.session.receive_eof()
        self._news.set()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._stop_timing()
        self.session.close()
        self._over.set()
        self._drained.set()
        self._news.set()
        self._listener.lost(self)

    def pause_writing(self) -> None:
        """The peer is slow."""
        self._stalled = True
        self._drained.clear()
        self._time(self.unsent_bytes())

    def resume_writing(self) -> None:
        """The peer has caught up."""
        self._stalled = False
        self._stop_timing()
        self._drained.set()
        self.on_writable()

    def _time(self, unsent: int) -> None:
        if self._deadline_seconds:
            loop = asyncio.get_running_loop()
            self._deadline = loop.call_later(self._deadline_seconds, self._overdue, unsent)

    def _overdue(self, unsent: int) -> None:
        """A peer that has taken something since gets as long again."""
        if (now := self.unsent_bytes()) < unsent:
            self._time(now)
        else:
            self.abort()

    def _stop_timing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _let_read(self) -> None:
        if self._transport is not None and not self.session.full and not self._transport.is_closing():
            self._transport.resume_reading()


Serve = Callable[[UnixChannel], Awaitable[None]]


class UnixListener:
    """Accepts peers on a bound socket and gives each to `serve`, in a task of `tasks`.

    Args:
        serve: owns one connection; it may raise nothing but what is logged here.
        tasks: the group that the connections' tasks belong to.
        write_deadline_seconds: see UnixChannel.
    """

    def __init__(self, serve: Serve, tasks: asyncio.TaskGroup, write_deadline_seconds: float = 0.0) -> None:
        self._serve = serve
        self._tasks = tasks
        self._write_deadline_seconds = write_deadline_seconds
        self._channels: set[UnixChannel] = set()
        self._server: asyncio.Server | None = None
        self._message = self._line = b""
        self.count_changed: Callable[[], None] = lambda: None
        """Called when a peer has come or gone."""

    @property
    def count(self) -> int:
        """Connections at present."""
        return len(self._channels)

    def line_of(self, message: bytes) -> bytes:
        """The message with its newline; made once for peers that are given the same object in one turn of the loop."""
        if message is not self._message:
            self._message, self._line = message, message + b"\n"
            asyncio.get_running_loop().call_soon(self._forget_line)
        return self._line

    def _forget_line(self) -> None:
        self._message = self._line = b""

    async def listen(self, bound: socket.socket) -> None:
        """Start to accept, here instead of where it was. `bound` listens, does not block, and is owned from now on."""
        self.stop()
        loop = asyncio.get_running_loop()
        self._server = await loop.create_unix_server(
            lambda: UnixChannel(self, self._write_deadline_seconds), sock=bound, backlog=BACKLOG
        )

    def connected(self, channel: UnixChannel) -> None:
        """A peer has come."""
        if len(self._channels) >= (most := most_connections()):
            _refuse(channel, most)
            return
        self._channels.add(channel)
        self._tasks.create_task(self._own(channel))
        self.count_changed()

    def lost(self, channel: UnixChannel) -> None:
        """A peer has gone."""
        self._channels.discard(channel)
        self.count_changed()

    def stop(self) -> None:
        """Accept nobody more."""
        if self._server is not None:
            self._server.close()

    def hang_up(self) -> None:
        """End every connection now; what could not be sent is dropped."""
        for channel in list(self._channels):
            channel.abort()

    async def _own(self, channel: UnixChannel) -> None:
        try:
            await self._serve(channel)
        except Exception:  # the top of a connection's task: one connection ends, the run goes on
            log.exception("a connection failed")
            channel.abort()
        else:
            channel.close()


def most_connections() -> int:
    """How many this process serves at a time."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return min(MAX_CONNECTIONS, max(soft // 2, soft - RESERVED_DESCRIPTORS))


def _refuse(channel: UnixChannel, most: int) -> None:
    from hopline.clock import rfc3339

    diagnostic = diagnosed(
        new_store_id(),
        Code.TOO_MANY_CONNECTIONS,
        f"This run serves {most} connections at a time, and as many are open.",
        hint="Close one and try again.",
        scope="transport",
        retryability="manual",
    )
    channel.push(encode_response(failed("unknown", "", rfc3339(), diagnostic)))
    channel.close()


def bind(path: Path) -> socket.socket:
    """A listening socket at `path`, 0600 in a folder that is private already; a stale file there is removed first.

    The caller holds the lock that makes the file stale. Raises OSError.
    """
    path.unlink(missing_ok=True)
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        bound.setblocking(False)
        bound.bind(str(path))
        path.chmod(0o600)
        bound.listen(BACKLOG)
    except OSError:
        bound.close()
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        raise
    return bound
