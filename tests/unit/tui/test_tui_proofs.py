"""What is proven of what was asked: a step is reached when the run said so, and never before."""

from typing import Any

from tui_rows import event

from hopline.tui.proofs import Action, Asked, descendants_words, proof_of, worker_words
from hopline.tui.story import Story, Worker, fold
from hopline.tui.words import clock

AT = "2026-03-01T12:00:{:02d}Z"


def told(*events: Any) -> Story:
    story = Story()
    for one in events:
        story = fold(story, one)
    return story


def control(text: str, status: str, second: int, **fields: Any) -> Any:
    return event("control", text=text, status=status, at=AT.format(second), **fields)


def started(second: int = 1, generation: int = 1) -> Any:
    data = {"generation": generation, "pid": 4121, "argv": ["x"], "cwd": "/", "runner": "direct"}
    return event("worker_started", data, at=AT.format(second))


def retired(second: int, state: str = "gone", *names: str) -> Any:
    processes = [{"pid": 7, "name": name, "started_at": AT.format(0), "start_time": 1.0} for name in names]
    data = {"generation": 1, "runner": "direct", "how": "x", "descendants": {"state": state, "processes": processes}}
    return event("worker_retired", data, at=AT.format(second))


def steps(story: Story, asked: Asked | None, action: Action) -> list[tuple[str, str | None]]:
    proof = proof_of(story, asked, action)
    assert proof is not None
    return [(step.label, step.at) for step in proof.steps]


def test_nobody_asked() -> None:
    assert proof_of(told(started()), None, Action.STOP) is None


def test_an_interrupt_is_delivered_when_the_run_says_so() -> None:
    asked = Asked(Action.INTERRUPT, AT.format(10))
    story = told(started())
    assert steps(story, asked, Action.INTERRUPT) == [("asked", AT.format(10)), ("accepted", None), ("delivered", None)]
    story = fold(story, control("/interrupt", "pending", 11))
    story = fold(story, control("/interrupt", "delivered", 12))
    assert steps(story, asked, Action.INTERRUPT)[1:] == [("accepted", AT.format(11)), ("delivered", AT.format(12))]
    proof = proof_of(story, asked, Action.INTERRUPT)
    assert proof is not None
    assert not proof.pending
    assert proof.line() == f"interrupt  delivered {clock(AT.format(12))}"


def test_a_response_that_says_delivered_is_a_proof_although_its_event_was_skipped() -> None:
    asked = Asked(Action.INTERRUPT, AT.format(10), accepted_at=AT.format(11), delivered_at=AT.format(11))
    assert steps(told(started()), asked, Action.INTERRUPT)[-1] == ("delivered", AT.format(11))


def test_an_earlier_delivery_proves_nothing_of_a_later_request() -> None:
    story = told(control("/interrupt", "pending", 1), control("/interrupt", "delivered", 2))
    asked = Asked(Action.INTERRUPT, AT.format(30))
    assert steps(story, asked, Action.INTERRUPT)[1:] == [("accepted", None), ("delivered", None)]
    assert proof_of(story, asked, Action.INTERRUPT).pending  # type: ignore[union-attr]  # it was asked


def test_what_another_asked_is_shown_by_its_events() -> None:
    story = told(control("/interrupt", "pending", 1), control("/interrupt", "delivered", 2))
    story = fold(fold(story, control("/interrupt", "pending", 3)), control("/interrupt", "delivered", 4))
    proof = proof_of(story, None, Action.INTERRUPT)
    assert proof is not None
    assert proof.times == 2
    assert proof.line().startswith("interrupt 2  delivered")


def test_a_failure_is_told_in_the_run_s_words() -> None:
    diagnostic = {"id": "1", "code": "operation_failed", "summary": "No receipt."}
    story = told(control("/interrupt", "pending", 11), control("/interrupt", "failed", 12, diagnostic=diagnostic))
    proof = proof_of(story, Asked(Action.INTERRUPT, AT.format(10)), Action.INTERRUPT)
    assert proof is not None
    assert proof.error == "No receipt."
    assert not proof.pending
    assert "failed: No receipt." in proof.line()


def test_a_request_that_could_not_be_made_is_told() -> None:
    proof = proof_of(Story(), Asked(Action.STOP, AT.format(1), error="it has left"), Action.STOP)
    assert proof is not None
    assert proof.error == "it has left"


