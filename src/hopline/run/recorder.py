"""Keeps what is known of a live run: its events in the journal, its status, and its record for listings.

The record follows the journal: a status is written to record.json only once its event is committed.
"""

import os
import time
from pathlib import Path
from typing import Any, Protocol, Unpack

import msgspec

from hopline.clock import rfc3339
from hopline.errors import Misuse
from hopline.ids import new_store_id
from hopline.journal.journal import Journal
from hopline.records import JOURNAL_FOLDER, RunRecord, RunSpec, write_record
from hopline.run.fold import FOLDED, RunFold
from hopline.run.status import Move, RunStatus, after
from hopline.run.store import RunStore
from hopline.wire.client.diagnostics import diagnosed
from hopline.wire.client.events import EnvelopeFields, EventEncoder, OutputPiece
from hopline.wire.client.payload import Payload
from hopline.wire.client.payloads import FrameworkWarning, RunStatusChanged


def first_record(spec: RunSpec, folder: Path, listens_at: str) -> RunRecord:
    """What is known of a run before its first event."""
    return RunRecord(
        id=spec.id,
        run_id=spec.id,
        name=spec.name,
        status=RunStatus.STARTING,
        pid=os.getpid(),
        socket_path=listens_at,
        started_at=rfc3339(),
        command=spec.command,
        cwd=spec.cwd,
        journal=str(folder / JOURNAL_FOLDER),
        runner=spec.runner,
        pty=spec.pty,
        columns=spec.columns if spec.pty else None,
        rows=spec.rows if spec.pty else None,
    )


class Sink(Protocol):
    """Where events are kept: a `Journal`, or a `RunStore` before there is one."""

    @property
    def next_sequence(self) -> int: ...
    @property
    def last_sequence(self) -> int: ...
    @property
    def committed_sequence(self) -> int: ...
    def append(self, line: bytes, *, kind: str) -> int: ...
    def room(self) -> bool: ...


class Recorder:
    """The one writer of a run's events and record.

    Args:
        journal: open for writing, or what stands in for it; its sequences start where they are.
        record: as known at the start; `publish` writes it.
    """

    def __init__(self, journal: Sink, record: RunRecord) -> None:
        self.journal = journal
        self.record = record
        self.status = RunStatus.STARTING
        self.fold = RunFold(record.run_id)
        self._encoder = EventEncoder(record.run_id)
        self._stamped_at = -1
        self._stamp = b""
        self._publish_after = 0
        self._unpublished = False

    def event(self, kind: str, data: Payload | None = None, **fields: Unpack[EnvelopeFields]) -> int:
        """Record one event. Returns its sequence; raises ValueError when the wire has no such event."""
        sequence = self.journal.next_sequence
        line = self._encoder.line(sequence, rfc3339(), kind, data=data, **fields)
        if kind in FOLDED:
            self.fold.add(sequence, line)
        return self.journal.append(line, kind=kind)

    def attach(self, store: RunStore, journal: Journal) -> None:
        """Keep everything in `journal` from now on, and fold what it held before."""
        before, entries = journal.last_sequence, store.entries()
        if not store.attach(journal):
            self.fold.restart()
            self.fold.fold_store(journal, before)
            for sequence, (line, kind) in enumerate(entries, before + 1):
                if kind in FOLDED:
                    self.fold.add(sequence, line)
        self.journal = journal

    def output(self, generation: int, piece: OutputPiece) -> None:
        """Record one piece of the worker's output."""
        journal = self.journal
        line = self._encoder.output(journal.next_sequence, self._timestamp(), generation, piece)
        journal.append(line, kind="subprocess_output")

    def move(self, move: Move) -> None:
        """Change the status and record it. Raises Misuse when the move is not legal."""
        status = after(self.status, move)
        if status is None:
            raise Misuse(f"a run that is {self.status} cannot {move}")
        self.event("run_status_changed", RunStatusChanged(status=status, previous=self.status))
        self.status = status
        self.change(status=str(status))

    def warn(self, summary: str, detail: str | None = None) -> None:
        """Record something that a person should know."""
        diagnostic = diagnosed(
            new_store_id(), "operation_failed", summary, detail=detail, scope="run", severity="warning"
        )
        warning = FrameworkWarning(summary=diagnostic.summary, detail=diagnostic.detail)
        self.event("framework_warning", warning, diagnostic=diagnostic)

    def change(self, **fields: Any) -> None:
        """Change the record; it is written once everything recorded so far is committed."""
        self.record = msgspec.structs.replace(self.record, **fields)
        self._publish_after = self.journal.last_sequence
        self._unpublished = True

    def committed(self) -> None:
        """The journal has committed more: fold it, and write the record if it is due. Raises OSError."""
        self.fold.advance(self.journal.committed_sequence)
        if self._unpublished and self.journal.committed_sequence >= self._publish_after:
            self.publish()

    def publish(self) -> None:
        """Write the record now. Raises OSError."""
        write_record(self.record)
        self._unpublished = False

    def _timestamp(self) -> bytes:
        milliseconds = time.time_ns() // 1_000_000
        if milliseconds != self._stamped_at:
            self._stamped_at = milliseconds
            self._stamp = rfc3339(milliseconds / 1000).encode()
        return self._stamp
