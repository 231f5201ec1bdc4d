"""Looks at the runs' folders: records, liveness by lock, journal sizes; reads again only what has changed."""

import os
from pathlib import Path

from hopline.clock import parse_rfc3339
from hopline.errors import HoplineError, RunGone
from hopline.journal.view import JournalView
from hopline.records import ENDED, RECORD_FILE, RunRecord, is_live, read_record, run_folder, run_ids
from hopline.serve.gateway.rows import Activity, Aftermath, Row, row_of
from hopline.wire.client.events import decode_event, payload_of
from hopline.wire.client.payloads import WorkerRetired

LISTED_ENDED = 200
"""How many runs that are over are listed, the latest first."""

AFTERMATHS_AT_A_TIME = 16
"""How many journals one look opens for their end; the rest have their turn in the next."""


class Survey:
    """Keeps what was seen last. One thread at a time may `look`."""

    def __init__(self) -> None:
        self._records: dict[str, tuple[tuple[int, int], RunRecord]] = {}
        self._activities: dict[str, Activity] = {}
        self._aftermaths: dict[str, tuple[RunRecord, Aftermath]] = {}
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
        fresh = AFTERMATHS_AT_A_TIME
        for record in over[:LISTED_ENDED]:
            known = self._aftermaths.get(record.id)
            if (known is None or known[0] != record) and fresh > 0:
                fresh -= 1
                known = (record, aftermath_of(record))
                self._aftermaths[record.id] = known
            size = journal_bytes(record)
            rows[record.id] = row_of(record, live=False, size=size, rates=[], aftermath=known[1] if known else None)
        return rows

    def _live_row(self, record: RunRecord, now: float) -> Row:
        size = journal_bytes(record)
        activity = self._activities.setdefault(record.id, Activity(now, size))
        return row_of(record, live=True, size=size, rates=activity.observe(now, size), aftermath=None)

    def _read_records(self) -> list[RunRecord]:
        found, unreadable = [], []
        for run_id in run_ids():
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
        self._aftermaths = {run_id: known for run_id, known in self._aftermaths.items() if run_id in kept}
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


def aftermath_of(record: RunRecord) -> Aftermath:
    """What the end of a run's journal says; empty when it cannot be read."""
    reason: str | None = None
    descendants: str | None = None
    survivors = 0
    try:
        view = JournalView.open(Path(record.journal))
        try:
            lines = view.spine(view.last_sequence)
        finally:
            view.close()
        for line in lines:
            event = decode_event(line)
            if event.type in ("run_failed", "run_interrupted", "configuration_failed") and event.diagnostic:
                reason = event.diagnostic.summary
            payload = payload_of(event)
            if isinstance(payload, WorkerRetired):
                descendants, survivors = payload.descendants.state, len(payload.descendants.processes)
    except (HoplineError, OSError, ValueError):
        return Aftermath(reason=reason, descendants=descendants, survivors=survivors)
    return Aftermath(reason=reason, descendants=descendants, survivors=survivors)


def _over(record: RunRecord) -> bool:
    return record.status in ENDED


def _ended_at(record: RunRecord) -> tuple[float, str]:
    try:
        return parse_rfc3339(record.ended_at or record.started_at), record.id
    except ValueError:
        return 0.0, record.id
