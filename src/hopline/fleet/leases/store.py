"""The authority's database: a change is on the disk when `commit` returns (docs/wire/peer.md, "Fleet leases").

SQLite with a write-ahead log and a sync at every commit. The log is given its length beforehand and folded in between
commits, so that a commit is one write over bytes that are there and one fdatasync.
"""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hopline.errors import Corrupt, Unavailable
from hopline.fleet.leases.records import (
    Change,
    Ended,
    Forgotten,
    Granted,
    Lease,
    Renewed,
    Saved,
    Spent,
    Status,
)
from hopline.journal.sql import queries, script

FILE = "leases.db"
VERSION = 1
"""The schema this code reads and writes (`user_version`)."""

LOG_BYTES = 1 << 20
"""What the write-ahead log is long from the start."""

FOLD_AFTER_COMMITS = 64
"""From so many commits on the log is folded in at the next quiet moment."""
FOLD_AT_COMMITS = 512
"""After so many it is folded in whether or not anything waits."""

_OF_THE_WORLD = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
    }
)
"""Errors that say nothing against the file."""

_BUSY_SECONDS = 5.0
_SQL = "hopline.fleet.leases.sql"


class LeaseStore:
    """The one connection that writes. Opened in one thread, then used by the writer thread alone.

    `commit` and `load` raise sqlite3.Error; after one from `commit`, what is on the disk is what `load` says.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._queries = queries(_SQL)
        self._commits = 0

    @classmethod
    def open(cls, path: Path, now_millis: int) -> "LeaseStore":
        """Open the database, made or migrated as needed.

        Args:
            now_millis: milliseconds since the epoch; where the fence of a new database starts.

        Raises Corrupt when the file is no lease database, Unavailable when it is newer or cannot be had.
        """
        connection = None
        try:
            path.touch(mode=0o600)
            connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            bring_up_to_date(connection, now_millis)
            store = cls(connection, path)
            store._lengthen_log()
        except (sqlite3.Error, OSError, Unavailable) as error:
            if connection is not None:
                connection.close()
            if isinstance(error, Unavailable):
                raise
            raise _told(error, path) from error
        return store

    def load(self) -> Saved:
        """What the disk holds. Raises also Corrupt."""
        run = self._connection.execute
        (last_fence,) = run(self._queries["read_fence"]).fetchone()
        found = run(self._queries["list_leases"])
        names = [column[0] for column in found.description]
        try:
            return Saved(
                tuple(_lease(dict(zip(names, row, strict=True))) for row in found),
                tuple(
                    Spent(one, owner, at, bool(waited)) for one, owner, at, waited in run(self._queries["list_spent"])
                ),
                int(last_fence),
            )
        except (ValueError, TypeError) as error:
            raise _damaged(error, self._path) from error

    def commit(self, changes: Sequence[Change]) -> None:
        """Put all of it on the disk, or none."""
        statements = [one for change in changes for one in self._statements(change)]
        if len(statements) == 1:
            self._connection.execute(*statements[0])
        elif statements:
            self._transaction(statements)
        self._commits += 1

    def trouble(self, error: sqlite3.Error) -> Corrupt | Unavailable:
        """What an error of `load` or `commit` means, and what to do about it."""
        return _told(error, self._path)

    @property
    def foldable(self) -> bool:
        """Whether the log is worth folding in when there is nothing else to do."""
        return self._commits >= FOLD_AFTER_COMMITS

    @property
    def overdue(self) -> bool:
        """Whether the log has to be folded in now."""
        return self._commits >= FOLD_AT_COMMITS

    def fold(self) -> None:
        """Copy the log into the database; the next commit writes it from its beginning."""
        self._connection.execute(self._queries["fold_log"])
        self._commits = 0

    def close(self) -> None:
        """Fold the log in and close: one file is left."""
        self._connection.close()

    def _lengthen_log(self) -> None:
        run = self._connection.execute
        run(self._queries["drop_padding"])
        run(self._queries["make_padding"])
        run(self._queries["fill_padding"], (LOG_BYTES,))
        run(self._queries["drop_padding"])
        run(self._queries["restart_log"])

    def _transaction(self, statements: Sequence[tuple[str, tuple[object, ...]]]) -> None:
        run = self._connection.execute
        run("BEGIN IMMEDIATE")
        try:
            for text, values in statements:
                run(text, values)
            run("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                run("ROLLBACK")
            raise

    def _statements(self, change: Change) -> list[tuple[str, tuple[object, ...]]]:
        named = self._queries
        match change:
            case Granted(lease):
                return [(named["grant"], _row(lease))]
            case Renewed(fence, expires_at):
                return [(named["renew"], (expires_at, fence))]
            case Ended(fence, status, ended_at):
                return [(named["end"], (status.value, ended_at, fence))]
            case Spent(lease_id, owner, ended_at, waited):
                return [(named["spend"], (lease_id, owner, ended_at, int(waited)))]
            case Forgotten(lease_id, owner, None, _):
                return [(named["forget_spent"], (lease_id, owner))]
            case Forgotten(_, _, fence, last_fence):
                return [(named["raise_fence"], (last_fence,)), (named["forget_lease"], (fence,))]


def bring_up_to_date(connection: sqlite3.Connection, now_millis: int) -> None:
    """Make, migrate or check the schema. Raises Unavailable for a newer one."""
    (version,) = connection.execute(queries(_SQL)["read_version"]).fetchone()
    if version == 0:
        start = queries(_SQL)["start_fence"].replace("?", str(int(now_millis)))
        connection.executescript(f"BEGIN IMMEDIATE;{script('schema', _SQL)}{start}COMMIT;")
    elif version > VERSION:
        raise Unavailable(f"the lease database has version {version} and this hopline writes {VERSION}; update it.")


def _row(lease: Lease) -> tuple[object, ...]:
    return (
        lease.fence,
        lease.id,
        lease.owner,
        lease.kind,
        lease.value,
        lease.mode,
        lease.reason,
        lease.ttl_secs,
        lease.acquired_at,
        lease.expires_at,
        lease.status.value,
        lease.ended_at,
    )


def _lease(row: dict[str, Any]) -> Lease:
    return Lease(**row | {"status": Status(row["status"])})


def _told(error: sqlite3.Error | OSError, path: Path) -> Corrupt | Unavailable:
    if isinstance(error, OSError):
        return Unavailable(f"{path}: {error.strerror}; check who owns it and its mode.")
    if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _OF_THE_WORLD:
        return Unavailable(
            f"cannot read or write {path} ({error}); make room there, check who owns it, or end what else has it open."
        )
    return _damaged(error, path)


def _damaged(error: Exception, path: Path) -> Corrupt:
    return Corrupt(
        f"{path} is no sound lease database ({error}); run hopline hub stop, then move it away, and the -wal and -shm "
        "files beside it: leases are then claimed anew, fences go on."
    )
