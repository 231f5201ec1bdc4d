"""Each request's answer on the run of a plain command, live and ended (docs/wire/client.md, "Requests")."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from run_fakes import FakeRun

from hopline.run import history
from hopline.run.answers import Answers
from hopline.run.commits import Commits
from hopline.run.summary import NOTICE
from hopline.wire.client.commands import (
    Command,
    CommandPause,
    CommandResize,
    CommandResume,
    CommandSteer,
)
from hopline.wire.client.queries import (
    Query,
    QueryChat,
    QueryChatOptions,
    QueryChatThreadCreate,
    QueryDesign,
    QueryDesignPatch,
    QueryExperiments,
    QueryHistory,
    QueryIterations,
    QueryPerformance,
    QueryTuiDefaults,
)
from hopline.wire.client.responses import decode_response
from hopline.wire.client.session import Received
from hopline.wire.worker.messages import WorkerExited


class Asked:
    """A run that is asked."""

    def __init__(self, folder: Path) -> None:
        self.run = FakeRun(folder)
        self.commits = Commits(lambda: self.run.journal.committed_sequence)
        self.answers = Answers(self.run.journal, self.run.recorder.fold, self.commits, self.run.controller)

    def reading(self) -> None:
        """Only serve the record from now on."""
        self.answers = Answers(self.run.journal, self.run.recorder.fold, None, None)

    async def ask(self, request: Query | Command) -> dict[str, Any]:
        task = asyncio.ensure_future(self.answers.answer(Received(request, "q", "c")))
        while not task.done():
            self.commits.notify()
            await asyncio.sleep(0.001)
        assert decode_response(task.result()).request_id == "q"
        found: dict[str, Any] = json.loads(task.result())
        return found

    async def committed(self) -> None:
        journal = self.run.journal
        while journal.committed_sequence < journal.last_sequence:  # noqa: ASYNC110  # a thread commits
            await asyncio.sleep(0.001)


def asked(folder: Path, scenario: Callable[[Asked], Awaitable[None]]) -> list[tuple[Any, ...]]:
    """What is recorded of the scenario on a running run."""

    async def main() -> list[tuple[Any, ...]]:
        found = Asked(folder)
        worker = await found.run.start()
        await scenario(found)
        worker.end(WorkerExited(code=0)) if not found.run.controller.over else None
        await found.run.over()
        return found.run.told()

    return asyncio.run(main())


def test_what_steers_agents_does_nothing_to_a_plain_command_and_the_record_says_so(tmp_path: Path) -> None:
    async def scenario(it: Asked) -> None:
        for request, ack in (
            (CommandPause(), ("pause", "pending")),
            (CommandResume(), ("resume", "consumed")),
            (CommandSteer(text="hello"), ("steer", "pending")),
        ):
            found = await it.ask(request)
            assert found["ok"] and (found["ack"]["action"], found["ack"]["status"]) == ack
        assert it.run.recorder.status == "running"

    recorded = asked(tmp_path, scenario)
    for text in ("/pause", "/resume", "/steer: hello"):
        assert (text, "cancelled") in recorded
    assert [entry for entry in recorded if entry[0] == "run_status_changed"] == [
        ("run_status_changed", "running"),
        ("run_status_changed", "completed"),
    ]


def test_a_pause_before_the_run_has_started_is_refused(tmp_path: Path) -> None:
    async def main() -> None:
        it = Asked(tmp_path)
        found = await it.ask(CommandPause())
        assert found["diagnostic"]["code"] == "operation_failed"
        assert (await it.ask(CommandSteer(text="x")))["ok"]
        it.run.journal.close()

    asyncio.run(main())


def test_a_run_that_has_ended_acknowledges_and_records_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        it = Asked(tmp_path)
        (await it.run.start()).end(WorkerExited(code=0))
        await it.run.over()
        before = it.run.journal.last_sequence
        assert (await it.ask(CommandPause()))["ack"] == {"action": "pause", "status": "pending"}
        assert (await it.ask(QueryChat(text="status")))["events"] == []
        assert (await it.ask(QueryPerformance()))["ok"]
        assert it.run.journal.last_sequence == before
        it.run.journal.close()

    asyncio.run(main())


def test_a_wait_for_capacity_needs_a_run_that_is_paused_on_it(tmp_path: Path) -> None:
    async def scenario(it: Asked) -> None:
        found = await it.ask(CommandResume(when="capacity_returns"))
        assert not found["ok"] and found["ack"] is None
        told = found["diagnostic"]
        assert (told["code"], told["scope"], told["retryability"]) == ("capacity_wait_unavailable", "run", "manual")
        found = await it.ask(CommandResume(when="capacity_returns", fallback=True))
        assert found["diagnostic"]["code"] == "invalid_request"
        it.reading()
        found = await it.ask(CommandResume(when="capacity_returns", fallback=True))
        assert found["diagnostic"]["code"] == "invalid_request"

    assert not any(entry[0] == "/resume" for entry in asked(tmp_path, scenario))


def test_a_size_for_a_worker_without_a_terminal_is_refused(tmp_path: Path) -> None:
    async def scenario(it: Asked) -> None:
        found = await it.ask(CommandResize(columns=80, rows=24))
        assert found["diagnostic"]["code"] == "no_terminal"

    asked(tmp_path, scenario)


def test_a_record_refuses_what_would_change_the_run(tmp_path: Path) -> None:
    async def scenario(it: Asked) -> None:
        it.reading()
        for request in (
            CommandPause(),
            CommandResume(),
            CommandSteer(text="x"),
            CommandResize(columns=1, rows=1),
            QueryChatThreadCreate(provider="p", model="m"),
        ):
            assert request.mutating
            assert (await it.ask(request))["diagnostic"]["code"] == "run_read_only"

    asked(tmp_path, scenario)


def test_what_agents_would_provide_is_not_attached(tmp_path: Path) -> None:
    async def scenario(it: Asked) -> None:
        expected: list[tuple[Query, dict[str, Any]]] = [
            (QueryChatOptions(), {"chat_options": None}),
            (QueryTuiDefaults(), {"tui_defaults": None}),
            (QueryDesignPatch(base="a", head="b", path="c"), {"design_patch": None}),
            (QueryPerformance(), {"performance": [], "performance_context": None}),
            (QueryExperiments(), {"experiments": [], "experiment_update": None, "experiments_ready": False}),
            (QueryDesign(), {"design": [], "design_ready": False}),
            (
                QueryIterations(),
                {"iterations": {"kind": "unavailable", "reason": "not_attached", "detail": None}},
            ),
        ]
        for request, sections in expected:
            found = await it.ask(request)
            assert found["ok"], request
            assert {name: found[name] for name in sections} == sections
        found = await it.ask(QueryChatThreadCreate(provider="p", model="m"))
        assert found["diagnostic"]["code"] == "operation_failed"
        await it.ask(QueryHistory())

    recorded = asked(tmp_path, scenario)
    assert [entry for entry in recorded if entry[0] == "status_query"] == [("status_query",)] * 4


def test_the_history_is_every_event(tmp_path: Path) -> None:
    async def scenario(it: Asked) -> None:
        await it.committed()
        before = it.run.journal.last_sequence
        found = await it.ask(QueryHistory())
        assert [event["sequence"] for event in found["events"]][:before] == list(range(1, before + 1))
        await it.committed()
        text = [event["text"] for event in (await it.ask(QueryHistory()))["events"] if event["type"] == "status_query"]
        assert text[0] == "/history"

    asked(tmp_path, scenario)


def test_a_history_that_no_response_holds_is_refused_with_the_way_to_read_it(tmp_path: Path, monkeypatch: Any) -> None:
    async def scenario(it: Asked) -> None:
        await it.committed()
        monkeypatch.setattr(history, "MAX_HISTORY_BYTES", 10)
        found = await it.ask(QueryHistory())
        assert not found["ok"] and "query.events" in found["error"]

    asked(tmp_path, scenario)


def test_a_question_is_answered_from_the_record_and_recorded(tmp_path: Path) -> None:
    async def scenario(it: Asked) -> None:
        found = await it.ask(QueryChat(text="why did round 2 regress?"))
        chat = found["chat"]
        assert chat["question"] == "why did round 2 regress?"
        assert (chat["effect"], chat["thread_id"]) == ("none", None)
        assert chat["answer"].startswith(NOTICE)
        (event,) = found["events"]
        assert event["data"]["answer"] == chat["answer"] and event["text"] == chat["question"]
        assert (event["type"], event["status"]) == ("chat", "answered")
        assert (event["agent_kind"], event["round_label"]) == ("chat", "experiment-chat")
        assert event["invocation_id"] and event["invocation_id"] == event["execution_id"]
        again = (await it.ask(QueryChat(text="why did round 2 regress?")))["chat"]["answer"]
        assert msgspec.json.encode(again) == msgspec.json.encode(again)
        unknown = await it.ask(QueryChat(text="", thread_id="nosuch"))
        assert unknown["ok"] and "nosuch" in unknown["chat"]["answer"]
        it.reading()
        assert (await it.ask(QueryChat(text="status?")))["events"] == []

    asked(tmp_path, scenario)


def test_what_people_ask_takes_no_room_that_is_not_there(tmp_path: Path, monkeypatch: Any) -> None:
    async def scenario(it: Asked) -> None:
        monkeypatch.setattr(it.run.journal, "room", lambda: False)
        before = it.run.journal.last_sequence
        assert (await it.ask(QueryChat(text="status")))["chat"]["answer"]
        assert (await it.ask(QueryHistory()))["events"]
        assert (await it.ask(CommandSteer(text="x")))["ok"]
        assert it.run.journal.last_sequence == before

    asked(tmp_path, scenario)


def test_an_answer_does_not_wait_for_ever_for_its_own_event(tmp_path: Path, monkeypatch: Any) -> None:
    async def scenario(it: Asked) -> None:
        monkeypatch.setattr(history, "COMMIT_SECONDS", 0.0)
        monkeypatch.setattr(it.commits, "_committed", lambda: 0)
        found = await it.ask(QueryChat(text="status"))
        assert found["ok"] and found["events"] == []

    asked(tmp_path, scenario)
