"""A journal to be read only: nothing on disk changes, and opening takes the same time whatever the run's size."""

import itertools
from pathlib import Path

from hopline.errors import Unavailable
from hopline.journal import lines
from hopline.journal.catalogue import Catalogue, Segment, list_segments
from hopline.journal.identity import Identity, read_identity
from hopline.journal.index_view import IndexView
from hopline.journal.port import NOTHING, Damage, Slice, SpineRow
from hopline.journal.reader import Reader
from hopline.journal.scan import scan, whole_lines_end
from hopline.journal.spine import Spine, read_saved
from hopline.journal.stepper import Stepper
from hopline.journal.tally import Tally

_TAIL_BYTES = 64 * 1024


class JournalView:
    """The committed events of a store as they were when it was opened. An unfinished last line is not one.

    Get one with `open`; end it with `close`. Not thread-safe.
    """

    def __init__(self, folder: Path, identity: Identity, catalogue: Catalogue) -> None:
        """Not for callers: use `open`."""
        self._folder = folder
        self._identity = identity
        self._catalogue = catalogue
        self._index = IndexView.open(folder, identity)
        self._reader = Reader(catalogue, self._index)
        self._last = self._find_last()
        self._spine: Spine | None = None

    @classmethod
    def open(cls, folder: Path) -> "JournalView":
        """The journal in `folder`. Raises Unavailable when there is none that can be read, Corrupt when it is odd."""
        identity = read_identity(folder)
        try:
            segments = list_segments(folder)
            if not segments:
                raise Unavailable(f"the journal in {folder} has lost its segments; restore them from a copy.")
            return cls(folder, identity, Catalogue(segments))
        except OSError as error:
            raise Unavailable(f"cannot read the journal in {folder}: {error.strerror}.") from error

    @property
    def store_id(self) -> str:
        """Names the sequence space: 32 hex digits, random per store."""
        return self._identity.store_id

    @property
    def run_id(self) -> str:
        """The run whose events these are."""
        return self._identity.run_id

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self._folder

    @property
    def first_sequence(self) -> int:
        """The oldest event kept; 1 unless oldest segments were dropped."""
        return self._catalogue.segments[0].first

    @property
    def last_sequence(self) -> int:
        """The newest event; one less than `first_sequence` when there is none."""
        return self._last

    @property
    def committed_sequence(self) -> int:
        """The same as `last_sequence`."""
        return self._last

    @property
    def size_bytes(self) -> int:
        """Bytes of the segments together."""
        return sum(self._catalogue.size(segment) for segment in self._catalogue.segments)

    @property
    def damage(self) -> list[Damage]:
        """Every damage met so far, each once."""
        return list(self._reader.damage)

    def read(self, after: int, *, before: int | None = None, max_bytes: int = 1 << 20) -> Slice:
        """Events with after < sequence < before, at least one if there is any, else about `max_bytes`."""
        if after >= self._last:
            return NOTHING
        return self._reader.read(after, before, max_bytes)

    def spine(self, through: int) -> list[bytes]:
        """The lines of SPINE_KINDS with sequence <= through, in order, without newlines.

        Reads what the index does not know of: about one step after a crash, everything when there is no index.
        """
        if self._spine is None:
            self._spine = Spine(self._folder, self._catalogue, self._find_spine())
        return self._spine.through(min(through, self._last))

    def close(self) -> None:
        """Close its files."""
        self._catalogue.close()
        if self._index is not None:
            self._index.close()

    def _find_spine(self) -> list[SpineRow]:
        segments = self._catalogue.segments
        known = {row.first_sequence: row for row in self._index.segments()} if self._index is not None else {}
        names = {segment.first for segment in segments}
        rows = read_saved(self._folder, before=segments[0].first)
        if self._index is not None:
            rows += [row for row in self._index.spine() if row.segment in names]
        for segment, following in zip(segments, [*segments[1:], None], strict=True):
            row = known.get(segment.first)
            if row is not None and row.sealed:
                continue
            tally = Tally(segment.first)
            if row is not None and row.size <= self._catalogue.size(segment):
                tally = Tally(segment.first, row.size, row.crc32, row.size, row.last_sequence)
            else:
                rows = [row for row in rows if row.segment != segment.first]
            rows += scan(segment, tally, limit=None if following is None else following.first).spine
        return sorted(rows, key=lambda row: row.sequence)

    def _find_last(self) -> int:
        """The last event of the newest segment that holds one; looks at ends of segments only."""
        for segment in reversed(self._catalogue.segments):
            if segment is self._catalogue.segments[-1]:
                segment.size = whole_lines_end(segment)
            if last := self._last_in(segment):
                return last
        return self._catalogue.segments[0].first - 1

    def _last_in(self, segment: Segment) -> int | None:
        size = self._catalogue.size(segment)
        span = _TAIL_BYTES
        while size:
            start = max(size - span, 0)
            tail = self._catalogue.pread(segment, size - start, start)
            begin = tail.find(b"\n") + 1 if start else 0
            if last := last_event(segment, tail[begin:], start + begin):
                return last
            if not start:
                return None
            span *= 8
        return None


def last_event(segment: Segment, data: bytes, offset: int) -> int | None:
    """The last event that a reader coming from before `data`, which begins with a line, would deliver of it."""
    sequences = [head.sequence if (head := lines.parse(line)) else None for line in data.split(b"\n")[:-1]]
    due = segment.first
    if offset:
        sound = [one for one, two in itertools.pairwise(sequences) if one is not None and two == one + 1]
        sound += [one for one in sequences if one is not None]
        if not sound:
            return None
        due = sound[0]
    stepper = Stepper(segment.path, due, offset)
    events = stepper.feed(data)
    return events[-1][2].sequence if events else None
