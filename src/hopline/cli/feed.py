"""Standard input, forwarded to the worker on a connection of its own: a piece at a time, the next when it is accepted.

The server answers a piece once the worker's pipe has room for it, so a slow worker slows whoever writes to us, and
neither interrupts nor output ever wait behind it.
"""

import os

from hopline.client import Connection
from hopline.client.connection import answer
from hopline.errors import HoplineError, RunGone
from hopline.wire.client.requests import CommandInput

PIECE_BYTES = 1 << 16


class InputFeed:
    """Reads `descriptor` to its end, then closes the worker's stdin if it is to.

    Args:
        connection: a fresh one to the run; owned from now on.
        descriptor: where the input comes from; stays the caller's.
        closes: whether its end ends the worker's stdin.
    """

    def __init__(self, connection: Connection, descriptor: int = 0, *, closes: bool = True) -> None:
        self._closes = closes
        self._connection = connection
        self._descriptor = descriptor
        self.terminal = os.isatty(descriptor)
        self._awaiting = False
        self._closing = False
        self.finished = False
        """Nothing more is read: the input ended, or the worker takes no more."""
        self.forwarded_bytes = 0

    def wait_on(self) -> int | None:
        """The descriptor whose readability `step` is called for; None while there is nothing to wait for."""
        if self.finished:
            return None
        if self._awaiting:
            return self._connection.fileno()
        return self._descriptor if self._may_read() else None

    def step(self) -> None:
        """Take one piece further. Never raises for a worker that takes no more: the feed is then finished."""
        try:
            if self._awaiting:
                self._take_answer()
            else:
                self._forward()
        except HoplineError:
            self.close()

    def close(self) -> None:
        """Stop reading and hang up; a second time does nothing."""
        self.finished = True
        self._connection.close()

    def _forward(self) -> None:
        try:
            data = os.read(self._descriptor, PIECE_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""  # a terminal that went away has no more to say
        if not data and not self._closes:
            self.close()
            return
        self._closing = not data
        self.forwarded_bytes += len(data)
        self._connection.send(_request(data))
        self._awaiting = True

    def _take_answer(self) -> None:
        if not self._connection.fill():
            raise RunGone("the run's server has left.")
        while (line := self._connection.take_line()) is not None:
            self._awaiting = False
            if not answer(line, self._connection.peer).ok or self._closing:
                self.close()
                return

    def _may_read(self) -> bool:
        """A terminal is read in the foreground only: in the background the system would stop us."""
        if not self.terminal:
            return True
        try:
            return os.tcgetpgrp(self._descriptor) == os.getpgrp()
        except OSError:
            return True


def _request(data: bytes) -> CommandInput:
    if not data:
        return CommandInput(close=True)
    try:
        return CommandInput(text=data.decode())
    except UnicodeDecodeError:
        return CommandInput(bytes_base64=data)
