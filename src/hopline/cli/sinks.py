"""A descriptor that the worker's bytes go to, written without ever blocking the view.

Blocking flags are shared with whoever gave us the descriptor, so a pipe or a terminal is opened anew to have its own.
"""

import errno
import os
import select
import socket
import stat

from hopline.errors import Unavailable

WRITE_BYTES = 1 << 18


class SinkClosed(Exception):
    """Nobody reads there any more."""


class Sink:
    """Holds what the descriptor does not take yet; the caller stops reading while `pending` is true.

    Args:
        descriptor: 1 or 2, or another open for writing; stays the caller's.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._own = _reopened(descriptor)
        self._socket = _as_socket(descriptor)
        self._waiting = memoryview(b"")
        self.at_line_start = True
        """Whether the last byte written was a newline."""

    @property
    def pending(self) -> bool:
        """Whether bytes wait for the descriptor."""
        return bool(self._waiting)

    def fileno(self) -> int:
        """The descriptor to wait on, for writing, while `pending`."""
        return self.descriptor if self._own is None else self._own

    def write(self, data: bytes) -> None:
        """Write what goes now and hold the rest. Raises SinkClosed."""
        if not data:
            return
        self.at_line_start = data.endswith(b"\n")
        self._waiting = memoryview(bytes(self._waiting) + data if self._waiting else data)
        self.flush()

    def write_beside(self, data: bytes) -> None:
        """As `write`, for what leaves the cursor where it is. Raises SinkClosed."""
        at_line_start = self.at_line_start
        self.write(data)
        self.at_line_start = at_line_start

    def flush(self) -> None:
        """Write more of what is held. Raises SinkClosed, and Unavailable when there is no room."""
        while self._waiting:
            try:
                written = self._put(self._waiting[:WRITE_BYTES])
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in (errno.EPIPE, errno.EIO, errno.ECONNRESET):
                    self._waiting = memoryview(b"")
                    raise SinkClosed from error
                self._waiting = memoryview(b"")
                name = "standard error" if self.descriptor == 2 else "standard output"
                raise Unavailable(f"cannot write to {name}: {error.strerror}; make room where it goes.") from error
            self._waiting = self._waiting[written:]

    def drain(self, seconds: float | None = None) -> None:
        """Wait for everything held to go, for ever or at most `seconds`, then drop it. Raises SinkClosed."""
        poller = select.poll()
        poller.register(self.fileno(), select.POLLOUT)
        while self._waiting:
            if not poller.poll(None if seconds is None else seconds * 1000):
                self._waiting = memoryview(b"")
            self.flush()

    def close(self) -> None:
        """Give back what was opened anew."""
        if self._own is not None:
            os.close(self._own)
            self._own = None
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _put(self, data: memoryview) -> int:
        if self._socket is not None:
            return self._socket.send(data, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        return os.write(self.fileno(), data)


def _reopened(descriptor: int) -> int | None:
    """A second description of a pipe or a terminal, nonblocking; None where there is none to be had."""
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISFIFO(mode) or os.isatty(descriptor):
            return os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        pass
    return None


def _as_socket(descriptor: int) -> socket.socket | None:
    """The descriptor as a socket, whose sends can be nonblocking one by one; None when it is none."""
    try:
        return socket.socket(fileno=os.dup(descriptor)) if stat.S_ISSOCK(os.fstat(descriptor).st_mode) else None
    except OSError:
        return None
