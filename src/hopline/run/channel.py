"""What the run needs of a carrier's connection; `hopline.serve.unix.UnixChannel` is one."""

from collections.abc import Callable
from typing import Protocol

from hopline.wire.client.session import ClientSession, Received, Rejected


class Channel(Protocol):
    """One connection: whole messages in and out, back-pressure, closing. Used on the loop's thread only."""

    on_writable: Callable[[], None]
    """Called when a stall ends."""

    @property
    def session(self) -> ClientSession:
        """The connection's machine."""
        ...

    async def next(self) -> Received | Rejected | None:
        """The next request or refusal; None when the peer is gone or has ended and everything was answered."""
        ...

    async def send(self, message: bytes) -> None:
        """Write one message and wait until the peer has taken enough for the next."""
        ...

    def answered(self) -> None:
        """The request that `next` gave has its Response: the next may come."""
        ...

    def stalled(self) -> bool:
        """Whether the peer takes nothing at the moment: do not `push`."""
        ...

    def push(self, message: bytes) -> None:
        """Write one message without waiting; look at `stalled` before the next."""
        ...

    def unsent_bytes(self) -> int:
        """What waits for the peer in this process."""
        ...

    async def gone(self) -> None:
        """Wait until the peer has left: its end of a stream is its leaving."""
        ...

    def close(self) -> None:
        """End the connection once what is queued has been sent."""
        ...
