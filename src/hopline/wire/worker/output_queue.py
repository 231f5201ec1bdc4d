"""The one queue of whole frames towards the controller: bounded, first in first out, one writer.

Source: docs/wire/worker.md, "Output" (WW-ONE-WRITER, WW-READERS-WAIT).
"""

from collections import deque

from hopline.wire.worker.limits import RelayLimits

_BUFFERS_A_WRITE = 64
"""Frames that one gathered write offers; far below the system's 1024, and more than a pipe takes."""


class OutputQueue:
    """Frames that wait to be written, the one being written included.

    Ordinary frames and supervisor frames are counted apart, so that the second find room while the first wait, yet
    all leave in the order of their admission.
    """

    def __init__(self, limits: RelayLimits) -> None:
        self._limits = limits
        self._frames: deque[tuple[bytes, bool]] = deque()
        self._written = 0
        self._count = self._bytes = 0
        self._supervisor_count = self._supervisor_bytes = 0

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def has_room(self) -> bool:
        """Whether a reader may go and get another frame."""
        return self._count < self._limits.queue_frames and self._bytes < self._limits.queue_bytes

    def admit(self, frame: bytes) -> bool:
        """Take an ordinary frame if it fits; otherwise its producer keeps it and waits."""
        if self._count and (
            self._count >= self._limits.queue_frames or self._bytes + len(frame) > self._limits.queue_bytes
        ):
            return False
        # WW-OVERSIZED-ALONE: with nothing before it, a frame of any size is taken.
        self._count += 1
        self._bytes += len(frame)
        self._frames.append((frame, False))
        return True

    def admit_supervisor(self, frame: bytes) -> bool:
        """Take a supervisor frame into its own allowance; False when that is used up (WW-SUPERVISOR-ALLOWANCE)."""
        if (
            self._supervisor_count >= self._limits.supervisor_frames
            or self._supervisor_bytes + len(frame) > self._limits.supervisor_bytes
        ):
            return False
        self._push_supervisor(frame)
        return True

    def push_terminal(self, frame: bytes) -> None:
        """Take a frame of the terminal block, which always has room: it is short and nothing comes after it."""
        self._push_supervisor(frame)

    def _push_supervisor(self, frame: bytes) -> None:
        self._supervisor_count += 1
        self._supervisor_bytes += len(frame)
        self._frames.append((frame, True))

    def buffers(self) -> list[bytes | memoryview]:
        """What to offer to one gathered write, in order; the first may be the rest of a frame."""
        buffers: list[bytes | memoryview] = []
        for frame, _ in self._frames:
            buffers.append(frame)
            if len(buffers) == _BUFFERS_A_WRITE:
                break
        if self._written:
            buffers[0] = memoryview(buffers[0])[self._written :]
        return buffers

    def wrote(self, count: int) -> None:
        """The consumer took `count` bytes of what `buffers` offered."""
        left = self._written + count
        while self._frames and left >= len(self._frames[0][0]):
            frame, supervisor = self._frames.popleft()
            left -= len(frame)
            if supervisor:
                self._supervisor_count -= 1
                self._supervisor_bytes -= len(frame)
            else:
                self._count -= 1
                self._bytes -= len(frame)
        self._written = left

    def clear(self) -> None:
        """Forget everything: the consumer is gone, and a frame cut short must not be followed (WW-ABORTED-FRAME)."""
        self._frames.clear()
        self._written = 0
        self._count = self._bytes = 0
        self._supervisor_count = self._supervisor_bytes = 0
