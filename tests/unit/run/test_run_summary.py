"""What a run's record answers to a question without an agent."""

import pytest

from hopline.run.facts import Facts
from hopline.run.summary import NOTICE, answer
from hopline.wire.client.state import ActiveExecution, ChatThread, RunSnapshot
from hopline.wire.client.turns import Activity

SNAPSHOT = RunSnapshot(run_id="r", sequence=9, status="failed")
FACTS = Facts(
    outer_loop="command",
    command="make all",
    cwd="/src",
    started_at="t1",
    ended_at="t2",
    generation=2,
    pid=77,
    runner="direct",
    outcome="exited with status 1",
    descendants="remaining",
    remaining=tuple(f"sh (pid {n})" for n in range(7)),
    failure="The worker exited with status 1.",
    rounds=3,
    dropped=4,
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("", "The run is failed at event 9."),
        ("Status?", "It ended at t2."),
        ("Why did it FAIL", "What ended it: The worker exited with status 1."),
        ("which command", "It runs: make all in /src"),
        ("is the process alive", "Worker 2 is process 77, by the runner direct."),
        ("is the process alive", "sh (pid 4) and 2 more."),
        ("output", "The oldest 4 events were dropped"),
        ("which agents", "No agent is at work."),
        ("rounds", "Rounds finished: 3."),
    ],
)
def test_the_words_choose_what_is_told(question: str, expected: str) -> None:
    found = answer(question, None, SNAPSHOT, FACTS)
    assert found.startswith(NOTICE + "\n")
    assert expected in found
    assert found == answer(question, None, SNAPSHOT, FACTS)


def test_nothing_recorded_is_said_so() -> None:
    found = answer("why, which command, what process, output, agent", None, SNAPSHOT, Facts())
    for sentence in ("No failure is recorded.", "Its start is not recorded yet.", "No worker has started."):
        assert sentence in found
    bare = answer("command, process", None, SNAPSHOT, Facts(command="a", generation=1, pid=1, runner="direct"))
    assert "It runs: a\n" in bare and "How it ended is not recorded." in bare
    assert "It started" not in answer("", None, SNAPSHOT, Facts())


def test_an_unknown_thread_is_said_and_a_known_one_is_not() -> None:
    assert "There is no chat thread 'x'." in answer("", "x", SNAPSHOT, FACTS)
    thread = ChatThread(thread_id="x", provider="p", model="m")
    known = RunSnapshot(run_id="r", sequence=9, status="running", chat_threads=[thread], round_label="round 2")
    assert "There is no chat thread" not in answer("", "x", known, FACTS)
    assert "The newest round is round 2." in answer("agent", "x", known, FACTS)


def test_agents_at_work_are_named() -> None:
    execution = ActiveExecution(
        execution_id="e",
        agent_kind="planner",
        round_label="",
        stage="s",
        assignment="a",
        started_at="t",
        activity=Activity(mode="thinking", summary="Planning"),
    )
    found = answer(
        "agents", None, RunSnapshot(run_id="r", sequence=1, status="running", active_executions=[execution]), FACTS
    )
    assert "Agents at work: planner (Planning)." in found
