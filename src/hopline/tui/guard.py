"""Leaves the terminal as it was found, whatever becomes of this process: a small process stands by and puts it back.

The full-screen program restores the terminal itself in every ordinary end. Killed, or crashed inside the interpreter,
it cannot; the guard then can, because it sees the end of a pipe that only this process holds.
"""

import os
import select
import signal
import termios
from typing import Self

RESTORE = (
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l"  # no mouse
    b"\x1b[?1004l\x1b[?2004l\x1b[?2026l\x1b[?2048l"  # no focus reports, no bracketed paste, no resize reports
    b"\x1b[<u\x1b[?1049l"  # the keyboard as it was, the first screen
    b"\x1b[?7h\x1b[?25h\x1b[0m\r"  # lines wrap, the cursor is seen
)

_IGNORED = (
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGTSTP,
    signal.SIGTTOU,
    signal.SIGTTIN,
    signal.SIGPIPE,
)


class TerminalGuard:
    """Stands by while used as a context manager. Does nothing when `descriptor` is no terminal.

    Start it before there are threads. Args:
        descriptor: the terminal.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._attributes: list[object] | None = None
        self._pid = -1
        self._alive = -1

    def __enter__(self) -> Self:
        try:
            self._attributes = termios.tcgetattr(self._descriptor)
        except termios.error:
            return self
        reading, self._alive = os.pipe()
        try:
            self._pid = os.fork()
        except OSError:
            os.close(reading)
            return self  # no process to be had: the ordinary restoring has to do
        if self._pid == 0:
            self._stand_by(reading)
        os.close(reading)
        return self

    def __exit__(self, *_: object) -> None:
        if self._attributes is None:
            return
        if self._pid > 0:
            os.write(self._alive, b"well")
            os.close(self._alive)
            os.waitpid(self._pid, 0)
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._attributes)  # type: ignore[arg-type]  # as it came

    def _stand_by(self, reading: int) -> None:
        """In the guard's process; never returns."""
        status = 1
        try:
            for number in _IGNORED:
                signal.signal(number, signal.SIG_IGN)
            os.close(self._alive)
            if not os.read(reading, 16):
                self._restore()
            status = 0
        finally:
            os._exit(status)

    def _restore(self) -> None:
        assert self._attributes is not None
        termios.tcsetattr(self._descriptor, termios.TCSAFLUSH, self._attributes)  # type: ignore[arg-type]  # as it came
        poller = select.poll()
        poller.register(self._descriptor, select.POLLOUT)
        if poller.poll(1000):
            os.write(self._descriptor, RESTORE)
