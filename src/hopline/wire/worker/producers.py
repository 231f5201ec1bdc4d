"""The relay's producers of events: each turns what it reads into frames and keeps those that find no room.

Source: docs/wire/worker.md, "Output" (WW-READERS-WAIT) and "Retirement" (WW-DRAIN-AVAILABLE).
"""

from collections import deque

from hopline.wire.jsonl import LineSplitter
from hopline.wire.worker.chunks import RawStream, frames_for
from hopline.wire.worker.codec import FrameRefused, decode_semantic, encode


class Producer:
    """Frames of one origin in their order, and how far their source was read.

    A source is read while nothing of it is held. After the worker's exit it is *drained* once a read would have
    blocked or ended, or once it gave more than a full pipe and the drain is cut.
    """

    def __init__(self) -> None:
        self.held: deque[bytes] = deque()
        self.ended = False
        self.drained = False
        self._left_to_drain: int | None = None

    @property
    def wants_more(self) -> bool:
        """Whether its source should be read, room in the queue provided."""
        return not (self.ended or self.drained or self.held)

    def begin_drain(self, available_bytes: int) -> None:
        """The worker is gone; at most `available_bytes` (the pipe's size) can still be its own."""
        self.drained = self.ended
        self._left_to_drain = available_bytes

    def took(self, size: int, *, cut: bool) -> None:
        """`size` bytes were read; while draining this may be all there was to fetch."""
        if self._left_to_drain is not None:
            self._left_to_drain -= size
            self.cut_if(cut)

    def cut_if(self, cut: bool) -> None:
        """When `cut`, a stream that gave a full pipe already is not read on: the rest is a descendant's."""
        if cut and self._left_to_drain is not None and self._left_to_drain <= 0:
            self.drained = True

    def would_block(self) -> None:
        """A read found nothing: while draining, that is the end of what was available."""
        if self._left_to_drain is not None:
            self.drained = True

    def end(self) -> None:
        """Its source has ended or is not read any more."""
        self.ended = self.drained = True


class RawProducer(Producer):
    """The worker's stdout or stderr."""

    def __init__(self, stream: RawStream) -> None:
        super().__init__()
        self._stream = stream

    def receive(self, data: bytes | memoryview) -> None:
        """One read of the stream, about which nothing can be wrong."""
        self.held.extend(frames_for(self._stream, data))


class SidebandProducer(Producer):
    """The worker's sideband: strict lines, crossing flat (WW-FLAT)."""

    def __init__(self, max_line_bytes: int) -> None:
        super().__init__()
        self._lines = LineSplitter(max_line_bytes)
        self._max_line_bytes = max_line_bytes

    @property
    def partial(self) -> bool:
        """Whether half a frame was read."""
        return self._lines.partial()

    def receive(self, data: bytes | memoryview) -> str | None:
        """One read of the sideband. Returns what is wrong with it, after which the rest is not read."""
        for line in self._lines.receive(bytes(data)):
            if line is None:
                self.end()
                return f"a sideband line is longer than {self._max_line_bytes} bytes"
            try:
                self.held.append(encode(decode_semantic(line)))
            except FrameRefused as refused:
                self.end()
                return f"worker sideband: {refused}"
        return None
