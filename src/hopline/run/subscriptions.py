"""Feeds every subscriber from the one journal: at once when idle, a few milliseconds apart under load.

A subscriber is a cursor and a channel, no task and no queue. One frame a subscriber and turn of the loop, so that a
long replay holds up nobody; one that does not read is left alone until it does.
"""

import asyncio
import logging

from hopline.errors import HoplineError
from hopline.ids import new_store_id
from hopline.journal.port import EventStore
from hopline.run.channel import Channel
from hopline.run.cursor import Folded, Frames, StreamCursor
from hopline.wire.client.checkpoint import CheckpointTooLarge
from hopline.wire.client.requests import Subscribe
from hopline.wire.client.responses import Code, diagnosed
from hopline.wire.client.session import Received
from hopline.wire.client.streams import ProtocolError, Subscribed, encode_message

FLUSH_SECONDS = 0.002
"""Least time between two flushes under load; the first after a pause is not delayed."""

MAX_SHARED_FRAMES = 4

log = logging.getLogger(__name__)


class Subscriber:
    """One subscription: who asked, where it stands, whether it failed."""

    def __init__(self, channel: Channel, received: Received, cursor: StreamCursor | None) -> None:
        self.channel = channel
        self.received = received
        self.cursor = cursor
        self.scheduled = False

    @property
    def satisfied(self) -> bool:
        """Whether it has been given everything and has taken it from this process."""
        return (self.cursor is None or not self.cursor.behind) and self.channel.unsent_bytes() == 0


class Subscriptions:
    """All subscribers of one run.

    Args:
        store: the run's events.
        run_id: named by each `subscribed`.
        fold: tells the executions under way; None when there are none.
    """

    def __init__(self, store: EventStore, run_id: str, fold: Folded | None = None) -> None:
        self._store = store
        self._fold = fold
        self._run_id = run_id
        self._loop = asyncio.get_running_loop()
        self._subscribers: set[Subscriber] = set()
        self._flushed_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._shared: Frames = {}
        self.ever = False
        """Whether anybody has subscribed yet."""

    @property
    def count(self) -> int:
        """Subscribers at present."""
        return len(self._subscribers)

    @property
    def satisfied(self) -> bool:
        """Whether every subscriber has everything."""
        return all(subscriber.satisfied for subscriber in self._subscribers)

    def progress(self) -> tuple[int, int]:
        """A figure that changes whenever any subscriber takes something."""
        sent = sum(one.cursor.sent for one in self._subscribers if one.cursor is not None)
        return sent, sum(one.channel.unsent_bytes() for one in self._subscribers)

    async def serve(self, channel: Channel, received: Received, request: Subscribe) -> None:
        """Own the connection of an accepted subscribe until the peer leaves or the stream fails."""
        self.ever = True
        channel.session.subscribed()
        latest = self._store.committed_sequence
        channel.push(
            encode_message(
                Subscribed(
                    request_id=received.request_id,
                    client_id=received.client_id,
                    run_id=self._run_id,
                    latest_sequence=latest,
                )
            )
        )
        subscriber = Subscriber(channel, received, None)
        self._subscribers.add(subscriber)
        try:
            try:
                subscriber.cursor = StreamCursor(
                    self._store,
                    latest,
                    after=request.after_sequence,
                    store_id=request.store_id,
                    tail=request.tail,
                    fold=self._fold,
                )
            except (HoplineError, OSError, ValueError) as error:
                self._fail(subscriber, error)
            channel.on_writable = lambda: self._pump(subscriber)
            self._pump(subscriber)
            await channel.gone()
        finally:
            channel.on_writable = lambda: None
            self._subscribers.discard(subscriber)

    def wake(self) -> None:
        """More events are committed."""
        if self._timer is not None or not self._subscribers:
            return
        wait = self._flushed_at + FLUSH_SECONDS - self._loop.time()
        if wait <= 0:
            self._flush()
        else:
            self._timer = self._loop.call_later(wait, self._flush)

    def _flush(self) -> None:
        self._timer = None
        self._flushed_at = self._loop.time()
        self._shared.clear()
        for subscriber in tuple(self._subscribers):
            if not subscriber.scheduled:
                self._pump(subscriber)
        self._loop.call_soon(self._shared.clear)

    def _pump(self, subscriber: Subscriber) -> None:
        subscriber.scheduled = False
        channel, cursor = subscriber.channel, subscriber.cursor
        if cursor is None or channel.stalled() or subscriber not in self._subscribers:
            return
        if len(self._shared) > MAX_SHARED_FRAMES:
            self._shared.clear()
        try:
            frame = cursor.next_frame(self._shared)
        except (HoplineError, OSError, ValueError) as error:
            self._fail(subscriber, error)
            return
        if frame is None:
            return
        channel.push(frame)
        if channel.stalled():
            return
        if cursor.inside_batch:
            subscriber.scheduled = True
            self._loop.call_soon(self._pump, subscriber)
        elif cursor.behind:
            self.wake()

    def _fail(self, subscriber: Subscriber, error: Exception) -> None:
        """In band, then close; the cursor of the peer has not moved."""
        log.error("a subscription failed: %s", error)
        subscriber.cursor = None
        diagnostic = diagnosed(
            new_store_id(),
            Code.STREAM_FAILED,
            "Event stream failed",
            detail=str(error),
            hint=None if isinstance(error, CheckpointTooLarge) else "Look at the journal: hopline doctor",
            scope="transport",
            retryability="manual",
        )
        message = ProtocolError(
            request_id=subscriber.received.request_id,
            client_id=subscriber.received.client_id,
            code=diagnostic.code,
            message=diagnostic.summary,
            diagnostic=diagnostic,
        )
        subscriber.channel.push(encode_message(message))
        subscriber.channel.close()
