"""hopline as a benchmark meets it: start a run, wait for its end, subscribe; and finished runs made without running."""

import json
import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.context import Context
from benchmarks.harness import OURS, NotMeasured
from benchmarks.processes import Stage, until
from hopline.clock import rfc3339
from hopline.ids import RunId, new_run_id
from hopline.journal import Journal
from hopline.records import ENDED, RunRecord
from hopline.wire.client.events import EventEncoder

RECEIVE_BYTES = 1 << 20

Line = Callable[[int], bytes]
"""Makes the event of a sequence, without its newline."""


def program(context: Context) -> str:
    """Path of the entry point. Raises NotMeasured when it is not there."""
    path = context.program(OURS)
    if not os.access(path, os.X_OK):
        raise NotMeasured(f"{path} is not installed")
    return path


def detach(
    context: Context, stage: Stage, command: list[str], *options: str, env: dict[str, str] | None = None
) -> RunRecord:
    """`hopline run --detach -- COMMAND`; the stage takes charge of its server.

    Raises RuntimeError with what it said when it did not start.
    """
    argv = [program(context), "run", "--detach", *options, "--", *command]
    output, into_output = stage.pipe()
    errors, into_errors = stage.pipe()
    pid = stage.start(argv, env=env, stdout=into_output, stderr=into_errors)
    stage.close(into_output, into_errors)
    said = b"".join(iter(lambda: os.read(output, 65536), b""))
    status = stage.finish(pid, 60).status
    complaint = os.read(errors, 65536)
    stage.close(output, errors)
    if status != 0:
        raise RuntimeError(f"hopline run --detach: {complaint.decode().strip() or status}")
    record = msgspec.json.decode(said, type=RunRecord)
    stage.adopt(record.pid)
    return record


def home(context: Context) -> Path:
    """The private state folder."""
    return Path(context.environment["HOPLINE_HOME"])


def wait_ended(context: Context, record: RunRecord, seconds: float = 120.0) -> RunRecord:
    """The record of a run once its status is final. Raises TookTooLong."""
    path = home(context) / "runs" / record.id / "record.json"
    for _ in until(seconds, 0.005):
        found = msgspec.json.decode(path.read_bytes(), type=RunRecord)
        if found.status in ENDED:
            return found
    raise AssertionError("unreachable")


def output_bytes(record: RunRecord) -> int:
    """Bytes of stdout in a finished run's journal, by its last output event."""
    segments = sorted((Path(record.journal) / "segments").glob("*.jsonl"))
    for segment in reversed(segments):
        with segment.open("rb") as file:
            file.seek(max(0, segment.stat().st_size - 4_000_000))
            lines = file.read().split(b"\n")
        for line in reversed(lines):
            if b'"type":"subprocess_output"' in line and line.startswith(b"{"):
                data: dict[str, Any] = json.loads(line)["data"]
                size = len(data["content"].encode()) if "raw" not in data else len(data["raw"]) * 3 // 4
                return int(data["offset"]) + size
    return 0


def subscribe(record: RunRecord, **fields: Any) -> socket.socket:
    """A connection on which a subscription was asked for; blocking, 30 s a read at most."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(30.0)
    connection.connect(record.socket_path)
    connection.sendall(json.dumps({"type": "subscribe", **fields}).encode() + b"\n")
    return connection


def reopen(context: Context, stage: Stage, record: RunRecord) -> int:
    """Start the read-only server of a finished run, wait until it serves, and return its pid."""
    output, into_output = stage.pipe()
    argv = [program(context), "run-server", "--reopen", record.id]
    pid = stage.start(argv, stdin=subprocess.DEVNULL, stdout=into_output)
    stage.close(into_output)
    said = os.read(output, 65536)
    stage.close(output)
    if b'"serving"' not in said:
        raise RuntimeError(f"hopline run-server --reopen said {said!r}")
    return pid


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


def finished_run(context: Context, events: int, make: Callable[[str], Line]) -> RunRecord:
    """A finished run with so many middle events, written by the journal itself and never run."""
    run_id = new_run_id()
    folder = home(context) / "runs" / run_id
    folder.mkdir(mode=0o700, parents=True)
    journal = Journal.create(folder / "journal", run_id)
    encode, line = EventEncoder(run_id), make(run_id)

    def note(kind: str, status: str | None = None) -> None:
        journal.append(encode.line(journal.next_sequence, rfc3339(), kind, status=status), kind=kind)

    note("server_started")
    note("run_started")
    for _ in range(events):
        journal.append(line(journal.next_sequence), kind="subprocess_output")
        if not journal.room():
            wait_room(journal)
    note("run_finished", "completed")
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
