"""Finished runs that never ran: their journals are written by the journal itself, event by event."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from benchmarks.context import Context
from benchmarks.processes import until
from benchmarks.product import home
from hopline.clock import rfc3339
from hopline.ids import RunId, new_run_id
from hopline.journal import Journal
from hopline.records import RunRecord
from hopline.wire.client import payloads
from hopline.wire.client.events import EventEncoder

Line = Callable[[int], bytes]
"""Makes the event of a sequence, without its newline."""

LIFE_EVENTS = 8
"""Events of a finished run besides its output."""


def output_event(run_id: str, content: bytes) -> Line:
    """Makes output events that all carry `content` (JSON text, escaped)."""
    parts = EventEncoder(run_id)

    class Piece:
        stream = "stdout"
        offset = 0
        content_json = content
        raw = None

    whole = parts.output(1, rfc3339().encode(), 1, Piece())
    head, tail = whole.split(b'"sequence":1,', 1)
    return lambda sequence: b'%b"sequence":%d,%b' % (head, sequence, tail)


def small_event(run_id: str, size: int) -> Line:
    """Makes events of exactly `size` bytes with their newline; the envelope's nulls are left out to fit."""
    head = b'{"protocol_version":1,"sequence":%d,"run_id":"' + run_id.encode()
    head += b'","timestamp":"2026-01-01T00:00:00.000Z","type":"output","text":"'
    room = size - 1 - len(b'"}')

    def line(sequence: int) -> bytes:
        start = head % sequence
        return start + b"x" * (room - len(start)) + b'"}'

    return line


def finished_run(context: Context, outputs: int, make: Callable[[str], Line]) -> RunRecord:
    """A run that completed after so many outputs; its journal has LIFE_EVENTS more."""
    run_id = new_run_id()
    folder = home(context) / "runs" / run_id
    folder.mkdir(mode=0o700, parents=True)
    journal = Journal.create(folder / "journal", run_id)
    encode, line = EventEncoder(run_id), make(run_id)

    def note(kind: str, data: payloads.Payload | None = None, status: str | None = None) -> None:
        journal.append(encode.line(journal.next_sequence, rfc3339(), kind, status=status, data=data), kind=kind)

    note("server_started")
    note("run_started", payloads.RunStarted(input="true"))
    note("run_status_changed", payloads.RunStatusChanged(status="running", previous="starting"))
    note("worker_started", payloads.WorkerStarted(generation=1, pid=1, argv=["true"], cwd="/", runner="direct"))
    for _ in range(outputs):
        journal.append(line(journal.next_sequence), kind="subprocess_output")
        if not journal.room():
            wait_room(journal)
    note("worker_exited", payloads.WorkerExited(generation=1, code=0))
    gone = payloads.Descendants(state="gone")
    note("worker_retired", payloads.WorkerRetired(generation=1, runner="direct", how="never ran", descendants=gone))
    note("run_status_changed", payloads.RunStatusChanged(status="completed", previous="running"))
    note("run_finished", status="completed")
    journal.close(60)
    record = RunRecord(
        id=RunId(run_id),
        run_id=run_id,
        name="made",
        status="completed",
        pid=1,
        socket_path=str(Path(context.environment["XDG_RUNTIME_DIR"]) / "hopline" / "runs" / run_id / "control.sock"),
        started_at=rfc3339(),
        command=["true"],
        cwd="/",
        journal=str(folder / "journal"),
        ended_at=rfc3339(),
        exit_code=0,
    )
    (folder / "record.json").write_bytes(msgspec.json.encode(record))
    (folder / "lock").touch(mode=0o600)
    return record


def wait_room(journal: Journal) -> None:
    """Return when the journal takes more. Raises TookTooLong."""
    for _ in until(30, 0.001):
        if journal.room():
            return
