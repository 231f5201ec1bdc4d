"""Running account of one segment: size, checksum, and the marks in it. Pure; the same bytes give the same."""

import zlib

from hopline.journal.lines import sequence_at
from hopline.journal.port import Mark

MARK_BYTES = 256 * 1024
"""Least distance of two marks: reading from anywhere touches at most this and one line more than was asked."""


class Tally:
    """Feeds whole lines, in any pieces; the marks depend on the bytes alone, so a rebuilt index equals a fresh one.

    Args:
        segment: first sequence of the segment.
        offset: bytes already accounted for.
        crc32: of those bytes.
        marked: offset of the last mark among them, 0 when there is none.
        last_sequence: the last one among them; segment - 1 when there is none.
    """

    __slots__ = ("crc32", "last_sequence", "marked", "offset", "segment")

    def __init__(
        self, segment: int, offset: int = 0, crc32: int = 0, marked: int = 0, last_sequence: int | None = None
    ) -> None:
        self.segment = segment
        self.offset = offset
        self.crc32 = crc32
        self.marked = marked
        self.last_sequence = segment - 1 if last_sequence is None else last_sequence

    def feed(self, data: bytes, last_sequence: int) -> list[Mark]:
        """Account for `data`, whole lines of which the last has `last_sequence`; the marks that begin in it."""
        marks: list[Mark] = []
        view = memoryview(data)
        done = 0
        while True:
            wanted = self.marked + MARK_BYTES - self.offset
            # A line begins at 0 and after every newline but the last, so a mark always has a line.
            place = 0 if wanted <= 0 else data.find(b"\n", wanted - 1, len(data) - 1) + 1
            if wanted > 0 and place == 0:
                break
            self.crc32 = zlib.crc32(view[done:place], self.crc32)
            done = place
            self.marked = self.offset + place
            sequence = sequence_at(data, place)
            if sequence is not None:
                marks.append(Mark(sequence, self.segment, self.marked, self.crc32))
        self.crc32 = zlib.crc32(view[done:], self.crc32)
        self.offset += len(data)
        self.last_sequence = last_sequence
        return marks