def test_a_stop_has_four_steps_and_each_waits_for_its_own_event() -> None:
    asked = Asked(Action.STOP, AT.format(10), accepted_at=AT.format(10))
    events = [
        started(),
        control("/stop", "pending", 11),
        event("worker_signaled", {"generation": 1, "signal": 15}, at=AT.format(12)),
        retired(13),
        event("run_status_changed", {"status": "stopped", "previous": "stopping"}, at=AT.format(14)),
        event("run_interrupted", {"reason": "stopped"}, at=AT.format(15)),
    ]
    reached = []
    for number in range(1, len(events) + 1):
        found = steps(told(*events[:number]), asked, Action.STOP)
        reached.append(sum(at is not None for _, at in found))
    assert reached == [2, 2, 3, 4, 4, 5]
    assert [label for label, _ in found] == ["asked", "accepted", "worker ended", "descendants looked for", "stopped"]
    proof = proof_of(told(*events[:3]), asked, Action.STOP)
    assert proof is not None
    assert proof.line().endswith("descendants looked for not yet")


def test_a_worker_that_ended_before_the_stop_is_no_step_of_it() -> None:
    exited = event("worker_exited", {"generation": 1, "code": 0}, at=AT.format(5))
    asked = Asked(Action.STOP, AT.format(10), accepted_at=AT.format(11))
    assert steps(told(started(), exited), asked, Action.STOP)[2] == ("worker ended", None)


def test_a_restart_is_proven_when_it_was_started_again() -> None:
    asked = Asked(Action.RESTART, AT.format(10))
    story = told(started(), control("/restart", "pending", 11))
    assert steps(story, asked, Action.RESTART)[-1] == ("started again", None)
    story = fold(story, control("/restart", "consumed", 12))
    assert steps(story, asked, Action.RESTART)[-1] == ("started again", AT.format(12))


def test_input_that_still_waits_is_accepted_and_not_yet_delivered() -> None:
    asked = Asked(Action.INPUT, AT.format(10), accepted_at=AT.format(11))
    proof = proof_of(Story(), asked, Action.INPUT)
    assert proof is not None
    assert proof.line() == f"input  accepted {clock(AT.format(11))}, delivered not yet"
    asked = Asked(Action.INPUT, AT.format(10), accepted_at=AT.format(11), delivered_at=AT.format(11))
    proof = proof_of(Story(), asked, Action.INPUT)
    assert proof is not None
    assert not proof.pending


def test_the_worker_and_its_descendants_are_two_facts() -> None:
    assert worker_words(None) == "not started yet"
    assert descendants_words(None) == "none yet"
    running = told(started()).worker
    assert worker_words(running) == "running, pid 4121"
    assert worker_words(running, lost=True) == "unknown: nobody saw it end"
    assert descendants_words(running) == "looked for when the worker ends"
    assert descendants_words(running, lost=True) == "unknown"
    again = told(started(), started(2, generation=2)).worker
    assert worker_words(again) == "running, pid 4121, generation 2"
    exited = told(started(), event("worker_exited", {"generation": 1, "code": 3}, at=AT.format(4)), retired(5)).worker
    assert worker_words(exited) == f"exited with 3 {clock(AT.format(4))}"
    assert descendants_words(exited) == f"gone {clock(AT.format(5))}"
    left = told(started(), retired(5, "remaining", "pytest", "node")).worker
    assert worker_words(left) == "unknown: nobody saw it end"
    assert descendants_words(left) == "2 processes left behind (pytest, node)"
    killed = told(started(), event("worker_signaled", {"generation": 1, "signal": 9}, at=AT.format(4))).worker
    assert worker_words(killed) == f"ended by SIGKILL {clock(AT.format(4))}"


def test_the_story_keeps_what_a_header_needs() -> None:
    story = told(
        event("run_started", {"outer_loop": "command", "input": "make test"}),
        event("framework_warning", {"summary": "The worker waits."}),
        started(),
        event("no such kind", {"x": 1}),
        event("subprocess_output", {"content": "x"}),
    )
    assert (story.command, story.loop, story.warning) == ("make test", "command", "The worker waits.")
    assert story.writable
    ended = fold(story, event("run_failed", text="it broke", at=AT.format(9)))
    assert (ended.ended, ended.reason, ended.ended_at) == ("run_failed", "it broke", AT.format(9))
    assert not ended.writable
    assert told(event("worker_exited", {"generation": 4, "code": 0})).worker == Worker(4, code=0, ended_at=AT.format(0))
