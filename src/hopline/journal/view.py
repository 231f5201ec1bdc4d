"""A journal to be read only: nothing on disk changes, and opening takes the same time whatever the run's size."""

from pathlib import Path

from hopline.errors import Unavailable
from hopline.journal import lines
from hopline.journal.catalogue import Catalogue, Segment, list_segments
from hopline.journal.identity import Identity, read_identity
from hopline.journal.port import SPINE_KINDS, Damage, Slice
from hopline.journal.reader import Reader

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
        self._reader = Reader(catalogue)
        self._last = self._find_last()
        self._cached: tuple[tuple[int, int | None, int], Slice] | None = None

    @classmethod
    def open(cls, folder: Path) -> "JournalView":
        """The journal in `folder`. Raises Unavailable when there is none that can be read, Corrupt when it is odd."""
        identity = read_identity(folder)
        try:
            segments = list_segments(folder)
            if not segments:
                raise Unavailable(f"the journal in {folder} has no segment; `hopline doctor` can look at it.")
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
        key = (after, before, max_bytes)
        if self._cached is None or self._cached[0] != key:
            self._cached = (key, self._reader.read(after, before, max_bytes))
        return self._cached[1]

    def spine(self, through: int) -> list[bytes]:
        """The lines of SPINE_KINDS with sequence <= through, in order, without newlines."""
        found: list[bytes] = []
        cursor = 0
        while (part := self.read(cursor, before=through + 1)).count:
            for line in part.data.splitlines():
                head = lines.parse(line)
                if head is not None and head.type in SPINE_KINDS:
                    found.append(line)
            cursor = part.last
        return found

    def close(self) -> None:
        """Close its files."""
        self._catalogue.close()

    def _find_last(self) -> int:
        """Look at the end of the newest segment that holds a whole line."""
        for segment in reversed(self._catalogue.segments):
            last = self._last_in(segment)
            if last is not None:
                return last
        return self._catalogue.segments[0].first - 1

    def _last_in(self, segment: Segment) -> int | None:
        size = self._catalogue.size(segment)
        span = _TAIL_BYTES
        while size:
            start = max(size - span, 0)
            tail = self._catalogue.pread(segment, size - start, start)
            end = tail.rfind(b"\n") + 1
            if segment is self._catalogue.segments[-1] and end:
                segment.size = start + end
            begin = tail.rfind(b"\n", 0, max(end - 1, 0)) + 1
            if end and (begin or not start):
                return lines.sequence_at(tail, begin)
            if not start:
                segment.size = 0
                return None
            span *= 4
        return None
