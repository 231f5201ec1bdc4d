"""Which segments there are, how far each may be read, and open descriptors for the ones read lately."""

import bisect
import os
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from hopline.journal.identity import SEGMENT_DIGITS, SEGMENTS_FOLDER

_MOST_OPEN = 8


@dataclass(slots=True, eq=False)
class Segment:
    """One segment file."""

    first: int
    """Sequence of its first line, which is its name."""
    path: Path
    size: int = -1
    """Bytes that may be read: whole committed lines; -1 until the file is looked at."""


def list_segments(folder: Path) -> list[Segment]:
    """The segments on disk, oldest first; other files are none of ours. Raises OSError."""
    names = sorted(
        name
        for name in os.listdir(folder / SEGMENTS_FOLDER)  # noqa: PTH208  # names are all that is wanted
        if len(name) == SEGMENT_DIGITS + len(".jsonl") and name.endswith(".jsonl") and name[:SEGMENT_DIGITS].isdigit()
    )
    return [Segment(int(name[:SEGMENT_DIGITS]), folder / SEGMENTS_FOLDER / name) for name in names]


class Catalogue:
    """The segments of one store. The writer adds and drops; readers look up; a lock keeps the two apart."""

    def __init__(self, segments: list[Segment]) -> None:
        self._lock = threading.Lock()
        self._segments = tuple(segments)
        self._firsts = [segment.first for segment in segments]
        self._open: OrderedDict[int, int] = OrderedDict()

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Oldest first; never empty in an open store."""
        return self._segments

    def add(self, segment: Segment) -> None:
        """A new newest segment."""
        with self._lock:
            self._segments = (*self._segments, segment)
            self._firsts.append(segment.first)

    def drop_oldest(self) -> Segment:
        """Forget the oldest segment; the caller removes its file."""
        with self._lock:
            oldest, *rest = self._segments
            self._segments = tuple(rest)
            del self._firsts[0]
            descriptor = self._open.pop(oldest.first, None)
        if descriptor is not None:
            os.close(descriptor)
        return oldest

    def holding(self, sequence: int) -> tuple[Segment, Segment | None]:
        """The segment that would hold `sequence` (the oldest for an older one), and the one after it."""
        with self._lock:
            place = max(bisect.bisect_right(self._firsts, sequence) - 1, 0)
            following = self._segments[place + 1] if place + 1 < len(self._segments) else None
            return self._segments[place], following

    def named(self, first: int) -> Segment | None:
        """The segment that begins with exactly this sequence."""
        segment, _ = self.holding(first)
        return segment if segment.first == first else None

    def size(self, segment: Segment) -> int:
        """How far the segment may be read. Raises OSError."""
        if segment.size < 0:
            segment.size = segment.path.stat().st_size
        return segment.size

    def pread(self, segment: Segment, size: int, offset: int) -> bytes:
        """Up to `size` bytes at `offset`. Raises OSError, FileNotFoundError when the segment was dropped."""
        with self._lock:
            descriptor = self._open.get(segment.first)
            if descriptor is None:
                descriptor = os.open(segment.path, os.O_RDONLY | os.O_CLOEXEC)
                self._open[segment.first] = descriptor
                if len(self._open) > _MOST_OPEN:
                    os.close(self._open.popitem(last=False)[1])
            else:
                self._open.move_to_end(segment.first)
            return os.pread(descriptor, size, offset)

    def forget(self, first: int) -> None:
        """Close the descriptor kept for this name, whose file is another one now."""
        with self._lock:
            descriptor = self._open.pop(first, None)
        if descriptor is not None:
            os.close(descriptor)

    def close(self) -> None:
        """Close every descriptor."""
        with self._lock:
            while self._open:
                os.close(self._open.popitem()[1])
