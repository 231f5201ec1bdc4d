"""Checks what is read against the sums in the index, block by block, each block once."""

import itertools
import zlib
from collections.abc import Callable
from enum import Enum, auto
from typing import Protocol

from hopline.journal.catalogue import Catalogue, Segment
from hopline.journal.lines import sequence_at
from hopline.journal.port import Damage, Mark
from hopline.journal.stepper import NO_LIMIT, Stepper

_MOST_REMEMBERED = 100_000


class Verdict(Enum):
    """What the sums say of some bytes."""

    SOUND = auto()
    DAMAGED = auto()
    UNKNOWN = auto()
    """The index does not cover them all."""


class Marks(Protocol):
    """Where reading may begin, and what the bytes between two places should sum to."""

    def around(self, segment: int, first: int, last: int) -> list[Mark]:
        """The marks of a segment from the last one at or before `first` to the first one after `last`.

        The segment's beginning and its indexed end count as marks.
        """
        ...

    def damaged(self, segment: int) -> list[tuple[int, int]]:
        """Start and end of each place in the segment that held no events when it was indexed."""
        ...


class Checksums:
    """Remembers which blocks were sound and which were not.

    Args:
        catalogue: where the bytes are.
        marks: what they should sum to.
        note: told of each damaged block's damage.
    """

    def __init__(self, catalogue: Catalogue, marks: Marks, note: Callable[[Damage], None]) -> None:
        self._catalogue = catalogue
        self._marks = marks
        self._note = note
        self._known: dict[tuple[int, int], bool] = {}
        self._damaged: dict[int, list[tuple[int, int]]] = {}

    def verdict(self, segment: Segment, size: int, offset: int, end: int, first: int, last: int | None) -> Verdict:
        """What the sums say of every block that touches the bytes from `offset` to `end`, events `first` to `last`.

        `last` may be unknown. Raises OSError.
        """
        upto = NO_LIMIT - 1 if last is None else last
        marks = [mark for mark in self._marks.around(segment.first, first, upto) if mark.offset <= size]
        verdict = Verdict.SOUND if marks and marks[-1].offset >= end else Verdict.UNKNOWN
        for start, stop in itertools.pairwise(marks):
            if start.offset < end and stop.offset > offset:
                known = self._known.get((segment.first, stop.offset))
                if known is None:
                    known = self._look(segment, start, stop)
                if not known:
                    verdict = Verdict.DAMAGED
        damaged = self._damaged.get(segment.first)
        if damaged is None:
            damaged = self._damaged[segment.first] = self._marks.damaged(segment.first)
        if any(start <= end and stop >= offset for start, stop in damaged):
            return Verdict.DAMAGED
        return verdict

    def _look(self, segment: Segment, start: Mark, stop: Mark) -> bool:
        data = self._catalogue.pread(segment, stop.offset - start.offset, start.offset)
        sound = zlib.crc32(data, start.crc32) == stop.crc32
        # Where bytes are missing before it, the block begins inside a line; the reader finds that out by itself.
        if not sound and sequence_at(data) == start.sequence and data.endswith(b"\n"):
            stepper = Stepper(segment.path, start.sequence, start.offset, stop.sequence)
            stepper.feed(data)
            stepper.finish()
            for damage in stepper.damage:
                self._note(damage)
            if not stepper.damage:
                reason = "the checksum differs although every line reads"
                self._note(Damage(segment.path, start.offset, stop.offset, start.sequence, start.sequence - 1, reason))
        if len(self._known) >= _MOST_REMEMBERED:
            self._known.clear()
        self._known[segment.first, stop.offset] = sound
        return sound
