"""hopline as a benchmark meets it: start a run, wait for its end, reopen it, subscribe to it."""

import json
import os
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.context import Context
from benchmarks.harness import OURS, NotMeasured
from benchmarks.processes import Stage, until
from hopline.records import ENDED, RunRecord

RECEIVE_BYTES = 1 << 20


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


def forget(record: RunRecord) -> None:
    """Remove a run's folder."""
    shutil.rmtree(Path(record.journal).parent)
