"""How much input may be under way: bytes and frames sent to the relay that its receipts have not yet answered.

The window is what keeps interrupts and the shutdown from waiting behind input: everything in it is at the relay soon.
"""

from hopline.wire.worker.messages import Stdin, StdinBytes

INPUT_WINDOW_BYTES = 1024 * 1024
"""Most bytes without a receipt."""

INPUT_FRAME_BYTES = 128 * 1024
"""Most bytes in one frame."""

MAX_INPUT_FRAMES = 64
"""Most frames without a receipt."""


class InputWindow:
    """Numbers stdin frames and holds them back while too much is unanswered. Room is asked before a frame is made."""

    def __init__(self) -> None:
        self._unanswered: dict[int, int] = {}
        self._bytes = 0
        self._next_id = 1
        self.failure: str | None = None
        """The error of the first receipt that carried one: the worker takes no more input."""

    def has_room(self, size: int) -> bool:
        """Whether a frame of `size` bytes may go now."""
        return len(self._unanswered) < MAX_INPUT_FRAMES and self._bytes + size <= INPUT_WINDOW_BYTES

    def frame(self, data: bytes) -> Stdin | StdinBytes:
        """The command for `data`, at most INPUT_FRAME_BYTES, counted as unanswered from now on."""
        request_id = self._next_id
        self._next_id += 1
        self._unanswered[request_id] = len(data)
        self._bytes += len(data)
        try:
            return Stdin(data=data.decode(), request_id=request_id)
        except UnicodeDecodeError:
            return StdinBytes(data=data, request_id=request_id)

    @property
    def empty(self) -> bool:
        """Whether everything sent has its receipt."""
        return not self._unanswered

    def answered(self, request_id: int, error: str | None) -> bool:
        """A receipt; False when it answers nothing."""
        size = self._unanswered.pop(request_id, None)
        if size is None:
            return False
        self._bytes -= size
        if self.failure is None:
            self.failure = error
        return True
