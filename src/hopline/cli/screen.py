"""Where a view's bytes land: the worker's output untouched, our own words on stderr lines, the status line below.

The status line exists only while the cursor is at the start of a line, and is erased before anything else is written.
"""

import os

from hopline.cli.sinks import Sink
from hopline.cli.statusline import Facts, StatusLine


class Screen:
    """Standard output and standard error of an attached command.

    Args:
        status: None when there is to be no status line.
        merged: both streams go to standard output.
    """

    def __init__(self, status: StatusLine | None = None, *, merged: bool = False) -> None:
        self._merged = merged
        self._out, self._err = Sink(1), Sink(2)
        self._terminals = [sink for sink in (self._out, self._err) if os.isatty(sink.descriptor)]
        self._status = status
        self._at_line_start = True

    def wait_on(self) -> list[int]:
        """The descriptors that hold bytes back; while there are any, no more output should be shown."""
        return [sink.fileno() for sink in (self._out, self._err) if sink.pending]

    def show(self, stream: str, data: bytes) -> None:
        """Write what the worker wrote to `stream`. Raises SinkClosed when nobody reads it any more."""
        self._clear()
        self._write(self._err if stream == "stderr" and not self._merged else self._out, data)

    def say(self, text: str) -> None:
        """A sentence of ours on a line of its own on stderr. Raises SinkClosed."""
        self._clear()
        fresh = self._at_line_start if self._err in self._terminals else self._err.at_line_start
        self._write(self._err, (b"" if fresh else b"\n") + f"hopline: {text}\n".encode("utf-8", "replace"))

    def tick(self, facts: Facts) -> None:
        """Bring the status line up to date, if there is one and it may be seen."""
        if self._status is None or not self._at_line_start or self.wait_on():
            return
        self._err.write_beside(self._status.draw(facts, _columns(self._err.descriptor)))

    def hide(self) -> None:
        """Take the status line away until the next `tick`."""
        self._clear()

    def flush(self) -> None:
        """Write more of what is held back. Raises SinkClosed."""
        self._out.flush()
        self._err.flush()

    def echoed(self) -> None:
        """The terminal has just shown a key such as ^C where the cursor is."""
        if os.isatty(0) and self._terminals:
            self._at_line_start = False

    def finish(self, seconds: float | None = None) -> None:
        """Clear the status line and wait, at most `seconds` if given, until all is written. Raises SinkClosed."""
        self._clear()
        self._out.drain(seconds)
        self._err.drain(seconds)

    def leave(self) -> None:
        """Give the terminal back, if it was taken over. Raises SinkClosed."""

    def close(self) -> None:
        """Give the descriptors back."""
        self._out.close()
        self._err.close()

    def _write(self, sink: Sink, data: bytes) -> None:
        if data and sink in self._terminals:
            self._at_line_start = data.endswith(b"\n")
        sink.write(data)

    def _clear(self) -> None:
        if self._status is not None:
            self._err.write_beside(self._status.erase())


def _columns(descriptor: int) -> int:
    try:
        return os.get_terminal_size(descriptor).columns
    except OSError:
        return 0
