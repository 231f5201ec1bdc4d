"""The index beside the segments: a SQLite cache that answers at once what a scan would find."""

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from hopline.journal.identity import INDEX_FILE, Identity
from hopline.journal.port import Damage, Mark, SegmentRow, SpineRow
from hopline.journal.sql import queries, script

VERSION = 2
"""The schema this code reads and writes (`user_version`)."""

_BUSY_SECONDS = 5.0


class Index:
    """The one writing connection. Made in one thread and then used by the writer thread alone.

    Every method raises sqlite3.Error; the caller goes on without an index then, since it is only a cache.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._queries = queries()

    @classmethod
    def open(cls, folder: Path, identity: Identity) -> "Index":
        """Open the index of this store, made or migrated as needed.

        Raises sqlite3.Error when the file is no such index, belongs to another store or is newer: rebuild it then.
        """
        path = folder / INDEX_FILE
        path.touch(mode=0o600)
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            bring_up_to_date(connection, identity)
        except BaseException:
            connection.close()
            raise
        return cls(connection)

    def segments(self) -> list[SegmentRow]:
        """Every segment known, oldest first."""
        rows = self._connection.execute(self._queries["list_segments"])
        return [SegmentRow(first, last, size, crc32, bool(sealed)) for first, last, size, crc32, sealed in rows]

    def spine(self) -> list[SpineRow]:
        """Every spine line known, in order."""
        return [SpineRow(*row) for row in self._connection.execute(self._queries["list_spine"])]

    def last_mark(self, segment: int) -> int:
        """The offset of the segment's last mark, 0 when it has none."""
        (offset,) = self._connection.execute(self._queries["last_mark"], (segment,)).fetchone()
        return int(offset)

    def record(
        self,
        segments: Iterable[SegmentRow],
        marks: Sequence[Mark],
        spine: Sequence[SpineRow],
        damage: Sequence[Damage] = (),
        forget: Iterable[int] = (),
    ) -> None:
        """Commit what is new in one transaction; first forget all that lies in the segments of `forget`."""
        run = self._connection
        run.execute("BEGIN IMMEDIATE")
        try:
            for first in forget:
                for query in ("forget_segment", "forget_marks", "forget_spine", "forget_damage"):
                    run.execute(self._queries[query], (first,))
            run.executemany(
                self._queries["put_segment"],
                [(s.first_sequence, s.last_sequence, s.size, s.crc32, int(s.sealed)) for s in segments],
            )
            if marks:
                run.executemany(self._queries["put_mark"], [(m.sequence, m.segment, m.offset, m.crc32) for m in marks])
            if spine:
                run.executemany(
                    self._queries["put_spine"], [(s.sequence, s.kind, s.segment, s.offset, s.size) for s in spine]
                )
            for item in damage:
                values = (
                    int(item.path.stem),
                    item.start,
                    item.end,
                    item.first_sequence,
                    item.last_sequence,
                    item.reason,
                )
                run.execute(self._queries["put_damage"], values)
            run.execute("COMMIT")
        except BaseException:
            if run.in_transaction:
                run.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Fold the write-ahead log in and close; the journal then holds one index file."""
        self._connection.close()


def bring_up_to_date(connection: sqlite3.Connection, identity: Identity) -> None:
    """Make, migrate or check the schema. Raises sqlite3.DatabaseError when this is not the store's index."""
    (version,) = connection.execute(queries()["read_version"]).fetchone()
    if version == 0:
        connection.executescript(f"BEGIN IMMEDIATE;{script('schema')}COMMIT;")
        connection.execute(queries()["name_store"], {"store_id": identity.store_id, "run_id": identity.run_id})
    elif version > VERSION:
        raise sqlite3.DatabaseError(f"the index has version {version} and this hopline writes {VERSION}")
    while 0 < version < VERSION:
        connection.executescript(f"BEGIN IMMEDIATE;{script(f'migrate_{version}_to_{version + 1}')}COMMIT;")
        version += 1
    owner = connection.execute(queries()["read_store"]).fetchall()
    if owner != [(identity.store_id, identity.run_id)]:
        raise sqlite3.DatabaseError("the index belongs to another store")
