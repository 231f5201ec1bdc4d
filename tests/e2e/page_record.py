"""The record of a run that is over, written event by event from the corpus's fixtures, for a page to open."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from conformance_corpus import CORPUS
from journal_events import wait_until

from hopline.ids import RunId
from hopline.journal import Journal, JournalOptions
from hopline.records import JOURNAL_FOLDER, RunRecord, run_folder, write_record
from hopline.settings import socket_path

RUN = RunId("0123456789ab")
BEGAN = datetime(2026, 1, 1, 12, tzinfo=UTC)


def payload(kind: str, form: int = 0) -> Any:
    """One form of this type's payload, as the corpus has it."""
    return json.loads((CORPUS / "payloads" / f"{kind}.json").read_text())[form]


def envelope(kind: str) -> dict[str, Any]:
    """This type's envelope, as the corpus has it."""
    told: dict[str, Any] = json.loads((CORPUS / "events" / f"{kind}.json").read_text())
    return told


class Story:
    """Events in order, each a second after the one before."""

    def __init__(self, loop: str = "search") -> None:
        self.events: list[dict[str, Any]] = []
        self.add("run_started", data={"outer_loop": loop, "input": "claude -p 'make it faster'"})
        self.status("running", "starting")

    def add(self, kind: str, *, seconds: float = 1, data: Any = None, **fields: Any) -> "Story":
        """One event of the corpus, with these members of its payload and envelope instead."""
        last = datetime.fromisoformat(self.events[-1]["timestamp"]) if self.events else BEGAN
        body = payload(kind)
        event = envelope(kind) | {"data": body if data is None or body is None else {**body, **data}} | fields
        event |= {"sequence": len(self.events) + 1, "run_id": RUN}
        event["timestamp"] = (last + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
        self.events.append(event)
        return self

    def status(self, status: str, previous: str) -> "Story":
        """A move of the run's status."""
        return self.add("run_status_changed", data={"status": status, "previous": previous})

    def output(self, text: str, seconds: float = 1) -> "Story":
        """A piece of what the worker wrote."""
        data = {"kind": "subprocess_output", "process_id": "worker-1", "process_kind": "worker", "stream": "stdout"}
        self.add("subprocess_output", seconds=seconds)
        self.events[-1]["data"] = {**data, "content": text, "offset": 0}
        return self

    def turn(self, name: str, said: str, *, error: str | None = None, seconds: float = 40, **fields: Any) -> "Story":
        """An agent's turn from its start to its end: what it said, a tool, its cost."""
        about = {"execution_id": name, "invocation_id": name, **fields}
        self.add("agent_execution_started", **about)
        self.add("agent_output_chunk", data={"channel": "assistant", "content": said}, **about)
        self.add("tool_call", data={"args": {"command": "make test"}}, **about)
        self.add("tool_result", data={"content": "12 passed"}, **about)
        self.add("turn_usage_recorded", data={"span_id": fields.get("span_id")}, **about)
        failed = {"status": "failed", "diagnostic": {"code": "timeout", "summary": error}} if error else {}
        result = {"result": None, "reply": None, "error": error} if error else {}
        return self.add("agent_execution_finished", seconds=seconds, data=result, **about, **failed)

    def span(self, kind: str, name: str, parent: str | None = None, /, **fields: Any) -> "Story":
        """A span's start, change or end."""
        usual = {"id": name, "parent_id": parent, "name": name, "status": "running", "label": None, "waiting_on": []}
        usual |= {"failure": None, "invocation": None, "started_at": BEGAN.isoformat(), "ended_at": None}
        return self.add(kind, data={"span": usual | fields}, span_id=name)

    def end(self) -> "Story":
        """The run completes."""
        self.status("completed", "running")
        return self.add("run_finished", status="completed")

    def written(self, name: str = "recorded") -> RunId:
        """Keep it as the record of a run that is over; its id."""
        folder = run_folder(RUN)
        folder.mkdir(parents=True, mode=0o700)
        journal = Journal.create(folder / JOURNAL_FOLDER, RUN, JournalOptions(reserve_bytes=0))
        for event in self.events:
            journal.append(json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode(), kind=event["type"])
        wait_until(lambda: journal.committed_sequence == journal.last_sequence)
        assert not journal.close().unwritten_events
        write_record(
            RunRecord(
                id=RUN,
                run_id=RUN,
                name=name,
                status="completed",
                pid=1,
                socket_path=str(socket_path(RUN)),
                started_at=self.events[0]["timestamp"],
                ended_at=self.events[-1]["timestamp"],
                command=["claude", "-p", "make it faster"],
                cwd="/work",
                journal=str(folder / JOURNAL_FOLDER),
                exit_code=0,
                descendants="gone",
            )
        )
        return RUN
