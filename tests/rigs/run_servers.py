"""Starts real run servers and speaks to them, for end-to-end tests."""

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 15.0


def start_report(
    *arguments: str, stdin: bytes = b"", shell: str = ""
) -> tuple[dict[str, Any], "subprocess.Popen[bytes]"]:
    """The report of a new server process and the process; `shell` is done before it in the same process."""
    command = [sys.executable, "-m", "hopline", "run-server", *arguments]
    if shell:
        command = ["sh", "-c", f'{shell}; exec "$@"', "sh", *command]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(stdin)
    process.stdin.close()
    assert select.select([process.stdout], [], [], PATIENCE)[0], "no report"
    report: dict[str, Any] = json.loads(process.stdout.readline())
    process.stdout.close()
    return report, process


class RunningServer:
    """A run server that has reported that it serves."""

    def __init__(self, *command: str, shell: str = "", **fields: Any) -> None:
        self.id = os.urandom(6).hex()
        spec = {"id": self.id, "name": "test", "command": list(command), "cwd": "/", **fields}
        self.report, self.process = start_report(stdin=json.dumps(spec).encode() + b"\n", shell=shell)
        assert self.report["outcome"] == "serving", self.report
        self.record: dict[str, Any] = self.report["record"]

    def dial(self) -> "Dialled":
        return Dialled(self.record["socket_path"])

    def leaves(self) -> int:
        """Wait until the server has left. Returns its status."""
        return self.process.wait(PATIENCE)

    def record_now(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((home() / "runs" / self.id / "record.json").read_bytes())
        return found

    def stored(self) -> list[dict[str, Any]]:
        """The whole events in the journal's files."""
        segments = sorted((home() / "runs" / self.id / "journal" / "segments").glob("0*.jsonl"))
        lines = b"".join(path.read_bytes() for path in segments).split(b"\n")[:-1]
        return [json.loads(line) for line in lines]


class Reopened:
    """A read-only server of an earlier run."""

    def __init__(self, run_id: str) -> None:
        self.report, self.process = start_report("--reopen", run_id)

    def dial(self) -> "Dialled":
        return Dialled(self.report["record"]["socket_path"])


class Dialled:
    """A connection to a run server."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")
        self.waiting: deque[dict[str, Any]] = deque()

    def send(self, **fields: Any) -> None:
        self.socket.sendall(json.dumps(fields).encode() + b"\n")

    def receive(self) -> dict[str, Any] | None:
        line = self.file.readline()
        return json.loads(line) if line else None

    def ask(self, **fields: Any) -> dict[str, Any]:
        self.send(**fields)
        found = self.receive()
        assert found is not None
        return found

    def subscribe(self, **fields: Any) -> dict[str, Any]:
        return self.ask(type="subscribe", **fields)

    def events_until(self, *kinds: str) -> list[dict[str, Any]]:
        """Events of the stream up to the first of one of `kinds`."""
        found: list[dict[str, Any]] = []
        while True:
            while self.waiting:
                found.append(self.waiting.popleft())
                if found[-1]["type"] in kinds:
                    return found
            if (message := self.receive()) is None:
                break
            self.waiting.extend(message.get("events", ()))
        raise AssertionError(f"the stream ended before {kinds}, after {[event['type'] for event in found[-5:]]}")

    def close(self) -> None:
        self.file.close()
        self.socket.close()

    def __enter__(self) -> "Dialled":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


ENDS = ("run_finished", "run_failed", "run_interrupted")


def home() -> Path:
    return Path(os.environ["HOPLINE_HOME"])


def eventually(check: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """The first true value of `check`."""
    deadline = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.01)
    return found


def written(events: list[dict[str, Any]], stream: str = "stdout") -> bytes:
    """What the worker wrote, from its output events; offsets must be contiguous."""
    import base64

    parts = []
    size = 0
    for event in events:
        data = event["data"] or {}
        if event["type"] == "subprocess_output" and data["stream"] == stream:
            assert data["offset"] == size
            part = base64.b64decode(data["raw"]) if "raw" in data else data["content"].encode()
            parts.append(part)
            size += len(part)
    return b"".join(parts)
