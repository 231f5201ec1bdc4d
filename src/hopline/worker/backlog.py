"""What a generation has to tell, in order, while its owner cannot take it."""

import asyncio
from collections import deque
from collections.abc import Callable

from hopline.wire.worker.output import OutputChunk
from hopline.wire.worker.reports import Report


class Backlog:
    """Passes reports on at once, or keeps them while held.

    Args:
        tell: takes one report; may hold or release the backlog from inside.

    Attributes:
        holding: whether reports are kept.
        size: bytes of output kept.
        empty: set while nothing is kept.
    """

    def __init__(self, tell: Callable[[Report], None]) -> None:
        self._tell = tell
        self._reports: deque[Report] = deque()
        self._telling = False
        self.holding = False
        self.size = 0
        self.empty = asyncio.Event()
        self.empty.set()

    def add(self, report: Report) -> None:
        """Tell the report once everything before it is told."""
        self._reports.append(report)
        self.size += _size(report)

    def release(self) -> None:
        """Stop holding, and tell what is kept."""
        self.holding = False
        self.pass_on()

    def pass_on(self) -> None:
        """Tell what is kept, until held."""
        if self._telling:
            return
        self._telling = True
        try:
            while self._reports and not self.holding:
                report = self._reports.popleft()
                self.size -= _size(report)
                self._tell(report)
        finally:
            self._telling = False
        if self._reports:
            self.empty.clear()
        else:
            self.empty.set()


def _size(report: Report) -> int:
    if isinstance(report, OutputChunk):
        return len(report.content_json) + len(report.raw or b"")
    return 0
