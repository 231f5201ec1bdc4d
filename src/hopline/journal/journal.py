"""The journal of one live run: append, commit, publish; read back anything at any time."""

from collections.abc import Callable
from pathlib import Path

from hopline.errors import Misuse, Unavailable
from hopline.journal import lines
from hopline.journal.backlog import CHUNK_BYTES, Backlog
from hopline.journal.bound import Bound, bounded_segment_bytes, pausing_bytes
from hopline.journal.catalogue import Catalogue, Segment
from hopline.journal.identity import Identity, create_identity, discard_identity, read_identity, segment_path
from hopline.journal.ledger import Ledger
from hopline.journal.listeners import Listeners
from hopline.journal.log import SegmentLog
from hopline.journal.port import MAX_EVENT_BYTES, CloseReport, Damage, JournalOptions, Slice
from hopline.journal.reader import Reader, Trust
from hopline.journal.space import Space
from hopline.journal.spine import Spine
from hopline.journal.start import Start
from hopline.journal.tally import Tally
from hopline.journal.window import Window
from hopline.journal.writer import Parts, Writer

BACKLOG_BYTES = 4 * 1024 * 1024
"""Assigned and not yet committed beyond this, `room()` says False."""

_CLOSE_SECONDS = 5.0
_DEFAULT = JournalOptions()


def _ignore(*_: object) -> None:
    return None


