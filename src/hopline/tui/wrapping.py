"""Which rows lines take at a width, and which line a row shows. Pure.

Rows are counted from the top of what is kept. Only what has changed is measured again.
"""

from bisect import bisect_right
from collections.abc import Sequence

from rich.cells import get_character_cell_size

from hopline.tui.lines import Line, Piece


def breaks(text: str, width: int) -> list[int]:
    """Where `text` goes on in the next row of `width` cells: the first place of each row but the first."""
    if text.isascii():
        return list(range(width, len(text), width))
    found: list[int] = []
    used = 0
    for place, character in enumerate(text):
        cells = get_character_cell_size(character)
        if used + cells > width and used:
            found.append(place)
            used = 0
        used += cells
    return found


def height(line: Line, width: int) -> int:
    """How many rows a line takes; an empty one takes one."""
    if line.length <= width // 2:
        return 1  # not even wide characters fill it
    text = line.text()
    if text.isascii():
        return max(1, -(-len(text) // width))
    return len(breaks(text, width)) + 1


def row_of(line: Line, part: int, width: int) -> list[Piece]:
    """The pieces of the `part`-th row of a line."""
    if part == 0 and line.length <= width // 2:
        return line.pieces
    places = [0, *breaks(line.text(), width), line.length]
    if part >= len(places) - 1:
        return []
    return between(line.pieces, places[part], places[part + 1])


def between(pieces: Sequence[Piece], start: int, end: int) -> list[Piece]:
    """The pieces from place `start` up to `end`."""
    found: list[Piece] = []
    at = 0
    for text, look in pieces:
        if at >= end:
            break
        part = text[max(0, start - at) : end - at]
        if part:
            found.append((part, look))
        at += len(text)
    return found


class Rows:
    """The rows of a list of lines, at one width after another."""

    def __init__(self) -> None:
        self.width = 80
        self._starts: list[int] = [0]
        """First row of each line, and behind them the number of rows; all plus `_base`."""
        self._base = 0

    @property
    def total(self) -> int:
        """How many rows there are."""
        return self._starts[-1] - self._base

    def measure(self, lines: Sequence[Line], first: int, width: int) -> None:
        """Lines from index `first` on have changed; with another width, all have."""
        if width != self.width:
            self.width, first = max(1, width), 0
        del self._starts[first + 1 :]
        if first == 0:
            self._starts, self._base = [0], 0
        at = self._starts[-1]
        for line in lines[first:]:
            at += height(line, self.width)
            self._starts.append(at)

    def drop(self, count: int) -> int:
        """The first `count` lines have gone. Returns how many rows that was."""
        count = min(count, len(self._starts) - 1)
        rows = self._starts[count] - self._base
        del self._starts[:count]
        self._base += rows
        return rows

    def locate(self, row: int) -> tuple[int, int]:
        """(line, part of it) at a row; the last one's when there are not so many."""
        if self.total == 0:
            return 0, 0
        wanted = min(max(0, row), self.total - 1) + self._base
        line = bisect_right(self._starts, wanted) - 1
        return line, wanted - self._starts[line]

    def first_row(self, line: int) -> int:
        """The row at which a line begins."""
        return self._starts[min(line, len(self._starts) - 1)] - self._base
