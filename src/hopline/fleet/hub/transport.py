"""One TCP connection of the hub: bytes in and out, messages to their handlers one at a time. It decides nothing."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from hopline.fleet.links.addresses import source_of
from hopline.fleet.ports import Payload
from hopline.wire.peer.envelope import Envelope
from hopline.wire.peer.limits import WRITE_SECONDS

if TYPE_CHECKING:
    from hopline.fleet.hub.hub import Hub

MAX_QUEUED = 4
"""Messages that wait for their handler before the connection is not read any more."""

COALESCE_BYTES = 64 * 1024
"""Frames are gathered up to this before they are handed to the system."""

HIGH_WATER_BYTES = 2 << 20
LOW_WATER_BYTES = 512 << 10
"""What waits to be sent before a sender has to wait, and down to which it waits."""

UNKNOWN_SOURCE = "255.255.255.255"
"""Stands for the address of a peer that had left before it could be asked for."""

Begin = Callable[["PeerTransport", str], None]
"""Told once the connection is made, with the other end's address, before any byte of it."""


class PeerTransport(asyncio.Protocol):
    """An Inbound (ports) of one connection.

    Args:
        conn: its number in the core.
        begin: tells the core that it is there.
    """

    def __init__(self, hub: "Hub", conn: int, begin: Begin) -> None:
        self.conn = conn
        self.peer = ""
        self.features: frozenset[str] = frozenset()
        self.transient = False
        self.gone = False
        self.inbox: deque[Envelope] | None = None
        """What has come for the errand that owns this connection; None when handlers take it."""
        self.news = asyncio.Event()
        """Set when the inbox has something, or the connection is gone."""
        self._hub = hub
        self._begin = begin
        self._transport: asyncio.Transport | None = None
        self._queue: deque[Envelope] = deque()
        self._working = False
        self._ended = False
        self._paused = False
        self._gathering = False
        self._out: list[bytes] = []
        self._out_bytes = 0
        self._drained = asyncio.Event()
        self._drained.set()
        self._deadline: asyncio.TimerHandle | None = None

    async def send(self, msg_type: str, payload: Payload) -> bool:
        """See Inbound."""
        if not self._hub.send(self.conn, msg_type, payload):
            return False
        if not self._drained.is_set():
            await self._drained.wait()
        return not self.gone

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is there."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=HIGH_WATER_BYTES, low=LOW_WATER_BYTES)
        name = self._transport.get_extra_info("peername")
        self._begin(self, source_of(name[0]) if name else UNKNOWN_SOURCE)

    def data_received(self, data: bytes) -> None:
        """Bytes from the peer, cut anyhow."""
        self._hub.received(self, data)
        if not self._paused and len(self._queue if self.inbox is None else self.inbox) > MAX_QUEUED:
            self._paused = True
            if self._transport is not None:
                self._transport.pause_reading()

    def eof_received(self) -> bool:
        """The peer sends nothing more. A one-shot is answered first; for a link it is the end at once."""
        self._ended = True
        if not (self.transient and self._working):
            self._hub.ended(self)
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._over()
        self._transport = None
        self._hub.lost(self, "it was cut" if exc is None else f"it was cut: {exc}")

    def pause_writing(self) -> None:
        """The peer is slow."""
        self._drained.clear()
        self._time(self._unsent())

    def resume_writing(self) -> None:
        """The peer has caught up."""
        self._stop_timing()
        self._drained.set()

    def write(self, data: bytes) -> None:
        """Send: the first of this turn of the loop at once, what else is written in it together."""
        self._out.append(data)
        self._out_bytes += len(data)
        if not self._gathering:
            self._flush()
            self._gathering = True
            asyncio.get_running_loop().call_soon(self._gathered)
        elif self._out_bytes >= COALESCE_BYTES:
            self._flush()

    def close(self, *, abort: bool) -> None:
        """End the connection; unless `abort`, once what was written is sent, which must not take long."""
        self._flush()
        self._over()
        if self._transport is None:
            return
        if abort:
            self._transport.abort()
        else:
            self._transport.close()
            if self._transport.get_write_buffer_size():
                asyncio.get_running_loop().call_later(WRITE_SECONDS, self._abort)

    def deliver(self, envelopes: list[Envelope]) -> None:
        """Messages have come."""
        if self.inbox is not None:
            self.inbox += envelopes
            self.news.set()
            return
        self._queue += envelopes
        if not self._working and self._queue:
            self._working = True
            self._hub.work(self._work())

    def taken(self) -> None:
        """Something was taken out of the inbox, or off the queue."""
        if self._paused and len(self._queue if self.inbox is None else self.inbox) <= MAX_QUEUED:
            self._paused = False
            if self._transport is not None and not self._transport.is_closing():
                self._transport.resume_reading()

    async def _work(self) -> None:
        try:
            while self._queue:
                envelope = self._queue.popleft()
                handler = self._hub.handlers.get(envelope.msg_type)
                if handler is not None:
                    await self._hub.handled(handler(self, envelope), envelope.msg_type, self.peer)
                self.taken()
        finally:
            self._working = False
        if self._ended and not self.gone:
            self._hub.ended(self)

    def _over(self) -> None:
        self.gone = True
        self._stop_timing()
        self._drained.set()
        self.news.set()

    def _gathered(self) -> None:
        self._gathering = False
        self._flush()

    def _flush(self) -> None:
        if self._out:
            data = self._out[0] if len(self._out) == 1 else b"".join(self._out)
            self._out.clear()
            self._out_bytes = 0
            if self._transport is not None:
                self._transport.write(data)

    def _unsent(self) -> int:
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def _time(self, unsent: int) -> None:
        self._deadline = asyncio.get_running_loop().call_later(WRITE_SECONDS, self._overdue, unsent)

    def _overdue(self, unsent: int) -> None:
        """A peer that has taken something since gets as long again."""
        if (now := self._unsent()) < unsent:
            self._time(now)
        else:
            self._hub.lost(self, f"the peer took nothing for {WRITE_SECONDS:g} s")

    def _stop_timing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _abort(self) -> None:
        with contextlib.suppress(OSError):
            if self._transport is not None:
                self._transport.abort()
