"""The index for readers: a read-only connection that changes nothing on disk, and gives up rather than raise."""

import contextlib
import logging
import sqlite3
from pathlib import Path
from typing import Any

from hopline.journal.identity import INDEX_FILE, Identity
from hopline.journal.index import VERSION
from hopline.journal.port import Mark, SegmentRow, SpineRow
from hopline.journal.sql import queries

_log = logging.getLogger(__name__)


class IndexView:
    """What the index says. Where it fails it knows nothing, and readers probe the segments."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection: sqlite3.Connection | None = connection
        self._queries = queries()

    @classmethod
    def open(cls, folder: Path, identity: Identity) -> "IndexView | None":
        """The index of this store, or None when there is none that can be read as it is.

        An index that was being made when its writer ended counts as none, and one of an older version: only a writer
        can go on with either.
        """
        path = folder / INDEX_FILE
        if not path.is_file() or path.with_name(INDEX_FILE + "-journal").exists():
            return None
        # With a log beside it, its changes are read through the log's own index, which is not written (readonly_shm).
        # Without one nothing is to be locked, and SQLite would make both files if it were not told so (immutable).
        quiet = "readonly_shm=1" if path.with_name(INDEX_FILE + "-wal").exists() else "immutable=1"
        connection = None
        try:
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro&{quiet}", uri=True, isolation_level=None, check_same_thread=False
            )
            (version,) = connection.execute(queries()["read_version"]).fetchone()
            if version == VERSION:
                owner = connection.execute(queries()["read_store"]).fetchall()
                if owner == [(identity.store_id, identity.run_id)]:
                    return cls(connection)
        except sqlite3.Error as error:
            _log.info("the index %s is not used: %s", path, error)
        if connection is not None:
            connection.close()
        return None

    def segments(self) -> list[SegmentRow]:
        """Every segment known, oldest first."""
        rows = self._ask("list_segments", ())
        return [SegmentRow(first, last, size, crc32, bool(sealed)) for first, last, size, crc32, sealed in rows]

    def spine(self) -> list[SpineRow]:
        """Every spine line known, in order."""
        return [SpineRow(*row) for row in self._ask("list_spine", ())]

    def around(self, segment: int, first: int, last: int) -> list[Mark]:
        """As checksums.Marks.around."""
        marks = [Mark(*row) for row in self._ask("marks_around", {"segment": segment, "first": first, "last": last})]
        if not marks or marks[0].sequence > first:
            marks.insert(0, Mark(segment, segment, 0, 0))
        if marks[-1].sequence <= last:
            for _, last_sequence, size, crc32, _ in self._ask("read_segment", (segment,)):
                marks.append(Mark(last_sequence + 1, segment, size, crc32))
        return marks

    def damaged(self, segment: int) -> list[tuple[int, int]]:
        """As checksums.Marks.damaged."""
        return [(start, stop) for start, stop in self._ask("damaged_places", (segment,))]

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _ask(self, name: str, values: tuple[int, ...] | dict[str, int]) -> list[Any]:
        if self._connection is None:
            return []
        try:
            return self._connection.execute(self._queries[name], values).fetchall()
        except sqlite3.Error as error:
            _log.warning("the index is no longer used: %s", error)
            self.close()
            return []
