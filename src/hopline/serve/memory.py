"""The in-memory carrier: a duplex of whole messages between a client and the run in one process, no socket between.

The same session machine and the same back-pressure as the Unix carrier; a message carries no newline (WP-NEWLINE). For
the gateway inside a run's own process, and for tests.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from hopline.errors import Unavailable
from hopline.ids import new_store_id
from hopline.wire.client.session import ClientSession, Received, Rejected

HIGH_WATER_BYTES = 256 * 1024
LOW_WATER_BYTES = 32 * 1024
"""What may wait for the client before it counts as stalled, and down to what it must take; as on the Unix carrier."""

MAX_CONNECTIONS = 500

log = logging.getLogger(__name__)


class MemoryChannel:
    """The run's end of one duplex (`hopline.run.channel.Channel`); `client` is the other."""

    def __init__(self, over: Callable[["MemoryChannel"], None]) -> None:
        self.session = ClientSession(new_store_id)
        self.client = MemoryClient(self)
        self.on_writable: Callable[[], None] = lambda: None
        """Called when a stall ends."""
        self._tell_over = over
        self._messages: deque[bytes] = deque()
        self._unsent = 0
        self._in_hand = 0
        self._stalled = False
        self._closing = False
        self._over = False
        self._news = asyncio.Event()
        self._drained = asyncio.Event()
        self._drained.set()

    async def next(self) -> Received | Rejected | None:
        """The next request or refusal; None when the peer is gone or has ended and everything was answered."""
        while not self._over:
            item = self.session.take()
            self.client.let_send()
            if item is not None:
                return item
            if self.session.done:
                return None
            self._news.clear()
            await self._news.wait()
        return None

    async def send(self, message: bytes) -> None:
        """Give one message and wait until the peer has taken enough for the next."""
        self.push(message)
        await self._drained.wait()

    def answered(self) -> None:
        """The request that `next` gave has its Response: the next may come."""
        if not self._over:
            self.session.answered()

    def stalled(self) -> bool:
        """Whether the peer takes nothing at the moment: do not `push`."""
        return self._stalled

    def push(self, message: bytes) -> None:
        """Give one message without waiting; look at `stalled` before the next."""
        if self._over or self._closing:
            return
        self._messages.append(message)
        self._unsent += len(message)
        if self._unsent > HIGH_WATER_BYTES:
            self._stalled = True
            self._drained.clear()
        self.client.tell()

    def unsent_bytes(self) -> int:
        """What waits for the peer; the message it took last counts until it comes for the next."""
        return self._unsent + self._in_hand

    async def gone(self) -> None:
        """Wait until the peer has left: its end of a stream is its leaving."""
        while not (self._over or self.session.ended):
            self._news.clear()
            await self._news.wait()

    def close(self) -> None:
        """End the connection once what is queued has been taken."""
        self._closing = True
        if not self._messages:
            self.abort()
        self.client.tell()

    def abort(self) -> None:
        """End the connection now; what is queued is dropped."""
        if self._over:
            return
        self._over = True
        self._messages.clear()
        self._unsent = self._in_hand = 0
        self._stalled = False
        self.session.close()
        self._drained.set()
        self._news.set()
        self.client.tell()
        self._tell_over(self)

    @property
    def over(self) -> bool:
        """Whether nothing comes any more."""
        return self._over

    def hear(self, message: bytes) -> None:
        """The client sent this."""
        self.session.receive_message(message)
        self._news.set()

    def hear_end(self) -> None:
        """The client sends nothing more."""
        self.session.receive_eof()
        self._news.set()

    def take(self) -> bytes | None:
        """The next message for the client; None when there is none now."""
        self._in_hand = 0
        if not self._messages:
            return None
        message = self._messages.popleft()
        self._unsent -= len(message)
        self._in_hand = len(message)
        if self._closing and not self._messages:
            self.abort()
        elif self._stalled and self._unsent <= LOW_WATER_BYTES:
            self._stalled = False
            self._drained.set()
            self.on_writable()
        return message


class MemoryClient:
    """The client's end of a duplex (`hopline.serve.gateway.upstream.Upstream`)."""

    def __init__(self, channel: MemoryChannel) -> None:
        self._channel = channel
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    async def send(self, message: bytes) -> None:
        """Give the run one message; waits while the run takes nothing. Raises ConnectionError when it has gone."""
        if self._channel.over:
            raise ConnectionResetError("the run has gone")
        self._channel.hear(message)
        if self._channel.session.full:
            self._room.clear()
        await self._room.wait()

    async def receive(self) -> bytes | None:
        """The run's next message; None when it has ended the connection and everything was given."""
        while (message := self._channel.take()) is None:
            if self._channel.over:
                return None
            self._news.clear()
            await self._news.wait()
        return message

    def end(self) -> None:
        """Say that nothing more comes; what was asked is still answered."""
        self._channel.hear_end()

    def close(self) -> None:
        """End the connection. Safe to call at any time."""
        self._channel.abort()

    def tell(self) -> None:
        """For the channel: there is a message, or the end."""
        self._news.set()
        if self._channel.over:
            self._room.set()

    def let_send(self) -> None:
        """For the channel: a request was taken."""
        if not self._channel.session.full:
            self._room.set()


class MemoryListener:
    """Makes duplexes and gives the run's end of each to `serve`, in a task of `tasks`.

    Args:
        serve: owns one connection; what it raises ends that connection.
        tasks: the group that the connections' tasks belong to.
    """

    def __init__(self, serve: Callable[[MemoryChannel], Awaitable[None]], tasks: asyncio.TaskGroup) -> None:
        self._serve = serve
        self._tasks = tasks
        self._channels: set[MemoryChannel] = set()
        self._stopped = False

    @property
    def count(self) -> int:
        """Connections at present."""
        return len(self._channels)

    def connect(self) -> MemoryClient:
        """A new connection; its client's end. Raises Unavailable when there are too many, or after `stop`."""
        if self._stopped:
            raise Unavailable("the run is leaving; reopen it: hopline attach")
        if len(self._channels) >= MAX_CONNECTIONS:
            raise Unavailable(f"this run serves {MAX_CONNECTIONS} connections in its process; close one.")
        channel = MemoryChannel(self._channels.discard)
        self._channels.add(channel)
        self._tasks.create_task(self._own(channel))
        return channel.client

    def stop(self) -> None:
        """Accept nobody more."""
        self._stopped = True

    def hang_up(self) -> None:
        """End every connection now; what was not taken is dropped."""
        for channel in list(self._channels):
            channel.abort()

    async def _own(self, channel: MemoryChannel) -> None:
        try:
            await self._serve(channel)
        except Exception:  # the top of a connection's task: one connection ends, the run goes on
            log.exception("a connection failed")
            channel.abort()
        else:
            channel.close()
