"""The controller's commands as the relay takes them: strict, one at a time, until the first that ends them.

Source: docs/wire/worker.md, "Framing" and "Retirement" (WW-NEWLINE, WW-STRICT, WW-SHUTDOWN-ENDS-PARSING).
"""

from collections import deque

from hopline.wire.jsonl import LineSplitter
from hopline.wire.worker.codec import FrameRefused, decode_command
from hopline.wire.worker.messages import Command


class CommandStream:
    """Lines in, commands out. Open until `close`, after which whatever comes is ignored.

    While an interrupt is under way the stream is paused, so that its receipt precedes what the next command causes.
    """

    def __init__(self, max_line_bytes: int) -> None:
        self._max_line_bytes = max_line_bytes
        self._splitter = LineSplitter(max_line_bytes)
        self._lines: deque[bytes | None] = deque()
        self._paused = False
        self.open = True

    def receive(self, data: bytes) -> None:
        """One read of the commands."""
        if self.open:
            self._lines.extend(self._splitter.receive(data))

    def receive_eof(self) -> str | None:
        """The end. Returns what is wrong with it: a partial frame, even if it is a complete object."""
        was_open = self.open
        self.close()
        return "the command stream ended inside a frame" if was_open and self._splitter.partial() else None

    def take(self) -> Command | None:
        """The next command, or None when there is none now.

        Raises:
            FrameRefused: the line is no command; the stream is closed.
        """
        if not self._lines or self._paused or not self.open:
            return None
        line = self._lines.popleft()
        try:
            if line is None:
                raise FrameRefused(f"the line is longer than {self._max_line_bytes} bytes")  # WW-INPUT-BOUND
            return decode_command(line)
        except FrameRefused:
            self.close()
            raise

    def pause(self) -> None:
        """Give no command until `resume`."""
        self._paused = True

    def resume(self) -> None:
        """Go on after `pause`."""
        self._paused = False

    def close(self) -> None:
        """Ignore everything from here on."""
        self.open = False
        self._lines.clear()
