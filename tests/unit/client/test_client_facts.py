import msgspec
import pytest

from hopline.client import facts
from hopline.client.facts import RunFacts, fold_all
from hopline.wire.client.events import RunEvent
from hopline.wire.client.payloads import (
    Descendant,
    Descendants,
    Payload,
    RunStatusChanged,
    WorkerExited,
    WorkerRetired,
    WorkerSignaled,
    WorkerStarted,
)
from hopline.wire.client.responses import Diagnostic

SURVIVOR = Descendant(pid=77, name="sleep\x1b", started_at="2026-01-01T00:00:00.000Z", start_time=123.4)


def event(sequence: int, payload: Payload) -> RunEvent:
    return RunEvent(
        sequence=sequence,
        timestamp="2026-01-01T00:00:00Z",
        type=type(payload).__struct_config__.tag,
        data=msgspec.Raw(msgspec.json.encode(payload)),
    )


def started(generation: int = 1) -> WorkerStarted:
    return WorkerStarted(generation=generation, pid=40 + generation, argv=["x"], cwd="/", runner="direct")


def retired(state: str, *processes: Descendant, generation: int = 1) -> WorkerRetired:
    found = Descendants(state=state, processes=list(processes))
    return WorkerRetired(generation=generation, runner="direct", how="marker", descendants=found)


def folded(*payloads: Payload) -> RunFacts:
    return fold_all(RunFacts(), [event(number, payload) for number, payload in enumerate(payloads, 1)])


def test_no_fact_is_guessed_from_another() -> None:
    known = folded(started())
    assert facts.worker_sentence(known.worker) == "running"
    assert facts.descendants_sentence(known.worker) == "unknown: not looked for yet"
    known = folded(started(), retired("gone"))
    assert facts.worker_sentence(known.worker) == "unknown: nobody saw it end"
    assert facts.descendants_sentence(known.worker) == "gone (marker)"
    known = folded(started(), WorkerExited(generation=1, code=0))
    assert known.ended is None
    assert facts.descendants_sentence(known.worker) == "unknown: not looked for yet"


def test_the_exit_status_is_the_workers_or_128_and_its_signal() -> None:
    assert facts.exit_status(folded(started(), WorkerExited(generation=1, code=7))) == 7
    assert facts.exit_status(folded(started(), WorkerSignaled(generation=1, signal=9))) == 137
    assert facts.exit_status(folded(started())) == 1
    assert facts.exit_status(RunFacts()) == 1


def test_survivors_are_named_with_pid_name_and_start_time_and_how_to_end_them() -> None:
    known = folded(started(), WorkerExited(generation=1, code=0), retired("remaining", SURVIVOR))
    assert facts.descendants_sentence(known.worker) == "1 process remains (marker)"
    assert known.worker is not None
    assert known.worker.retired is not None
    (line,) = facts.survivor_lines("abc", known.worker.retired.descendants)
    assert "77 sleep\N{REPLACEMENT CHARACTER}, started 2026-01-01T00:00:00.000Z" in line
    assert "hopline doctor abc --end 77@123.40" in line


def test_a_new_generation_takes_the_place_of_the_one_before() -> None:
    known = folded(started(1), WorkerExited(generation=1, code=3), retired("gone"), started(2))
    assert known.worker is not None
    assert (known.worker.generation, known.worker.code) == (2, None)
    assert [worker.code for worker in known.earlier] == [3]


def test_the_run_ends_with_its_event_and_the_servers_reason() -> None:
    known = folded(RunStatusChanged(status="failed", previous="running"))
    assert (known.status, known.ended) == ("failed", None)
    diagnostic = Diagnostic(id="1", code="worker_failed", summary="The worker exited with status 7.")
    end = RunEvent(sequence=9, timestamp="2026-01-01T00:00:00Z", type="run_failed", diagnostic=diagnostic)
    known = facts.fold(known, end)
    assert (known.ended, known.reason) == ("run_failed", "The worker exited with status 7.")
    assert known.last_sequence == 9


def test_events_of_unknown_kinds_change_nothing_but_the_sequence() -> None:
    odd = RunEvent(
        sequence=4, timestamp="2026-01-01T00:00:00Z", type="novelty", data=msgspec.Raw(b'{"kind":"novelty"}')
    )
    assert fold_all(RunFacts(), [odd, object()]) == RunFacts(last_sequence=4)


def test_a_generation_whose_start_was_not_seen_still_tells_its_end() -> None:
    assert (
        facts.worker_sentence(folded(WorkerSignaled(generation=4, signal=15)).worker) == "ended by signal 15 (SIGTERM)"
    )
    assert facts.worker_sentence(None) == "not recorded"


@pytest.mark.parametrize(
    ("ended", "told"),
    [("configuration_failed", "never started"), ("run_failed", "never started"), ("run_interrupted", "not recorded")],
)
def test_that_no_worker_started_is_said_only_where_it_is_proven(ended: str | None, told: str) -> None:
    assert facts.newest_worker_sentence(None, ended) == told
    assert facts.newest_worker_sentence(None, None) == "not recorded"
    assert facts.descendants_sentence(None) == "unknown: not looked for yet"
    assert facts.descendants_sentence(folded(retired("unknown")).worker) == "unknown (marker)"
