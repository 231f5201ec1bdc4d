"""Finds where an event's line begins in a segment: the index narrows it down, the lines themselves decide."""

from hopline.journal import lines
from hopline.journal.catalogue import Catalogue, Segment
from hopline.journal.checksums import Marks
from hopline.journal.scan import read_lines
from hopline.journal.stepper import Stepper

_PROBE_BYTES = 4096
_SPAN_BYTES = 64 * 1024
_TAIL_BYTES = 64 * 1024
_PREFIX_BYTES = len(lines.prefix(1 << 63))
_BLOCK_BYTES = 256 * 1024


def find_place(catalogue: Catalogue, marks: Marks | None, segment: Segment, wanted: int, size: int) -> int:
    """Where the line `wanted` begins in the first `size` bytes, or the first sound one after it; `size` if none does.

    Without an index this reads about 20 little pieces; with one, a single block. Damage in the way makes it go
    through the segment. Raises OSError.
    """
    if wanted == segment.first:
        return 0
    low, high = 0, size
    if marks is not None:
        offsets = [mark.offset for mark in marks.around(segment.first, wanted, wanted) if mark.offset <= size]
        low = offsets[0] if offsets else 0
        high = offsets[-1] if len(offsets) > 1 else size
    low, high = _narrow(catalogue, segment, wanted, low, high)
    block = catalogue.pread(segment, high - low, low)
    place = lines.seek(block, wanted)
    found = lines.sequence_at(block, place)
    if found == wanted:
        return low + place
    if found is not None and found < wanted and low + len(block) == size and block.find(b"\n", place) + 1 == len(block):
        return size
    return _step_to(segment, wanted, size)


def _narrow(catalogue: Catalogue, segment: Segment, wanted: int, low: int, high: int) -> tuple[int, int]:
    """Bisect the file until what is left is one block; the line looked for begins in it, if anywhere."""
    middle = high - _TAIL_BYTES
    # Most readers want the end, so that is tried first.
    while high - low > _BLOCK_BYTES:
        found = _line_after(catalogue, segment, max(middle, low + 1), high)
        if found is not None and found[1] <= wanted:
            low = found[0]
        else:
            high = max(middle, low + 1)
        middle = (low + high) // 2
    return low, high


def _line_after(catalogue: Catalogue, segment: Segment, offset: int, high: int) -> tuple[int, int] | None:
    """Where the first line with a sequence begins at or after `offset` and before `high`, and its sequence."""
    offset -= 1
    rest, span = b"", _PROBE_BYTES
    while offset < high:
        piece = catalogue.pread(segment, min(span, high - offset + _PROBE_BYTES), offset)
        data = rest + piece
        start = offset - len(rest)
        place = data.find(b"\n") + 1
        while place and start + place < high:
            if (sequence := lines.sequence_at(data, place)) is not None:
                return start + place, sequence
            if len(data) - place < _PREFIX_BYTES:
                break
            place = data.find(b"\n", place) + 1
        if not piece:
            return None
        # What may be the beginning of a line is looked at again together with what follows.
        rest = data[max(place - 1, 0) :] if place else b""
        offset += len(piece)
        span = _SPAN_BYTES
    return None


def _step_to(segment: Segment, wanted: int, size: int) -> int:
    """Line by line to the first event at or after `wanted`."""
    offset = 0
    stepper = Stepper(segment.path, segment.first, 0)
    for data in read_lines(segment, 0):
        if not data.endswith(b"\n") or offset >= size:
            break
        for start, _, head in stepper.feed(data):
            if head.sequence >= wanted:
                return offset + start
        offset += len(data)
    return size
