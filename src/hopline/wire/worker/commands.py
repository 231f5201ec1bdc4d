"""Commands on their way to the relay: one ordered writer, whose frames are made only when they are written.

Interrupts and the shutdown overtake input that has not begun to leave; nothing ever cuts into a frame that has
(docs/wire/worker.md, "The controller": WW-ONE-WRITER, WW-GRACE-SERIALISED).
"""

import math
from collections import deque

from hopline.wire.worker.codec import encode
from hopline.wire.worker.messages import MAX_U64, Command, Resize, Shutdown

_NOTHING = memoryview(b"")


class CommandWriter:
    """Holds what is still to be written, and knows whether a frame is half out.

    The owner writes some of `pending(now)`, says how much with `sent`, and closes the pipe once `finished` is true.
    """

    def __init__(self) -> None:
        self._urgent: deque[Command] = deque()
        self._ordinary: deque[Command] = deque()
        self._deadline: float | None = None
        self._frame = _NOTHING
        self._begun = False
        self.admitting = True
        """Whether a command would still be taken."""
        self.aborted = False
        """The transport was ended where it was, perhaps inside a frame."""
        self.shutdown_begun = False
        """Some of a shutdown was written, so its acceptance may come in."""

    @property
    def finished(self) -> bool:
        """Whether nothing more will ever be written."""
        return self.aborted or not (self.admitting or self._begun or self._urgent or self._owes_shutdown)

    def push(self, command: Command) -> bool:
        """Queue input or an operation; False when admission has closed."""
        if self.admitting:
            self._ordinary.append(command)
        return self.admitting

    def push_urgent(self, command: Command) -> bool:
        """Queue a command that goes before everything ordinary not yet begun; False when admission has closed."""
        if self.admitting:
            self._urgent.append(command)
        return self.admitting

    def push_resize(self, resize: Resize) -> bool:
        """As `push_urgent`, in place of an earlier size that has not begun to leave: only the last one counts."""
        if self.admitting:
            self._urgent = deque(command for command in self._urgent if not isinstance(command, Resize))
            self._urgent.append(resize)
        return self.admitting

    def shut_down(self, deadline: float) -> None:
        """Close admission and drop what is ordinary and not yet begun; the shutdown is the last frame.

        Args:
            deadline: monotonic time at which the worker's allowance ends; the first call fixes it.
        """
        if self.admitting:
            self.admitting = False
            self._ordinary.clear()
            self._deadline = deadline

    def force(self, now: float) -> None:
        """Retire at once: what is not begun is dropped and a shutdown without grace is the last frame.

        If a frame is half out, the transport ends there instead: nothing may follow it (WW-ABORTED-FRAME).
        """
        if self.aborted:
            return
        if self._begun:
            self.abort()
            return
        self.admitting = False
        self._ordinary.clear()
        self._urgent.clear()
        self._deadline = now

    def abort(self) -> None:
        """End the transport where it is: nothing more is written, not even the rest of a frame."""
        self.admitting = False
        self.aborted = True
        self._ordinary.clear()
        self._urgent.clear()
        self._deadline = None
        self._frame = _NOTHING
        self._begun = False

    def pending(self, now: float) -> memoryview:
        """What to write next, empty when there is nothing.

        A frame of which nothing is written yet is made anew, so that its grace is counted at `now` and an urgent
        command that came since goes first.
        """
        if not self._begun:
            self._frame = self._next(now)
        return self._frame

    def sent(self, count: int) -> None:
        """The first `count` bytes of what `pending` gave were written."""
        if not count:
            return
        if not self._begun:
            self._take_next()
        self._frame = self._frame[count:]
        self._begun = len(self._frame) > 0

    @property
    def _owes_shutdown(self) -> bool:
        return self._deadline is not None and not self.shutdown_begun

    def _next(self, now: float) -> memoryview:
        if self._urgent:
            return memoryview(encode(self._urgent[0]))
        if self._deadline is not None and not self.shutdown_begun:
            return memoryview(encode(Shutdown(grace_millis=grace_millis(self._deadline, now))))
        return memoryview(encode(self._ordinary[0])) if self._ordinary else _NOTHING

    def _take_next(self) -> None:
        if self._urgent:
            self._urgent.popleft()
        elif self._owes_shutdown:
            self.shutdown_begun = True
        else:
            self._ordinary.popleft()


def grace_millis(deadline: float, now: float) -> int:
    """Whole milliseconds from `now` to `deadline`, rounded up; 0 when it has passed."""
    remaining = deadline - now
    if remaining <= 0:
        return 0
    return MAX_U64 if math.isinf(remaining) else min(math.ceil(remaining * 1000), MAX_U64)