class Journal:
    """The one writer of a store. Use it from one thread, its owner's; the writer thread is inside.

    An event is committed before anything here shows it: `read` returns committed events only, and `on_commit` is
    called, from the writer thread, after each commit. Get one with `create` or `open`; end it with `close`.
    """

    def __init__(
        self, folder: Path, identity: Identity, options: JournalOptions, start: Start, listeners: Listeners
    ) -> None:
        """Not for callers: use `create` or `open`."""
        self.report = start.report
        """What opening found; all zero for a new journal."""
        self._folder = folder
        self._identity = identity
        self._last = start.tally.last_sequence
        self._appended = 0
        self._pausing_bytes = pausing_bytes(options)
        self._closed = False
        self._window = Window(self._last)
        segment_bytes = bounded_segment_bytes(options)
        self._backlog = Backlog(min(CHUNK_BYTES, segment_bytes // 4))
        self._catalogue = Catalogue(start.segments)
        self._spine = Spine(folder, self._catalogue, start.spine)
        self._marks = start.marks
        self._reader = Reader(self._catalogue, self._marks, Trust.EVERYTHING)
        ledger = Ledger(folder, identity, start.tally, self._spine, start.index)
        try:
            self._space = Space(folder, options.reserve_bytes)
            parts = Parts(
                backlog=self._backlog,
                catalogue=self._catalogue,
                log=SegmentLog(folder, start.segments[-1], durable=options.durability == "full"),
                ledger=ledger,
                window=self._window,
                space=self._space,
                bound=Bound(folder, self._catalogue, ledger, options, listeners),
                segment_bytes=segment_bytes,
                pausing_bytes=self._pausing_bytes,
                listeners=listeners,
            )
            self._writer = Writer(parts, start.size_bytes)
            self._writer.start()
        except (OSError, RuntimeError) as error:
            # RuntimeError is how Python says that no thread can be started.
            why = error.strerror if isinstance(error, OSError) else error
            raise Unavailable(f"cannot write the journal in {folder}: {why}; close some programs or runs.") from error

    @classmethod
    def create(
        cls,
        folder: Path,
        run_id: str,
        options: JournalOptions = _DEFAULT,
        on_commit: Callable[[], None] = _ignore,
        on_state: Callable[[str | None], None] = _ignore,
        on_dropped: Callable[[int, int, int], None] = _ignore,
        store_id: str = "",
    ) -> "Journal":
        """A new, empty journal in `folder`, which is made (0700).

        Args:
            folder: where; must hold no journal yet.
            run_id: whose events these will be.
            options: how it is kept.
            on_commit: called from the writer thread after each commit.
            on_state: called from the writer thread with the reason when output is to be held back, with None when
                it may go on.
            on_dropped: called from the writer thread with first and last sequence and bytes of what drop-oldest took.
            store_id: names the store, to go on with one that was in memory; made up when it is "".

        Raises Unavailable when the folder cannot be written; nothing half-made is left then.
        """
        identity = create_identity(folder, run_id, durable=options.durability == "full", store_id=store_id)
        start = Start([Segment(1, segment_path(folder, 1), 0)], Tally(1))
        try:
            return cls(folder, identity, options, start, Listeners(on_commit, on_state, on_dropped))
        except Unavailable:
            discard_identity(folder)
            raise

    @classmethod
    def open(
        cls,
        folder: Path,
        options: JournalOptions = _DEFAULT,
        on_commit: Callable[[], None] = _ignore,
        on_state: Callable[[str | None], None] = _ignore,
        on_dropped: Callable[[int, int, int], None] = _ignore,
    ) -> "Journal":
        """Go on with the journal in `folder`, whose writer is gone; `report` then says what was found.

        An unfinished last line is cut, the index is brought up to date. Arguments as for `create`. The caller makes
        sure that nobody else writes it. Raises Unavailable when it cannot be read or written, Corrupt when it is odd.
        """
        from hopline.journal.recovery import recover

        identity = read_identity(folder)
        start = recover(folder, identity)
        return cls(folder, identity, options, start, Listeners(on_commit, on_state, on_dropped))

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
        """The newest event assigned; it may not be committed yet."""
        return self._last

    @property
    def next_sequence(self) -> int:
        """What the next appended line must carry."""
        return self._last + 1

    @property
    def committed_sequence(self) -> int:
        """The newest event that `read` returns; one less than `first_sequence` when there is none."""
        return self._window.committed

    @property
    def size_bytes(self) -> int:
        """Committed bytes of the segments together."""
        return self._writer.size_bytes

    @property
    def damage(self) -> list[Damage]:
        """Every damage met so far, each once."""
        return list(dict.fromkeys((*self.report.damage, *self._reader.damage)))

    def append(self, line: bytes, *, kind: str) -> int:
        """Assign the next sequence to an event and queue it for the writer; never waits.

        Args:
            line: the event's exact wire bytes without a newline; begins with `lines.prefix(next_sequence)`.
            kind: its `type`.

        Returns the sequence. Raises Misuse when the line is not that, is longer than 1,000,000 bytes, or the journal
        is closed.
        """
        sequence = self._last + 1
        if not line.startswith(b'{"protocol_version":1,"sequence":%d,' % sequence):
            raise Misuse(f"an event must begin with {lines.prefix(sequence)!r}, not {line[:60]!r}")
        if len(line) > MAX_EVENT_BYTES:
            raise Misuse(f"event {sequence} has {len(line)} bytes and may have {MAX_EVENT_BYTES}")
        if self._closed:
            raise Misuse(f"event {sequence} comes after the journal was closed")
        self._backlog.put(sequence, line, kind)
        self._last = sequence
        self._appended += len(line) + 1
        return sequence

    def room(self) -> bool:
        """Whether more output may be taken now; lifecycle events may be appended in any case.

        False while too much waits to be committed, the volume is below the reserve or full, or `max_bytes` is reached
        with `pause`. Ask again after the next `on_commit` or `on_state`.
        """
        backlog = self._uncommitted()
        if self._writer.reason is not None or backlog > min(BACKLOG_BYTES, self._space.spare):
            return False
        return self._pausing_bytes is None or self._writer.size_bytes + backlog < self._pausing_bytes

    def read(self, after: int, *, before: int | None = None, max_bytes: int = 1 << 20) -> Slice:
        """Committed events with after < sequence < before, at least one if there is any, else about `max_bytes`.

        From the window in memory when it reaches back that far, else from the segments; damage is stepped over.
        """
        after = max(after, self.first_sequence - 1)
        found = self._window.read(after, before, max_bytes)
        return self._reader.read(after, before, max_bytes) if found is None else found

    def spine(self, through: int) -> list[bytes]:
        """The lines of SPINE_KINDS with sequence <= through, in order, without newlines; committed ones only."""
        return self._spine.through(min(through, self._window.committed))

    def close(self, timeout: float = _CLOSE_SECONDS) -> CloseReport:
        """Commit what is queued, within `timeout` seconds, and say what could not be; later calls do nothing.

        Waits for the writer thread: call it off the loop when the volume may be full.
        """
        if self._closed:
            return CloseReport()
        self._closed = True
        if self._marks is not None:
            # First, so that the writer's connection is the last one and folds the index's log in.
            self._marks.close()
        ended = self._writer.close(timeout)
        self._catalogue.close()
        missing = self._last - self._window.committed
        if not missing:
            return CloseReport()
        reason = self._writer.failure or ("the volume does not answer" if not ended else "there was no time")
        return CloseReport(missing, self._uncommitted(), self._window.committed + 1, reason)

    def _uncommitted(self) -> int:
        return self._appended - self._writer.committed_bytes
