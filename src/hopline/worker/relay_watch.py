"""What the relay's loop polls, and when a flood of small writes is given a moment to become larger chunks."""

import select
from collections.abc import Iterable

LARGE_READ_BYTES = 32 * 1024
FLOOD_READS = 16
"""So many small reads, hardly any of which had to be waited for, are a flood."""
_GATHER_MILLIS = 1


class Watch:
    """A poll object that is told only what changed, and the memory of how busy raw output was."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._polled: dict[int, int] = {}
        self._small_reads = 0

    @property
    def flooded(self) -> bool:
        """Whether raw output comes in small pieces without a pause."""
        return self._small_reads > FLOOD_READS

    def read(self, count: int) -> None:
        """`count` bytes of raw output were read."""
        self._small_reads = min(self._small_reads + 1, 2 * FLOOD_READS) if count < LARGE_READ_BYTES else 1

    def want(self, wanted: dict[int, int]) -> None:
        """Poll these descriptors for these events from now on, and no others."""
        if wanted == self._polled:
            return
        for fd in self._polled.keys() - wanted.keys():
            self._poll.unregister(fd)
        for fd, events in wanted.items():
            self._poll.register(fd, events)
        self._polled = wanted

    def forget(self, fd: int) -> None:
        """A descriptor is about to be closed."""
        if self._polled.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def gather(self, raw: Iterable[int]) -> None:
        """Wait a millisecond for anything but the raw descriptors.

        Larger chunks cost less all the way to the journal; a pipe that has grown holds more than that time brings.
        """
        held = {fd: events for fd in raw if (events := self._polled.get(fd)) is not None}
        for fd in held:
            self._poll.unregister(fd)
        self._poll.poll(_GATHER_MILLIS)
        for fd, events in held.items():
            self._poll.register(fd, events)

    def wait(self, timeout_millis: float | None) -> dict[int, int]:
        """What is ready, by descriptor; None waits without limit."""
        if self._small_reads:
            if ready := self._poll.poll(0):
                return dict(ready)
            self._small_reads //= 2
        return dict(self._poll.poll(timeout_millis))
