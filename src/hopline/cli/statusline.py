"""The quiet line under an attached run: drawn after the output, erased before more of it. Pure: bytes out.

It is drawn on the row below the cursor, which is made first and costs at most one blank row, and the cursor is put
back: what the person types, which a terminal shows before anybody else sees it, stands on a row of its own. Only what
is behind the cursor is ever erased. It is drawn only while the output is at the start of a line.
"""

from collections import deque
from dataclasses import dataclass

from hopline.rendering import age, size

MIN_COLUMNS = 20
"""A narrower terminal gets no status line."""

_SAVE, _RESTORE = b"\x1b7", b"\x1b8"
_NO_WRAP, _WRAP = b"\x1b[?7l", b"\x1b[?7h"
_PLAIN, _DIM = b"\x1b[0m", b"\x1b[0;2m"
_ERASE = b"\x1b[J"
"""From the cursor to the end of the screen: never what was typed or written before the cursor."""
_MAKE_ROW = b"\x1bD\x1b[A"
"""Down a row, scrolling if there is none, and up again, in the same column."""
_TO_ROW = b"\x1b[B\r"


@dataclass(frozen=True, slots=True)
class Facts:
    """What the line tells.

    Args:
        state: the run's status, or why its worker is held back.
        seconds: since the run started.
        size: bytes of output seen.
        rate: events a second, lately.
    """

    state: str
    seconds: float
    size: int
    rate: float


def line(facts: Facts, columns: int) -> str:
    """The text, cut to fewer than `columns` characters; the hint goes first when room is short."""
    text = f"{facts.state} · {age(facts.seconds)} · {size(facts.size)} · {facts.rate:.0f} ev/s"
    full = text + " · Ctrl-C interrupts, Ctrl-\\ detaches"
    return (full if len(full) < columns else text)[: columns - 1]


class StatusLine:
    """Knows whether the line is on the screen.

    Args:
        colour: whether the text may be dimmed (NO_COLOR is not set).
    """

    def __init__(self, *, colour: bool) -> None:
        self._style = _DIM if colour else _PLAIN
        self._shown: str | None = None

    def draw(self, facts: Facts, columns: int) -> bytes:
        """Bytes that show the line; none when it is there already or the terminal is too narrow."""
        if columns < MIN_COLUMNS:
            return self.erase()
        text = line(facts, columns)
        if text == self._shown:
            return b""
        self._shown = text
        row = b"".join((_TO_ROW, _NO_WRAP, self._style, text.encode()))
        return b"".join((_ERASE, _MAKE_ROW, _SAVE, row, _RESTORE, _WRAP))

    def erase(self) -> bytes:
        """Bytes that remove the line; none when it is not there."""
        if self._shown is None:
            return b""
        self._shown = None
        return _ERASE


class Rate:
    """Events a second over the last few seconds, from counts at given times.

    Args:
        window_seconds: how far back it looks.
    """

    def __init__(self, window_seconds: float = 3.0) -> None:
        self._window = window_seconds
        self._marks: deque[tuple[float, int]] = deque()

    def at(self, now: float, count: int) -> float:
        """The rate at monotonic `now`, when `count` events have been seen in all."""
        while self._marks and self._marks[0][0] <= now - self._window:
            self._marks.popleft()
        self._marks.append((now, count))
        first, before = self._marks[0]
        return (count - before) / (now - first) if now > first else 0.0
