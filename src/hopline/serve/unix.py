"""The Unix carrier: JSON lines over a listening socket. Framing, back-pressure and closing; no message is looked at.

Limits are in docs/wire/client.md, "Limits". A stalled peer holds up to one frame here and nothing else.
"""

import asyncio
import contextlib
import resource
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

from hopline.ids import new_store_id
from hopline.serve.channel import HIGH_WATER_BYTES, LOW_WATER_BYTES, Connections, SessionChannel
from hopline.wire.client.responses import Code, diagnosed, encode_response, failed

MAX_CONNECTIONS = 1200
"""Connections served at a time; one more is told so and closed."""

RESERVED_DESCRIPTORS = 128
"""Of those that this process may have, what is left to everything else; fewer connections are served where the limit is
low."""

BACKLOG = 128


class UnixChannel(SessionChannel, asyncio.Protocol):
    """One accepted connection and its session.

    Args:
        listener: who counts and ends connections.
        write_deadline_seconds: how long the peer may take nothing while something waits for it; 0 for ever.
    """

    def __init__(self, listener: "UnixListener", write_deadline_seconds: float = 0.0) -> None:
        super().__init__()
        self._listener = listener
        self._deadline_seconds = write_deadline_seconds
        self._deadline: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None

    def push(self, message: bytes) -> None:
        """Write one message without waiting; look at `stalled` before the next."""
        if self._transport is not None and not self._over:
            # Not writelines: in Python 3.12.0-3.12.7 and 3.13.0 it never calls pause_writing: nothing would bound us.
            self._transport.write(self._listener.line_of(message))

    def unsent_bytes(self) -> int:
        """What waits for the peer in this process."""
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

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
        self._end()
        self._listener.lost(self)

    def pause_writing(self) -> None:
        """The peer is slow."""
        self._stall()
        self._time(self.unsent_bytes())

    def resume_writing(self) -> None:
        """The peer has caught up."""
        self._stop_timing()
        self._flow()

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

    def _let_send(self) -> None:
        if self._transport is not None and not self.session.full and not self._transport.is_closing():
            self._transport.resume_reading()


class UnixListener(Connections[UnixChannel]):
    """Accepts peers on a bound socket.

    Args:
        serve: see Connections.
        tasks: see Connections.
        write_deadline_seconds: see UnixChannel.
    """

    def __init__(
        self,
        serve: Callable[[UnixChannel], Awaitable[None]],
        tasks: asyncio.TaskGroup,
        write_deadline_seconds: float = 0.0,
    ) -> None:
        super().__init__(serve, tasks)
        self._write_deadline_seconds = write_deadline_seconds
        self._server: asyncio.Server | None = None
        self._message = self._line = b""
        self.count_changed: Callable[[], None] = lambda: None
        """Called when a peer has come or gone."""

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
        self._begin(channel)
        self.count_changed()

    def lost(self, channel: UnixChannel) -> None:
        """A peer has gone."""
        self._channels.discard(channel)
        self.count_changed()

    def stop(self) -> None:
        """Accept nobody more."""
        if self._server is not None:
            self._server.close()


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
