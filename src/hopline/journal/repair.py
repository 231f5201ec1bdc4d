"""What `hopline doctor` does to a journal: look at every byte of it, and put it in order."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hopline.errors import Refused, Unavailable
from hopline.journal.catalogue import Catalogue, Segment, list_segments
from hopline.journal.identity import INDEX_FILE, Identity, read_identity
from hopline.journal.index_view import IndexView
from hopline.journal.port import Damage, OpenReport
from hopline.journal.reader import Reader, Trust
from hopline.journal.recovery import Progress, recover
from hopline.journal.scan import whole_lines_end

_STEP_BYTES = 1 << 20

IndexState = Literal["current", "behind", "missing", "unusable"]


@dataclass(frozen=True, slots=True)
class Report:
    """What a journal holds and what is wrong with it."""

    store_id: str
    run_id: str
    segments: int
    events: int
    """Events that can be read."""
    bytes: int
    first_sequence: int
    last_sequence: int
    """0 when there is no event."""
    torn_bytes: int
    """Length of an unfinished last line, which the next writer or `repair` cuts."""
    index: IndexState
    """behind: the next writer or `repair` catches up; missing and unusable: it is made anew then."""
    damage: tuple[Damage, ...]
    """In order of place; stays where it is, for no copy of the lost bytes is kept."""

    @property
    def sound(self) -> bool:
        """Whether `repair` would find nothing to do and no event is lost."""
        return not self.torn_bytes and not self.damage and self.index == "current"


def check(folder: Path, progress: Progress | None = None) -> Report:
    """Read every byte of the journal in `folder` and change none; it may be a live run's.

    Every line is parsed, and compared with the index's checksums where there are any. Raises Unavailable when there
    is no journal that can be read, Corrupt when store.json is odd.
    """
    identity = read_identity(folder)
    try:
        segments = list_segments(folder)
        if not segments:
            raise Unavailable(f"the journal in {folder} has lost its segments; restore them from a copy.")
        index = IndexView.open(folder, identity)
        try:
            return _check(folder, identity, segments, index, progress)
        finally:
            if index is not None:
                index.close()
    except OSError as error:
        raise Unavailable(
            f"cannot read the journal in {folder}: {error.strerror}; check its owner and mode."
        ) from error


def repair(folder: Path, *, live: bool, rebuild: bool = False, progress: Progress | None = None) -> OpenReport:
    """Cut an unfinished last line and bring the index up to date; damaged lines stay where they are.

    Args:
        folder: the journal's.
        live: whether its run has a server, as its lock tells; it is then refused.
        rebuild: make the index anew from the segments even when it can be read. Its checksums are then those of the
            bytes as they are now, so `check` first.
        progress: told how far it is.

    Raises Refused when the run is live, Unavailable when the journal cannot be read or written, Corrupt when
    store.json is odd.
    """
    if live:
        raise Refused(f"the run of {folder} is live and writes it; stop the run first.", code="run_live")
    identity = read_identity(folder)
    start = recover(folder, identity, rebuild=rebuild, progress=progress)
    if start.marks is not None:
        start.marks.close()
    if start.index is not None:
        start.index.close()
    return start.report


def _check(
    folder: Path, identity: Identity, segments: list[Segment], index: IndexView | None, progress: Progress | None
) -> Report:
    newest = segments[-1]
    newest.size = whole_lines_end(newest)
    torn = newest.path.stat().st_size - newest.size
    catalogue = Catalogue(segments)
    total = sum(catalogue.size(segment) for segment in segments)
    reader = Reader(catalogue, index, Trust.NOTHING)
    events = last = done = 0
    cursor = segments[0].first - 1
    try:
        while (found := reader.read(cursor, None, _STEP_BYTES)).count:
            events += found.count
            cursor = last = found.last
            done += len(found.data)
            if progress is not None:
                progress(done, total)
    finally:
        catalogue.close()
    state: IndexState = "current"
    if index is None:
        state = "unusable" if (folder / INDEX_FILE).exists() else "missing"
    else:
        known = {row.first_sequence: row for row in index.segments()}
        sizes = {segment.first: segment.size for segment in segments}
        if {first: row.size for first, row in known.items()} != sizes:
            state = "behind"
    damage = sorted(reader.damage, key=lambda item: (item.path, item.start))
    return Report(
        store_id=identity.store_id,
        run_id=identity.run_id,
        segments=len(segments),
        events=events,
        bytes=total,
        first_sequence=segments[0].first,
        last_sequence=last,
        torn_bytes=torn,
        index=state,
        damage=tuple(damage),
    )
