"""Signals as keys: each wakes the view's loop, which decides; nothing happens inside a handler."""

import os
import signal
from types import FrameType

from hopline.cli.steering import Key

_KEYS = {
    signal.SIGINT: Key.INTERRUPT,
    signal.SIGQUIT: Key.QUIT,
    signal.SIGHUP: Key.HANGUP,
    signal.SIGTERM: Key.TERMINATE,
    signal.SIGWINCH: Key.RESIZE,
}


class KeySource:
    """Takes these signals while it is open; those that were ignored at the start stay ignored (nohup)."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._previous_fd = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._previous = {
            number: signal.signal(number, _nothing)
            for number in _KEYS
            if signal.getsignal(number) is not signal.SIG_IGN
        }

    def fileno(self) -> int:
        """Readable when a key waits."""
        return self._read

    def take(self) -> list[Key]:
        """The keys since the last call, oldest first."""
        try:
            numbers = os.read(self._read, 256)
        except BlockingIOError:
            return []
        return [_KEYS[signal.Signals(number)] for number in numbers if number in self._previous]

    def __enter__(self) -> "KeySource":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the signals back to whoever had them."""
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._previous_fd)
        os.close(self._read)
        os.close(self._write)


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """A handler must exist for the wake-up to be written."""
