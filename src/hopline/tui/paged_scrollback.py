"""A scrollback over a run's events: it knows which events its lines come from, and can go on at either end. Pure.

Lines go from it only by whole events, so that what went can be put back exactly where it was.
"""

from collections import deque
from dataclasses import dataclass, replace

from hopline.tui.looks import Look
from hopline.tui.scrollback import MAX_CHARACTERS, MAX_LINES, Scrollback

MAX_OPENING_CHARACTERS = 65_536
"""A first line of more is joined to what was before it without going back in it."""

ONE_EVENT = 4
"""An event may be so many times as large as everything may be; of a larger one the beginning is lost."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Where an event ended: its sequence, the line counted from a fixed one, the place in it, and how it went on."""

    sequence: int
    line: int
    place: int
    look: Look
    held: str


class PagedScrollback(Scrollback):
    """Takes what each event adds, and gives up whole events at its top or, when asked, at its end.

    Args:
        floor: events up to it are not here.
        max_lines, max_characters: bounds, passed by one event at most.
    """

    def __init__(self, floor: int = 0, max_lines: int = MAX_LINES, max_characters: int = MAX_CHARACTERS) -> None:
        super().__init__(max_lines, max_characters)
        self._most_lines = max_lines * ONE_EVENT
        self.floor = floor
        self.torn = False
        """Whether the top is inside an event whose beginning is lost, so that nothing can be put above."""
        self.holding = False
        """Whether nothing may go from the top, but for a part of an event that is too large."""
        self._marks: deque[Mark] = deque()
        self._base = 0
        """What the first line is counted as."""
        self._adding = 0
        self._opening: str | None = ""
        """What was written on the first line, as it came; None when it is too much to be kept."""
        self._opening_over = False
        """Whether the first line has ended."""

    @property
    def last(self) -> int:
        """The event that the last line comes from; the floor when there is none."""
        return self._marks[-1].sequence if self._marks else self.floor

    @property
    def over(self) -> bool:
        """Whether there is more than the bounds allow."""
        return len(self.lines) > self._max_lines or self._characters > self._max_characters

    def add(self, sequence: int, text: str) -> int:
        """Write what event `sequence` adds. Returns how many lines went from the top for it."""
        self._adding = sequence
        return self.feed(text)

    def feed(self, text: str) -> int:
        """See Scrollback."""
        if not self._opening_over:
            self._keep_opening(text)
        before = self.dropped
        gone = super().feed(text)
        self.torn |= self.dropped > before + gone
        return gone

    def note(self, text: str) -> None:
        """See Scrollback."""
        self._opening_over = True
        super().note(text)

    def prepend(self, older: "PagedScrollback") -> int:
        """Put above what was written before. Returns how many lines were put there.

        Args:
            older: was given exactly the events before what is here; of no more use afterwards. Where a line was under
                way between the two, it is written anew, so that going back in it has its effect.
        """
        joined = older.lines[-1].length
        if self._opening is not None:
            older.feed(self._opening)
            first = older.lines[-1]
        else:
            first = older.lines[-1]
            for piece, look in self.lines[0].pieces:
                first.write(first.length, piece, look)
        above = older.lines[:-1]
        self._characters += first.length - self.lines[0].length + sum(line.length for line in above)
        self.lines[0] = first
        if not self._opening_over:
            self._row, self._place, self._look = 0, older._place, older._look
        marks = [replace(mark, place=mark.place + joined) if mark.line == self._base else mark for mark in self._marks]
        self.lines[:0] = above
        self._row += len(above)
        self._base -= len(above)
        shift = self._base - older._base
        self._marks = deque([*(replace(mark, line=mark.line + shift) for mark in older._marks), *marks])
        self._changed = 0
        self._opening, self._opening_over = older._opening, older._opening_over or self._opening_over
        self.floor, self.torn = older.floor, older.torn
        return len(above)

    def cut_end(self, keep: int) -> None:
        """Give up whole events at the end until the bounds hold; `last` tells with which to go on.

        Args:
            keep: so many lines from the top stay, whatever the bounds.
        """
        while self.over and len(self._marks) > 1 and self._marks[-2].line - self._base >= keep:
            gone = self._marks.pop()
            self._end_at(self._marks[-1], gone)

    def _end_at(self, end: Mark, gone: Mark) -> None:
        row = min(end.line - self._base, len(self.lines) - 1)
        self._characters -= sum(line.length for line in self.lines[row + 1 :])
        del self.lines[row + 1 :]
        line = self.lines[row]
        before = line.length
        if gone.line > end.line or gone.place > end.place:
            line.cut(end.place)
        self._characters += line.length - before
        self._row, self._place, self._look, self._held = row, end.place, end.look, end.held
        if row == 0:
            self._opening, self._opening_over = None, False
        self._touch(row)

    def _keep_opening(self, text: str) -> None:
        head, newline, _ = text.partition("\n")
        self._opening_over = bool(newline)
        if self._opening is not None:
            self._opening = self._opening + head if len(self._opening) + len(head) <= MAX_OPENING_CHARACTERS else None

    def _trim(self) -> int:
        """After what was fed: mark its end, and give up whole events at the top."""
        if self._adding:
            mark = Mark(self._adding, self._base + self._row, self._place, self._look, self._held)
            self._marks.append(mark)
            self._adding = 0
        row, place, floor = 0, 0, None
        lines, characters = len(self.lines), self._characters
        keep = len(self._marks) if self.holding else 1
        while (lines > self._max_lines or characters > self._max_characters) and len(self._marks) > keep:
            mark = self._marks.popleft()
            upto = min(max(row, mark.line - self._base), len(self.lines) - 1)
            characters -= sum(line.length for line in self.lines[row:upto])
            lines -= upto - row
            place = mark.place if upto > row or floor is None else max(place, mark.place)
            row, floor = upto, mark.sequence
        if floor is not None:
            self._drop(row, place, characters)
            self.floor, self.torn = floor, False
        if lines > self._most_lines or characters > self._max_characters * ONE_EVENT:
            row += self._tear()
        return row

    def _drop(self, row: int, place: int, characters: int) -> None:
        """Lines before `row` have gone, and of that one what stands before `place`."""
        del self.lines[:row]
        first = self.lines[0]
        before = first.length
        first.cut_before(place)
        gone = before - first.length
        self._characters = characters - gone
        self._base += row
        self.dropped += row
        self._row = max(0, self._row - row)
        if self._row == 0:
            self._place = max(0, self._place - gone)
        for number, mark in enumerate(self._marks):
            if not gone or mark.line > self._base:
                break
            self._marks[number] = replace(mark, place=max(0, mark.place - gone))
        self._opening, self._opening_over = None, self._row > 0
        if self._changed is not None:
            self._changed = 0 if gone else max(0, self._changed - row)

    def _tear(self) -> int:
        """One event is too large: its beginning goes."""
        bound, self._max_lines = self._max_lines, self._most_lines
        room, self._max_characters = self._max_characters, self._max_characters * ONE_EVENT
        try:
            gone = super()._trim()
        finally:
            self._max_lines, self._max_characters = bound, room
        self._base += gone
        self.torn = True
        self._opening, self._opening_over = None, True
        return gone
