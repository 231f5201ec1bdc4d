"""Checks what is read against the sums in the index, block by block, each block once."""

import itertools
import zlib
from collections.abc import Callable
from typing import Protocol

from hopline.journal.catalogue import Catalogue, Segment
from hopline.journal.port import Damage, Mark
from hopline.journal.stepper import Stepper

_MOST_REMEMBERED = 100_000


class Marks(Protocol):
    """Where reading may begin, and what the bytes between two places should sum to."""

    def around(self, segment: int, first: int, last: int) -> list[Mark]:
        """The marks of a segment from the last one at or before `first` to the first one after `last`.

        The segment's beginning and its indexed end count as marks.
        """
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

    def sound(self, segment: Segment, size: int, offset: int, end: int, first: int, last: int) -> bool:
        """Whether every block that touches the bytes from `offset` to `end`, events `first` to `last`, sums up.

        Bytes that the index does not cover are not doubted. Raises OSError.
        """
        marks = [mark for mark in self._marks.around(segment.first, first, last) if mark.offset <= size]
        sound = True
        for start, stop in itertools.pairwise(marks):
            if start.offset < end and stop.offset > offset:
                known = self._known.get((segment.first, stop.offset))
                if known is None:
                    known = self._look(segment, start, stop)
                sound = sound and known
        return sound

    def _look(self, segment: Segment, start: Mark, stop: Mark) -> bool:
        data = self._catalogue.pread(segment, stop.offset - start.offset, start.offset)
        sound = zlib.crc32(data, start.crc32) == stop.crc32
        if not sound:
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
