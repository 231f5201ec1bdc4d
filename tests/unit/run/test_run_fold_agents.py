"""Executions, threads, spans and overview from events; a prefix gives the snapshot of that moment."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_fakes import FakeRun

from hopline.run.fold import FOLDED, RunFold, fold_of
from hopline.run.scratch import ScratchStore
from hopline.run.status import RunStatus
from hopline.wire.client.checkpoint import NO_EXECUTIONS
from hopline.wire.client.events import EventEncoder
from hopline.wire.client.overview import Benchmarks, Objective, RunOverview
from hopline.wire.client.payload import Payload
from hopline.wire.client.payloads import RunStarted, RunStatusChanged
from hopline.wire.client.rounds import BenchmarkResult, GateFinished
from hopline.wire.client.trace import Span, SpanEnded, SpanStarted, SpanUpdated
from hopline.wire.client.turns import (
    Activity,
    AgentExecutionActivityChanged,
    AgentExecutionFinished,
    AgentExecutionStarted,
    ChatThreadCreated,
    InvocationFinished,
    InvocationStarted,
)
from hopline.wire.worker.messages import WorkerExited

encoder = EventEncoder("r")
THINKING = Activity(mode="thinking", summary="Planning")


class Run:
    """Events recorded one after another, folded live and kept."""

    def __init__(self) -> None:
        self.store = ScratchStore("r")
        self.fold = RunFold("r")

    def event(self, kind: str, data: Payload | None = None, **fields: Any) -> None:
        sequence = self.store.next_sequence
        line = encoder.line(sequence, f"t{sequence}", kind, data=data, **fields)
        self.store.append(line, kind=kind)
        if kind in FOLDED:
            self.fold.add(sequence, line)

    def snapshot(self) -> Any:
        return self.fold.snapshot(self.store.last_sequence)

    def begin(self, execution_id: str, kind: str = "implementer") -> None:
        data = AgentExecutionStarted(stage="s", user_prompt="do it", activity=THINKING, attempt=1, model="m")
        self.event(
            "agent_execution_started",
            data,
            execution_id=execution_id,
            agent_kind=kind,
            round_label=f"round {execution_id}",
        )


def test_an_execution_is_active_from_its_start_to_its_end() -> None:
    run = Run()
    assert run.fold.executions_at(0) is NO_EXECUTIONS
    run.begin("a")
    run.begin("b", "reviewer")
    first = run.snapshot()
    assert [one.execution_id for one in first.active_executions] == ["a", "b"]
    one = first.active_executions[0]
    assert (one.agent_kind, one.round_label, one.assignment, one.started_at) == (
        "implementer",
        "round a",
        "do it",
        "t1",
    )
    assert (first.agent_kind, first.round_label) == ("reviewer", "round b")
    changed = AgentExecutionActivityChanged(mode="tool", summary="Running make", tool="bash")
    run.event("agent_execution_activity_changed", changed, execution_id="a")
    run.event("agent_execution_activity_changed", changed, execution_id="nosuch")
    assert run.snapshot().active_executions[0].activity == Activity(mode="tool", summary="Running make", tool="bash")
    listed = run.fold.executions_at(4)
    assert listed is run.fold.executions_at(4)
    run.event("agent_execution_finished", AgentExecutionFinished(), execution_id="a")
    run.event("agent_execution_finished", AgentExecutionFinished(), execution_id="nosuch")
    assert [one.execution_id for one in run.snapshot().active_executions] == ["b"]
    assert run.fold.executions_at(6) is not listed
    run.event("run_finished", status="completed")
    assert run.snapshot().active_executions == []
    assert run.fold.executions_at(7).text == b"[]"


def test_legacy_twins_say_nothing_new_and_stand_in_where_they_are_alone() -> None:
    run = Run()
    started, finished = InvocationStarted(system_prompt="s", user_prompt="u"), InvocationFinished()
    run.begin("a")
    run.event("invocation_started", started, invocation_id="a")
    run.event("invocation_started", started, invocation_id="old", agent_kind="planner")
    run.event("invocation_started", started)
    assert [(one.execution_id, one.assignment) for one in run.snapshot().active_executions] == [
        ("a", "do it"),
        ("old", "u"),
    ]
    assert run.fold.has_executed("a") and not run.fold.has_executed("old")
    run.event("agent_execution_finished", AgentExecutionFinished(), execution_id="a")
    run.event("invocation_finished", finished, invocation_id="a")
    run.event("invocation_finished", finished, invocation_id="old")
    assert run.snapshot().active_executions == []


def test_threads_are_listed_once_each_in_their_order() -> None:
    run = Run()
    for name, title in (("a", "one"), ("b", "two"), ("a", "three")):
        data = ChatThreadCreated(thread_id=name, title=title, provider="p", model="m", created_at="t")
        run.event("chat_thread_created", data)
    assert [(one.thread_id, one.title) for one in run.snapshot().chat_threads] == [("a", "three"), ("b", "two")]


def test_the_unit_of_the_objective_is_that_of_its_first_measurement() -> None:
    run = Run()
    run.event("benchmark_result", BenchmarkResult(metric="speed", value=1.0, unit="m/s"))
    assert run.snapshot().overview is None
    overview = RunOverview(objective=Objective(text="t", metric="speed"), benchmarks=Benchmarks())
    run.event("run_started", RunStarted(input="i", overview=overview))
    assert run.snapshot().overview == overview
    run.event("gate_finished", GateFinished(gate="build"))
    run.event("benchmark_result", BenchmarkResult(metric="size", value=1.0, unit="B"))
    assert run.snapshot().overview.objective.unit is None
    run.event("gate_finished", GateFinished(gate="benchmark", metric="speed", unit="m/s", value=1.0))
    run.event("benchmark_result", BenchmarkResult(metric="speed", value=1.0, unit="km/h"))
    assert run.snapshot().overview.objective.unit == "m/s"


spans = st.builds(
    lambda name, status: Span(id=name, name=name, status=status, started_at="t"),
    st.sampled_from("abc"),
    st.sampled_from(["running", "waiting", "done"]),
)
span_events = st.lists(
    st.one_of(*(st.builds(kind, span=spans) for kind in (SpanStarted, SpanUpdated, SpanEnded))), max_size=12
)


@given(span_events)
def test_a_prefix_of_the_span_events_is_the_trace_at_that_moment(events: list[Any]) -> None:
    run = Run()
    for data in events:
        run.event(str(data.__struct_config__.tag), data)
    for number in range(len(events) + 1):
        expected: dict[str, Span] = {}
        for data in events[:number]:
            expected[data.span.id] = data.span
        assert run.fold.snapshot(number).spans == list(expected.values())


@pytest.mark.parametrize("loop", ["command", "search"])
def test_a_reopened_run_has_the_snapshot_that_it_had_live(loop: str) -> None:
    run = Run()
    run.event("server_started")
    run.event("run_started", RunStarted(input="i", outer_loop=loop))
    run.event("run_status_changed", RunStatusChanged(status=RunStatus.RUNNING, previous=RunStatus.STARTING))
    if loop == "search":
        run.begin("a")
        run.event("span_started", SpanStarted(span=Span(id="s", name="s", status="running", started_at="t")))
    assert fold_of(run.store).snapshot(run.store.last_sequence) == run.snapshot()
    assert fold_of(run.store).facts == run.fold.facts


def test_an_empty_store_folds_to_nothing() -> None:
    assert fold_of(ScratchStore("r")).snapshot(0).status == "starting"


def test_what_is_committed_is_not_held_when_nobody_asks(tmp_path: Path) -> None:
    async def main() -> None:
        run = FakeRun(tmp_path)
        (await run.start()).end(WorkerExited(code=0))
        await run.over()
        run.journal.close()
        assert len(run.recorder.fold._later) > 0
        run.recorder.fold.advance(run.journal.committed_sequence)
        assert len(run.recorder.fold._later) == 0
        assert run.recorder.fold.snapshot(run.journal.committed_sequence).status == "completed"

    asyncio.run(main())
