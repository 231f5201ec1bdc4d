"""What every carrier's end of a connection to the run has: a session, back-pressure, and a task that owns it."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from hopline.ids import new_store_id
from hopline.wire.client.session import ClientSession, Received, Rejected

HIGH_WATER_BYTES = 256 * 1024
LOW_WATER_BYTES = 32 * 1024
"""What waits for a peer past which, and down to which, it counts as stalled; a system's own buffer comes on top."""

log = logging.getLogger(__name__)


class SessionChannel(ABC):
    """The run's end of one connection (`hopline.run.channel.Channel`); a carrier moves its messages."""

    def __init__(self) -> None:
        self.session = ClientSession(new_store_id)
        self.on_writable: Callable[[], None] = lambda: None
        """Called when a stall ends."""
        self._over = False
        self._stalled = False
        self._news = asyncio.Event()
        self._drained = asyncio.Event()
        self._drained.set()

    async def next(self) -> Received | Rejected | None:
        """The next request or refusal; None when the peer is gone or has ended and everything was answered."""
        while not self._over:
            item = self.session.take()
            self._let_send()
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

    @abstractmethod
    def push(self, message: bytes) -> None:
        """Give one message without waiting; look at `stalled` before the next."""

    @abstractmethod
    def unsent_bytes(self) -> int:
        """What waits for the peer in this process."""

    async def gone(self) -> None:
        """Wait until the peer has left: its end of a stream is its leaving."""
        while not (self._over or self.session.ended):
            self._news.clear()
            await self._news.wait()

    @abstractmethod
    def close(self) -> None:
        """End the connection once what is queued has been taken."""

    @abstractmethod
    def abort(self) -> None:
        """End the connection now; what is queued is dropped."""

    @abstractmethod
    def _let_send(self) -> None:
        """The peer may send more when the session has room for it."""

    def _stall(self) -> None:
        self._stalled = True
        self._drained.clear()

    def _flow(self) -> None:
        self._stalled = False
        self._drained.set()
        self.on_writable()

    def _end(self) -> None:
        """Nothing comes and nothing goes any more."""
        self._over = True
        self._stalled = False
        self.session.close()
        self._drained.set()
        self._news.set()


AChannel = TypeVar("AChannel", bound=SessionChannel)


class Connections(Generic[AChannel]):
    """The connections of one carrier, each owned by `serve` in a task of `tasks`.

    Args:
        serve: owns one connection; what it raises ends that connection and is logged.
        tasks: the group that the connections' tasks belong to.
    """

    def __init__(self, serve: Callable[[AChannel], Awaitable[None]], tasks: asyncio.TaskGroup) -> None:
        self._serve = serve
        self._tasks = tasks
        self._channels: set[AChannel] = set()

    @property
    def count(self) -> int:
        """Connections at present."""
        return len(self._channels)

    def hang_up(self) -> None:
        """End every connection now; what was not taken is dropped."""
        for channel in list(self._channels):
            channel.abort()

    def _begin(self, channel: AChannel) -> None:
        self._channels.add(channel)
        self._tasks.create_task(self._own(channel))

    async def _own(self, channel: AChannel) -> None:
        try:
            await self._serve(channel)
        except Exception:  # the top of a connection's task: one connection ends, the run goes on
            log.exception("a connection failed")
            channel.abort()
        else:
            channel.close()
