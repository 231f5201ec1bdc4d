"""The runs of this machine, looked at again and again: records, liveness, journal sizes and how fast they grow.

It blocks; only what has changed is read again.
"""

import os
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from hopline.clock import parse_rfc3339
from hopline.errors import HoplineError, RunGone
from hopline.records import ENDED, RECORD_FILE, RunRecord, is_live, read_record, run_folder, run_ids

SLOT_SECONDS = 10.0
SLOTS = 30
"""Rates are kept for SLOTS x SLOT_SECONDS: five minutes."""

LISTED_ENDED = 200
"""How many runs that are over are listed, the latest first."""


@dataclass(frozen=True, slots=True)
class Row:
    """One run as a list shows it.

    Args:
        record: as on disk, or as the other machine told.
        live: whether its server lives.
        size: bytes of its journal; None where that is not told.
        rates: bytes recorded in each of the last slots, oldest first; empty when it is over or nobody tells.
    """

    record: RunRecord
    live: bool
    size: int | None = None
    rates: tuple[int, ...] = ()

    @property
    def status(self) -> str:
        """As recorded, or `interrupted` when its server is gone and had not ended it."""
        return self.record.status if self.record.status in ENDED or self.live else "interrupted"

    @property
    def waiting(self) -> str | None:
        """What a live run waits for, in words."""
        return self.record.waiting if self.live else None


@dataclass(frozen=True, slots=True)
class Roster:
    """The runs at one moment.

    Args:
        rows: by id.
        older: how many older ended runs are kept and not listed.
        unreadable: ids of runs whose record cannot be understood.
    """

    rows: dict[str, Row] = field(default_factory=dict)
    older: int = 0
    unreadable: tuple[str, ...] = ()


class Activity:
    """Bytes recorded in time slots, from a size that only grows.

    Args:
        now: monotonic seconds.
        size: the size at that time.
    """

    def __init__(self, now: float, size: int) -> None:
        self._size = size
        self._began = now
        self._slots: deque[int] = deque([0], maxlen=SLOTS)

    def observe(self, now: float, size: int) -> tuple[int, ...]:
        """The size is `size` at `now`. Returns the slots, the current one last. A size that shrank counts as none."""
        passed = int((now - self._began) // SLOT_SECONDS)
        self._slots.extend([0] * min(passed, SLOTS))
        self._began += passed * SLOT_SECONDS
        self._slots[-1] += max(0, size - self._size)
        self._size = size
        return tuple(self._slots)


class LocalRuns:
    """Keeps what was seen last. One thread at a time may `look`.

    Args:
        only: the one run that is looked at; None for all.
    """

    def __init__(self, only: str | None = None) -> None:
        self._only = only
        self._records: dict[str, tuple[tuple[int, int], RunRecord]] = {}
        self._activities: dict[str, Activity] = {}
        self._sizes: dict[str, tuple[RunRecord, int]] = {}

    def look(self, now: float) -> Roster:
        """Every listed run at monotonic `now`."""
        records, unreadable = self._read()
        live = {record.id: is_live(record.id) for record in records if record.status not in ENDED}
        over = sorted((record for record in records if not live.get(record.id)), key=_ended_at, reverse=True)
        rows: dict[str, Row] = {record.id: self._live(record, now) for record in records if live.get(record.id)}
        self._activities = {run_id: kept for run_id, kept in self._activities.items() if run_id in rows}
        for record in over[:LISTED_ENDED]:
            rows[record.id] = Row(record, False, self._final_size(record))
        return Roster(rows, max(0, len(over) - LISTED_ENDED), unreadable)

    def close(self) -> None:
        """Nothing is held."""

    def _read(self) -> tuple[list[RunRecord], tuple[str, ...]]:
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
        kept = {record.id for record in found}
        self._records = {run_id: known for run_id, known in self._records.items() if run_id in kept}
        self._sizes = {run_id: known for run_id, known in self._sizes.items() if run_id in kept}
        return found, tuple(sorted(unreadable))

    def _live(self, record: RunRecord, now: float) -> Row:
        size = journal_bytes(record)
        activity = self._activities.setdefault(record.id, Activity(now, size))
        return Row(record, True, size, activity.observe(now, size))

    def _final_size(self, record: RunRecord) -> int:
        known = self._sizes.get(record.id)
        if known is None or known[0] is not record:
            known = self._sizes[record.id] = (record, journal_bytes(record))
        return known[1]


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


def _ended_at(record: RunRecord) -> tuple[float, str]:
    try:
        return parse_rfc3339(record.ended_at or record.started_at), record.id
    except ValueError:
        return 0.0, record.id
