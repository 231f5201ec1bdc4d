"""The in-memory carrier: a duplex of whole messages between a client and the run in one process, no socket between.

The same session machine and the same back-pressure as the Unix carrier; a message carries no newline (WP-NEWLINE). For
the gateway inside a run's own process, and for tests.
"""

import asyncio
from collections import deque
from collections.abc import Callable

from hopline.errors import Unavailable
from hopline.serve.channel import HIGH_WATER_BYTES, LOW_WATER_BYTES, Connections, SessionChannel
from hopline.serve.gateway.limits import GatewayLimits

MAX_CONNECTIONS = GatewayLimits().websockets
"""Each WebSocket of the gateway inside the run's process is one."""


class MemoryChannel(SessionChannel):
    """The run's end of one duplex; `client` is the other."""

    def __init__(self, over: Callable[["MemoryChannel"], None]) -> None:
        super().__init__()
        self.client = MemoryClient(self)
        self._tell_over = over
        self._messages: deque[bytes] = deque()
        self._unsent = 0
        self._in_hand = 0
        self._closing = False

    def push(self, message: bytes) -> None:
        """Give one message without waiting; look at `stalled` before the next."""
        if self._over or self._closing:
            return
        self._messages.append(message)
        self._unsent += len(message)
        if self._unsent > HIGH_WATER_BYTES:
            self._stall()
        self.client.tell()

    def unsent_bytes(self) -> int:
        """What waits for the peer; the message it took last counts until it comes for the next."""
        return self._unsent + self._in_hand

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
        self._messages.clear()
        self._unsent = self._in_hand = 0
        self._end()
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
            self._flow()
        return message

    def _let_send(self) -> None:
        self.client.let_send()


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


class MemoryListener(Connections[MemoryChannel]):
    """Makes duplexes and serves the run's end of each."""

    _stopped = False

    def connect(self) -> MemoryClient:
        """A new connection; its client's end. Raises Unavailable when there are too many, or after `stop`."""
        if self._stopped:
            raise Unavailable("the run is leaving; reopen it: hopline attach")
        if len(self._channels) >= MAX_CONNECTIONS:
            raise Unavailable(f"this run serves {MAX_CONNECTIONS} connections in its process; close one.")
        channel = MemoryChannel(self._channels.discard)
        self._begin(channel)
        return channel.client

    def stop(self) -> None:
        """Accept nobody more."""
        self._stopped = True
