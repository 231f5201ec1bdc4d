"""Looks at the runs' folders: records, liveness by lock, journal sizes; reads again only what has changed."""

import os
from pathlib import Path

from hopline.clock import parse_rfc3339
from hopline.errors import HoplineError, RunGone
from hopline.records import ENDED, RECORD_FILE, RunRecord, is_live, read_record, run_folder, run_ids
from hopline.serve.gateway.rows import Activity, Row, row_of

LISTED_ENDED = 200
"""How many runs that are over are listed, the latest first."""


class Survey:
    """Keeps what was seen last. One thread at a time may `look`.

    Args:
        only: the one run that is looked at; None for all.
    """

    def __init__(self, only: str | None = None) -> None:
        self._only = only
        self._records: dict[str, tuple[tuple[int, int], RunRecord]] = {}
        self._activities: dict[str, Activity] = {}
        self.unreadable: list[str] = []
        """Runs whose record cannot be understood."""
        self.older = 0
        """Ended runs that are kept and not listed."""

    def look(self, now: float) -> dict[str, Row]:
        """Every listed run at monotonic `now`, by id."""
        records = self._read_records()
        live = {record.id: is_live(record.id) for record in records if not _over(record)}
        over = sorted((record for record in records if not live.get(record.id)), key=_ended_at, reverse=True)
        self.older = max(0, len(over) - LISTED_ENDED)
        rows: dict[str, Row] = {record.id: self._live_row(record, now) for record in records if live.get(record.id)}
        self._forget(rows)
        for record in over[:LISTED_ENDED]:
            rows[record.id] = row_of(record, live=False, size=journal_bytes(record), rates=[])
        return rows

    def _live_row(self, record: RunRecord, now: float) -> Row:
        size = journal_bytes(record)
        activity = self._activities.setdefault(record.id, Activity(now, size))
        return row_of(record, live=True, size=size, rates=activity.observe(now, size))

    def _read_records(self) -> list[RunRecord]:
        found, unreadable = [], []
        for run_id in run_ids() if self._only is None else [self._only]:
            try:
                status = (run_folder(run_id) / RECORD_FILE).stat()
                stamp = (status.st_mtime_ns, status.st_ino)
                known = self._records.get(run_id)
                if known is None or known[0] != stamp:
                    known = self._records[run_id] = (stamp, read_record(run_id))
                found.append(known[1])
            except (FileNotFoundError, RunGone):
                continue
            except (OSError, HoplineError):
                unreadable.append(run_id)
        self.unreadable = sorted(unreadable)
        kept = {record.id for record in found}
        self._records = {run_id: known for run_id, known in self._records.items() if run_id in kept}
        return found

    def _forget(self, live: dict[str, Row]) -> None:
        self._activities = {run_id: activity for run_id, activity in self._activities.items() if run_id in live}


def journal_bytes(record: RunRecord) -> int:
    """The size of a run's segments; 0 when they cannot be seen."""
    total = 0
    try:
        with os.scandir(Path(record.journal) / "segments") as entries:
            for entry in entries:
                total += entry.stat(follow_symlinks=False).st_size
    except OSError:
        return total
    return total


def _over(record: RunRecord) -> bool:
    return record.status in ENDED


def _ended_at(record: RunRecord) -> tuple[float, str]:
    try:
        return parse_rfc3339(record.ended_at or record.started_at), record.id
    except ValueError:
        return 0.0, record.id
