"""Steps over damaged lines: which lines of a segment are events, and what lies between them. Pure."""

from pathlib import Path

from hopline.journal import lines
from hopline.journal.port import Damage

NO_LIMIT = 1 << 63


class Stepper:
    """Reads a segment's lines in order, a piece at a time, and tells events from damage.

    A line is an event when it parses, begins as ours do, and carries the sequence that is due; a later sequence is
    believed when the line after it goes on from there, or when damage lies before it. Everything else is damage.

    Args:
        path: the segment, for the reports.
        due: the sequence that the first line should carry.
        offset: where in the segment the first line begins.
        limit: no event here can have this sequence: the next segment begins with it.
    """

    def __init__(self, path: Path, due: int, offset: int, limit: int = NO_LIMIT) -> None:
        self.due = due
        self.offset = offset
        self.damage: list[Damage] = []
        self._path = path
        self._limit = limit
        self._bad_start = -1
        self._bad_lines = 0

    @property
    def stepping(self) -> bool:
        """Whether what was fed last is damage whose end is not known yet."""
        return self._bad_start >= 0

    def skip(self, count: int, size: int) -> None:
        """Go past `count` events in `size` bytes that are known to be sound."""
        self.due += count
        self.offset += size

    def feed(self, data: bytes) -> list[tuple[int, int, lines.Head]]:
        """The events in `data`, whole lines: start and end (after the newline) in `data`, and what each is.

        A last line without its newline is damage, and the segment must end there.
        """
        bounds: list[tuple[int, int]] = []
        start = 0
        while start < len(data):
            end = data.find(b"\n", start) + 1 or len(data)
            bounds.append((start, end))
            start = end
        heads = [lines.parse(data[start : end - 1]) for start, end in bounds]
        events: list[tuple[int, int, lines.Head]] = []
        for place, (start, end) in enumerate(bounds):
            head = heads[place]
            following = heads[place + 1] if place + 1 < len(heads) else None
            if head is not None and self._believed(head.sequence, following):
                self._close(self.offset + start, head.sequence)
                events.append((start, end, head))
                self.due = head.sequence + 1
            else:
                if self._bad_start < 0:
                    self._bad_start = self.offset + start
                self._bad_lines += 1
        self.offset += len(data)
        return events

    def finish(self) -> None:
        """The segment ends here: damage at its end counts one sequence a line, or all up to the next segment."""
        if self._bad_start >= 0:
            following = self.due + self._bad_lines if self._limit == NO_LIMIT else self._limit
            self._close(self.offset, max(following, self.due))
        elif self._limit != NO_LIMIT and self.due < self._limit:
            self._close(self.offset, self._limit)

    def _believed(self, sequence: int, following: lines.Head | None) -> bool:
        if sequence == self.due:
            return True
        if not self.due < sequence < self._limit:
            return False
        if following is not None:
            return following.sequence == sequence + 1
        return self._bad_start >= 0

    def _close(self, end: int, sequence: int) -> None:
        if self._bad_start >= 0:
            start, reason = self._bad_start, f"{self._bad_lines} lines there are no events"
            if self._bad_lines == 1:
                reason = "the line there is no event"
        elif sequence > self.due:
            start, reason = end, "lines are missing there"
        else:
            return
        self.damage.append(Damage(self._path, start, end, self.due, sequence - 1, reason))
        self.due = sequence
        self._bad_start = -1
        self._bad_lines = 0
