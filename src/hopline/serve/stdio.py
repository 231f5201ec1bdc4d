"""The descriptors a bridge inherits: used without ever blocking, and left as they were found (WB-AS-FOUND).

Blocking flags belong to the open file description, which a shell or a sibling may share, so the flags of stdin are
never touched, stdout gets a description of its own where the system gives one, and flags that had to be changed are
put back however the process ends.
"""

import os
import select
import signal
import stat
from collections.abc import Callable
from types import FrameType

STDERR_SECONDS = 1.0
"""How long a last line may wait for stderr, which can be the very pipe that stalled."""

MAX_ATOMIC_BYTES = 4096
"""A pipe that is ready takes this much at once (PIPE_BUF)."""

ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


class Signalled(BaseException):
    """A signal asks the process to end; raised so that what it holds is put back first."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Output:
    """`descriptor` for nonblocking writes; close it to leave the descriptor as it was."""

    def __init__(self, descriptor: int) -> None:
        self._inherited = descriptor
        self._own = _reopened(descriptor)
        self._was_blocking = self._own is None and os.get_blocking(descriptor)
        if self._was_blocking:
            os.set_blocking(descriptor, False)

    def fileno(self) -> int:
        """The descriptor to wait on."""
        return self._inherited if self._own is None else self._own

    def write(self, data: memoryview) -> int:
        """Write what goes now; 0 when nothing does. Raises OSError."""
        try:
            return os.write(self.fileno(), data)
        except BlockingIOError:
            return 0

    def close(self) -> None:
        """Put back or give back what was changed or opened; a second time does nothing."""
        if self._own is not None:
            os.close(self._own)
            self._own = None
        if self._was_blocking:
            os.set_blocking(self._inherited, True)
            self._was_blocking = False


def closed_descriptors() -> frozenset[int]:
    """Which of 0, 1 and 2 were closed when the process began; /dev/null takes their place, so that no socket does."""
    closed = set()
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            closed.add(descriptor)
            os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    return frozenset(closed)


def say(line: bytes) -> None:
    """Write a last line on stderr; it is dropped rather than waited for without end."""
    try:
        poller = select.poll()
        poller.register(2, select.POLLOUT)
        if line and poller.poll(STDERR_SECONDS * 1000):
            os.write(2, line[:MAX_ATOMIC_BYTES])
    except OSError:
        pass  # there is nobody left to tell


def ending_orderly(body: Callable[[], int]) -> int:
    """`body()`, with the signals that end a process raised inside it, so that it can put back what it changed.

    The process then dies of the signal all the same. A signal that was ignored stays ignored.
    """
    before = {}
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, _raise)
    try:
        return body()
    except Signalled as ended:
        signal.signal(ended.number, signal.SIG_DFL)
        os.kill(os.getpid(), ended.number)
        return 128 + ended.number
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise(number: int, _: FrameType | None) -> None:
    for other in ENDING:
        signal.signal(other, signal.SIG_IGN)
    raise Signalled(number)


def _reopened(descriptor: int) -> int | None:
    """A second description of a pipe or a terminal, nonblocking; None where there is none to be had."""
    try:
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode) or os.isatty(descriptor):
            flags = os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
            return os.open(f"/proc/self/fd/{descriptor}", flags)
    except OSError:
        pass  # another user's pipe, or no /proc: the flags are changed and put back
    return None
