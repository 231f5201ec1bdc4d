"""Reads committed events from segment files: slices forwarded as they are stored, damage stepped over."""

from collections import OrderedDict
from typing import Protocol

from hopline.journal import lines
from hopline.journal.catalogue import Catalogue, Segment
from hopline.journal.port import NOTHING, Damage, Mark, Slice
from hopline.journal.stepper import NO_LIMIT, Stepper

_PROBE_BYTES = 4096
_BLOCK_BYTES = 256 * 1024
_STEP_BYTES = 1 << 20
_REMEMBERED = 256


class Marks(Protocol):
    """Where reading may begin, and what the bytes between two places should sum to."""

    def before(self, segment: int, sequence: int) -> Mark | None:
        """The last mark of the segment at or before `sequence`; None for the segment's beginning."""
        ...

    def after(self, segment: int, sequence: int) -> Mark | None:
        """The first mark of the segment after `sequence`, or its checked end; None when neither is known."""
        ...


class Reader:
    """Slices of one store's segments. Not thread-safe: one thread reads.

    Args:
        catalogue: the segments and how far each may be read.
        marks: the sparse index, or None to find every place by probing the segments.
    """

    def __init__(self, catalogue: Catalogue, marks: Marks | None = None) -> None:
        self.damage: list[Damage] = []
        self._catalogue = catalogue
        self._marks = marks
        self._ends: OrderedDict[int, tuple[int, int]] = OrderedDict()
        self._checked: set[tuple[int, int]] = set()

    def read(self, after: int, before: int | None, max_bytes: int) -> Slice:
        """As EventStore.read. Raises OSError only when the volume cannot be read."""
        wanted = after + 1
        while before is None or wanted < before:
            segment, following = self._catalogue.holding(wanted)
            wanted = max(wanted, segment.first)
            try:
                found, resume = self._read_in(segment, following, wanted, before, max_bytes)
            except FileNotFoundError:
                if segment in self._catalogue.segments:
                    raise
                continue
            if found.count:
                return found
            if resume is not None:
                wanted = resume
            elif following is None:
                break
            else:
                wanted = following.first
        return NOTHING

    def _read_in(
        self, segment: Segment, following: Segment | None, wanted: int, before: int | None, max_bytes: int
    ) -> tuple[Slice, int | None]:
        """A slice of this segment from `wanted` on; when empty, where to go on in it, or None for the next one."""
        size = self._catalogue.size(segment)
        limit = NO_LIMIT if following is None else following.first
        offset = self._place(segment, wanted, size)
        if offset >= size:
            return NOTHING, None
        data = self._pread_lines(segment, offset, size, max_bytes)
        if not data:
            self._note(Damage(segment.path, offset, size, wanted, limit - 1, "the last line there is unfinished"))
            return NOTHING, None
        last = lines.sequence_at(data, lines.last_line_start(data))
        clean = (
            lines.sequence_at(data) == wanted
            and last is not None
            and data.count(b"\n") == last - wanted + 1
            and b"\0" not in data
            and self._sums(segment, offset, len(data), wanted)
        )
        end = offset + len(data)
        if not clean or last is None:
            return self._step(segment, wanted, offset, data, limit, before, ended=end >= size)
        self._remember(last, segment, end)
        if before is not None and last >= before:
            data, last = data[: lines.seek(data, before)], before - 1
        return Slice(wanted, last, last - wanted + 1, data), None

    def _step(
        self, segment: Segment, wanted: int, offset: int, data: bytes, limit: int, before: int | None, *, ended: bool
    ) -> tuple[Slice, int | None]:
        stepper = Stepper(segment.path, wanted, offset, limit)
        events = stepper.feed(data)
        if ended:
            stepper.finish()
        for damage in stepper.damage:
            self._note(damage)
        kept = [event for event in events if event[2].sequence >= wanted]
        if kept:
            self._remember(kept[-1][2].sequence, segment, offset + kept[-1][1])
        if before is not None:
            kept = [event for event in kept if event[2].sequence < before]
        if not kept:
            return NOTHING, None if ended else stepper.due
        joined = b"".join(data[start:end] for start, end, _ in kept)
        return Slice(kept[0][2].sequence, kept[-1][2].sequence, len(kept), joined), None

    def _pread_lines(self, segment: Segment, offset: int, size: int, max_bytes: int) -> bytes:
        """Whole lines from `offset`, about `max_bytes` but at least one; empty when no line ends before `size`."""
        stop = min(offset + max(max_bytes, 1), size)
        if stop < size:
            # The end is looked for first, so that the slice itself is read once and never copied.
            for span in (_PROBE_BYTES, 2 * _BLOCK_BYTES):
                start = max(offset, stop - span)
                found = self._catalogue.pread(segment, stop - start, start).rfind(b"\n")
                if found >= 0:
                    return self._catalogue.pread(segment, start + found + 1 - offset, offset)
        while True:
            data = self._catalogue.pread(segment, stop - offset, offset)
            found = data.rfind(b"\n") if stop - offset <= max_bytes else data.find(b"\n")
            if found >= 0 or stop >= size:
                return data if found + 1 == len(data) else data[: found + 1]
            stop = min(stop + _STEP_BYTES, size)

    def _place(self, segment: Segment, wanted: int, size: int) -> int:
        """Where the line `wanted` begins, or the first readable one after it."""
        if wanted == segment.first:
            return 0
        if (known := self._ends.get(wanted - 1)) is not None and known[0] == segment.first:
            return known[1]
        low, high = 0, size
        if self._marks is not None:
            if (mark := self._marks.before(segment.first, wanted)) is not None and mark.offset < size:
                low = mark.offset
            if (mark := self._marks.after(segment.first, wanted)) is not None and low < mark.offset <= size:
                high = mark.offset
        low = self._narrow(segment, wanted, low, high)
        block = self._catalogue.pread(segment, min(high - low, 2 * _STEP_BYTES), low)
        place = lines.seek(block, wanted)
        if lines.sequence_at(block, place) == wanted:
            return low + place
        return self._place_by_steps(segment, wanted, size)

    def _narrow(self, segment: Segment, wanted: int, low: int, high: int) -> int:
        """Bisect by reading little pieces until what is left is one block; the new low end."""
        while high - low > _BLOCK_BYTES:
            middle = (low + high) // 2
            probe = self._catalogue.pread(segment, _PROBE_BYTES, middle - 1)
            place = probe.find(b"\n") + 1
            found = lines.sequence_at(probe, place) if place else None
            if found is None:
                probe = self._catalogue.pread(segment, min(2 * _STEP_BYTES, high - middle + 1), middle - 1)
                place = probe.find(b"\n") + 1
                while place and (found := lines.sequence_at(probe, place)) is None:
                    place = probe.find(b"\n", place) + 1
            if found is not None and found <= wanted:
                low = middle - 1 + place
            else:
                high = middle
        return low

    def _place_by_steps(self, segment: Segment, wanted: int, size: int) -> int:
        """Damage is in the way: go through the segment line by line to the first event at or after `wanted`."""
        offset = 0
        stepper = Stepper(segment.path, segment.first, 0)
        while offset < size:
            data = self._pread_lines(segment, offset, size, _STEP_BYTES)
            if not data:
                break
            for start, _, head in stepper.feed(data):
                if head.sequence >= wanted:
                    return offset + start
            offset += len(data)
        return offset

    def _sums(self, segment: Segment, offset: int, size: int, wanted: int) -> bool:
        return True

    def _remember(self, last: int, segment: Segment, end: int) -> None:
        self._ends[last] = (segment.first, end)
        self._ends.move_to_end(last)
        if len(self._ends) > _REMEMBERED:
            self._ends.popitem(last=False)

    def _note(self, damage: Damage) -> None:
        if damage not in self.damage:
            self.damage.append(damage)
