"""What the writer knows of what it wrote, and its passing on to the index now and then."""

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hopline.journal import lines
from hopline.journal.identity import Identity
from hopline.journal.port import Mark, SegmentRow, SpineRow
from hopline.journal.spine import Spine
from hopline.journal.tally import Tally
from hopline.journal.window import Chunk

if TYPE_CHECKING:
    from hopline.journal.index import Index

STEP_BYTES = 1 << 20
"""The index is at most about this far behind the segments, whatever crashes."""

_RETRY_SECONDS = 5.0

_log = logging.getLogger(__name__)


class Ledger:
    """The account of the newest segment and of the spine. Used by the writer thread alone.

    Args:
        folder: the journal's.
        identity: whose index to make when there is none.
        tally: the newest segment's account.
        spine: grows as events are committed.
        index: the open index, or None to make it when there is enough to be indexed.
    """

    def __init__(self, folder: Path, identity: Identity, tally: Tally, spine: Spine, index: "Index | None") -> None:
        self.spine = spine
        self._folder = folder
        self._identity = identity
        self._tally = tally
        self._index = index
        self._segments: dict[int, SegmentRow] = {}
        self._marks: list[Mark] = []
        self._spine: list[SpineRow] = []
        self._forget: list[int] = []
        self._behind = 0
        self._not_before = 0.0
        if index is None:
            self._note_segment(sealed=False)

    def wrote(self, chunk: Chunk) -> None:
        """Account for a chunk that is now at the end of the newest segment."""
        start = self._tally.offset
        self._marks += self._tally.feed(chunk.data, chunk.last)
        for sequence, kind in chunk.spine:
            place = lines.seek(chunk.data, sequence)
            size = chunk.data.find(b"\n", place) - place
            row = SpineRow(sequence, kind, self._tally.segment, start + place, size)
            self._spine.append(row)
            self.spine.add(row)
        self._behind += len(chunk.data)

    def turned(self, first: int) -> None:
        """The newest segment is sealed; the next begins with `first`."""
        self._note_segment(sealed=True)
        self._tally = Tally(first)
        self._note_segment(sealed=False)

    def dropped(self, first: int, saved: list[SpineRow]) -> None:
        """The oldest segment is gone; `saved` is everything in segments/spine.jsonl now."""
        self._forget += [0, first]
        self._behind += STEP_BYTES
        self._segments.pop(first, None)
        self._marks = [mark for mark in self._marks if mark.segment != first]
        self._spine = [row for row in self._spine if row.segment not in (0, first)] + saved

    @property
    def current(self) -> bool:
        """Whether the index says all there is to say."""
        return not self._segments and not self._behind

    def flush_when_due(self) -> None:
        """Bring the index up to date when it is a step behind."""
        if self._behind >= STEP_BYTES:
            self.flush_when_behind()

    def flush_when_behind(self) -> None:
        """Bring the index up to date when it is not, unless that failed just now."""
        if not self.current and time.monotonic() >= self._not_before:
            self.flush()

    def flush(self) -> None:
        """Bring the index up to date. An index that cannot be written is only said: it is a cache."""
        self._note_segment(sealed=False)
        if self._try(self._record):
            self._segments.clear()
            self._marks.clear()
            self._spine.clear()
            self._forget.clear()
            self._behind = 0

    def close(self) -> None:
        """Bring the index up to date and close it."""
        if not self.current:
            self.flush()
        if self._index is not None:
            self._try(self._index.close)
            self._index = None

    def _record(self) -> None:
        if self._index is None:
            from hopline.journal.index import Index

            self._index = Index.open(self._folder, self._identity)
        self._index.record(self._segments.values(), self._marks, self._spine, forget=self._forget)

    def _try(self, step: Callable[[], None]) -> bool:
        import sqlite3

        try:
            step()
        except (sqlite3.Error, OSError) as error:
            _log.warning(
                "the index in %s could not be written (%s); the segments are not concerned", self._folder, error
            )
            self._not_before = time.monotonic() + _RETRY_SECONDS
            return False
        return True

    def _note_segment(self, *, sealed: bool) -> None:
        tally = self._tally
        self._segments[tally.segment] = SegmentRow(
            tally.segment, tally.last_sequence, tally.offset, tally.crc32, sealed
        )
