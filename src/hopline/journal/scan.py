"""Reads a segment's bytes and finds all that the index holds of them: marks, spine lines, checksum, damage."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from hopline.journal import lines
from hopline.journal.catalogue import Segment
from hopline.journal.port import SPINE_KINDS, Damage, Mark, SpineRow
from hopline.journal.stepper import NO_LIMIT, Stepper
from hopline.journal.tally import Tally

_STEP_BYTES = 1 << 20
_TAIL_BYTES = 64 * 1024

OnBytes = Callable[[int], None]
"""Called with the number of bytes just gone through, for progress."""


@dataclass(slots=True)
class Found:
    """What a scan adds to what was known."""

    marks: list[Mark] = field(default_factory=list)
    spine: list[SpineRow] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    bytes_read: int = 0


def scan(segment: Segment, tally: Tally, *, limit: int | None, on_bytes: OnBytes | None = None) -> Found:
    """Go through the segment from where `tally` stands to its last whole line, and leave `tally` there.

    Args:
        segment: the file.
        tally: the account so far.
        limit: the first sequence of the next segment, or None when this is the newest; an unfinished last line is
            damage in the former and nothing in the latter.
        on_bytes: told of progress.

    Raises OSError.
    """
    found = Found()
    bound = NO_LIMIT if limit is None else limit
    stepper = Stepper(segment.path, tally.last_sequence + 1, tally.offset, bound)
    for data in read_lines(segment, tally.offset):
        if not data.endswith(b"\n"):
            if limit is not None:
                stepper.feed(data)
            break
        start = stepper.offset
        if not stepper.stepping and (heads := lines.parse_run(data, stepper.due)) is not None:
            stepper.skip(len(heads), len(data))
            spine = [(head.sequence, head.type) for head in heads if head.type in SPINE_KINDS]
            places = [lines.seek(data, sequence) for sequence, _ in spine]
        else:
            events = stepper.feed(data)
            kept = [event for event in events if event[2].type in SPINE_KINDS]
            spine = [(head.sequence, head.type) for _, _, head in kept]
            places = [place for place, _, _ in kept]
        for (sequence, kind), place in zip(spine, places, strict=True):
            size = data.index(b"\n", place) - place
            found.spine.append(SpineRow(sequence, kind, segment.first, start + place, size))
        found.marks += tally.feed(data, stepper.due - 1)
        found.bytes_read += len(data)
        if on_bytes is not None:
            on_bytes(len(data))
    stepper.finish()
    found.damage = stepper.damage
    tally.last_sequence = max(tally.last_sequence, stepper.due - 1)
    return found


def read_lines(segment: Segment, offset: int) -> Iterator[bytes]:
    """The segment's bytes from `offset` on in pieces of whole lines; a last piece without a newline is unfinished."""
    descriptor = os.open(segment.path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        rest = b""
        while data := os.pread(descriptor, _STEP_BYTES, offset):
            offset += len(data)
            end = data.rfind(b"\n") + 1
            if end:
                yield rest + data[:end]
                rest = data[end:]
            else:
                rest += data
        if rest:
            yield rest
    finally:
        os.close(descriptor)


def whole_lines_end(segment: Segment) -> int:
    """Where the last whole line of the file ends; looks at no more than the unfinished line. Raises OSError."""
    descriptor = os.open(segment.path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        end = os.fstat(descriptor).st_size
        while end:
            start = max(end - _TAIL_BYTES, 0)
            found = os.pread(descriptor, end - start, start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            end = start
        return 0
    finally:
        os.close(descriptor)
