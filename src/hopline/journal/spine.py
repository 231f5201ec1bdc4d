"""The lines that every bootstrap carries: where they lie, and their saving when their segment goes."""

import os
import threading
from collections.abc import Sequence
from pathlib import Path

from hopline.journal import lines
from hopline.journal.catalogue import Catalogue, Segment
from hopline.journal.identity import SEGMENTS_FOLDER, SPINE_FILE, sync_folder
from hopline.journal.port import SPINE_KINDS, SpineRow

_LATEST_ONLY = frozenset({"journal_dropped"})
"""Of what is saved, only the last of these is kept: each says how far everything before it is gone."""


class Spine:
    """The spine of one store. One thread adds and saves; any thread reads.

    Args:
        folder: the journal's.
        catalogue: the segments that the rows point into.
        rows: what is known so far, in order of sequence.
    """

    def __init__(self, folder: Path, catalogue: Catalogue, rows: Sequence[SpineRow]) -> None:
        self._path = folder / SEGMENTS_FOLDER / SPINE_FILE
        self._catalogue = catalogue
        self._rows = list(rows)
        self.saved_bytes = sum(row.size + 1 for row in rows if not row.segment)
        """Size of segments/spine.jsonl."""
        self._lock = threading.Lock()

    def add(self, row: SpineRow) -> None:
        """One more, newer than all others."""
        with self._lock:
            self._rows.append(row)

    def through(self, sequence: int) -> list[bytes]:
        """The lines with at most this sequence, in order, without newlines; unreadable ones are left out."""
        with self._lock:
            return [line for row in self._rows if row.sequence <= sequence and (line := self._line(row)) is not None]

    def save(self, segment: int, *, durable: bool) -> list[SpineRow]:
        """Keep the spine lines of a segment that is about to go in segments/spine.jsonl, replaced as a whole.

        Returns the rows of everything in that file. Raises OSError, and nothing has changed then.
        """
        chosen = [row for row in self._rows if row.segment in (0, segment)]
        for kind in _LATEST_ONLY:
            chosen = [*(row for row in chosen if row.kind != kind), *[row for row in chosen if row.kind == kind][-1:]]
        chosen.sort(key=lambda row: row.sequence)
        kept = [(row, line) for row in chosen if (line := self._line(row)) is not None]
        saved: list[SpineRow] = []
        offset = 0
        for row, line in kept:
            saved.append(SpineRow(row.sequence, row.kind, 0, offset, len(line)))
            offset += len(line) + 1
        if not saved:
            return []
        temporary = self._path.with_suffix(".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(b"".join(line + b"\n" for _, line in kept))
            if durable:
                file.flush()
                os.fsync(file.fileno())
        with self._lock:
            temporary.replace(self._path)
            self._catalogue.forget(0)
            self._rows = [*saved, *(row for row in self._rows if row.segment not in (0, segment))]
            self.saved_bytes = offset
        if durable:
            sync_folder(self._path.parent)
        return saved

    def _line(self, row: SpineRow) -> bytes | None:
        segment = self._catalogue.named(row.segment) if row.segment else Segment(0, self._path)
        if segment is None:
            return None
        try:
            line = self._catalogue.pread(segment, row.size, row.offset)
        except FileNotFoundError:
            return None
        return line if lines.sequence_at(line) == row.sequence and len(line) == row.size else None


def read_saved(folder: Path, before: int) -> list[SpineRow]:
    """The rows of segments/spine.jsonl that lie before the oldest segment; none when there is no such file.

    Later ones are in segments that were about to go and did not. Raises OSError when the file cannot be read.
    """
    try:
        data = (folder / SEGMENTS_FOLDER / SPINE_FILE).read_bytes()
    except FileNotFoundError:
        return []
    rows: list[SpineRow] = []
    offset = 0
    for line in data.split(b"\n"):
        head = lines.parse(line)
        if head is not None and head.type in SPINE_KINDS and head.sequence < before:
            rows.append(SpineRow(head.sequence, head.type, 0, offset, len(line)))
        offset += len(line) + 1
    return rows
