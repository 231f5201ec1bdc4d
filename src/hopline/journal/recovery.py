"""Brings a journal that was left anyhow into order for its next writer: torn tail cut, index made current."""

import logging
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from hopline.errors import Unavailable
from hopline.journal.catalogue import Segment, list_segments
from hopline.journal.identity import INDEX_FILE, Identity
from hopline.journal.index import Index
from hopline.journal.index_view import IndexView
from hopline.journal.port import Damage, OpenReport, SegmentRow
from hopline.journal.scan import scan, whole_lines_end
from hopline.journal.spine import read_saved
from hopline.journal.start import Start
from hopline.journal.tally import Tally

Progress = Callable[[int, int], None]
"""Called now and then with the bytes done and the bytes there are to do."""

_log = logging.getLogger(__name__)


def recover(folder: Path, identity: Identity, *, rebuild: bool = False, progress: Progress | None = None) -> Start:
    """Put the journal in `folder` in order; nobody else may be writing it.

    Reads what the index does not know yet: after a crash about one step, after a loss of the index everything.

    Args:
        folder: the journal's.
        identity: what store.json says.
        rebuild: read everything even when there is an index.
        progress: told how far it is.

    Raises Unavailable when the files cannot be read or written.
    """
    try:
        segments = list_segments(folder)
        if not segments:
            raise Unavailable(f"the journal in {folder} has lost its segments; restore them from a copy.")
        torn = _cut_torn_tail(segments[-1])
        index, fresh = _open_index(folder, identity, rebuild=rebuild)
        try:
            start = _catch_up(folder, segments, index, torn, fresh=fresh, progress=progress)
        except sqlite3.Error as error:
            index.close()
            if fresh:
                raise
            _log.warning("the index in %s is made anew: %s", folder, error)
            index, fresh = _open_index(folder, identity, rebuild=True)
            start = _catch_up(folder, segments, index, torn, fresh=fresh, progress=progress)
        start.marks = IndexView.open(folder, identity)
        return start
    except (OSError, sqlite3.Error) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise Unavailable(
            f"cannot put the journal in {folder} in order: {why}; check its owner, mode and room."
        ) from error


def _cut_torn_tail(segment: Segment) -> int:
    end = whole_lines_end(segment)
    size = segment.path.stat().st_size
    if end < size:
        os.truncate(segment.path, end)
        _log.warning("%s: an unfinished last line of %d bytes was cut at byte %d", segment.path, size - end, end)
    segment.size = end
    return size - end


def _open_index(folder: Path, identity: Identity, *, rebuild: bool) -> tuple[Index, bool]:
    path = folder / INDEX_FILE
    fresh = rebuild or not path.exists()
    if not fresh:
        try:
            return Index.open(folder, identity), False
        except sqlite3.Error as error:
            _log.warning("the index %s is made anew: %s", path, error)
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(INDEX_FILE + suffix).unlink(missing_ok=True)
    return Index.open(folder, identity), True


def _catch_up(
    folder: Path, segments: list[Segment], index: Index, torn: int, *, fresh: bool, progress: Progress | None
) -> Start:
    known = {row.first_sequence: row for row in index.segments()}
    gone = known.keys() - {segment.first for segment in segments}
    saved = read_saved(folder, before=segments[0].first)
    index.record([], [], saved, forget=[0, *gone])
    behind = [segment for segment in segments if not _is_current(known.get(segment.first), segment, segments[-1])]
    total = sum(max(segment.path.stat().st_size - _known_size(known, segment), 0) for segment in behind)
    done, damage = 0, list[Damage]()

    def on_bytes(size: int) -> None:
        nonlocal done
        done += size
        if progress is not None:
            progress(done, total)

    for segment in behind:
        place = segments.index(segment)
        limit = segments[place + 1].first if place + 1 < len(segments) else None
        row = known.get(segment.first)
        usable = row is not None and row.size <= segment.path.stat().st_size
        tally = Tally(segment.first)
        if row is not None and usable:
            tally = Tally(segment.first, row.size, row.crc32, index.last_mark(segment.first), row.last_sequence)
        found = scan(segment, tally, limit=limit, on_bytes=on_bytes)
        damage += found.damage
        known[segment.first] = SegmentRow(
            segment.first, tally.last_sequence, tally.offset, tally.crc32, limit is not None
        )
        index.record(
            [known[segment.first]], found.marks, found.spine, found.damage, forget=[] if usable else [segment.first]
        )
    for item in damage:
        _log.warning("%s", item)
    newest = known[segments[-1].first]
    tally = Tally(
        newest.first_sequence, newest.size, newest.crc32, index.last_mark(newest.first_sequence), newest.last_sequence
    )
    state: Literal["current", "caught up", "rebuilt"] = "rebuilt" if fresh else "caught up" if done else "current"
    size_bytes = sum(row.size for row in known.values() if row.first_sequence not in gone)
    report = OpenReport(torn, state, done, tuple(damage))
    return Start(segments, tally, index, None, index.spine(), size_bytes, report)


def _is_current(row: SegmentRow | None, segment: Segment, newest: Segment) -> bool:
    """Whether the index knows the whole segment; a sealed one is taken at its word, so that opening stays cheap."""
    if row is None:
        return False
    if segment is newest:
        return row.size == newest.size and not row.sealed
    return row.sealed


def _known_size(known: dict[int, SegmentRow], segment: Segment) -> int:
    row = known.get(segment.first)
    return 0 if row is None else row.size
