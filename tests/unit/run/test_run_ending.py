"""What a run's end is called, for every way it can end."""

import pytest

from hopline.run.ending import Ending, LastGeneration, StopOrder, ending_of
from hopline.run.status import Move
from hopline.wire.worker.messages import WorkerExited, WorkerSignaled


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (LastGeneration(True, WorkerExited(0), None), (Move.COMPLETE, "run_finished", "", "")),
        (
            LastGeneration(True, WorkerExited(7), None),
            (Move.FAIL, "run_failed", "worker_failed", "The worker exited with status 7."),
        ),
        (
            LastGeneration(True, WorkerSignaled(9), "f"),
            (Move.FAIL, "run_failed", "worker_failed", "The worker was ended by signal 9."),
        ),
        (
            LastGeneration(True, None, "torn"),
            (Move.FAIL, "run_failed", "worker_lost", "The worker was lost: nobody knows how it ended."),
        ),
        (
            LastGeneration(False, None, "no such file"),
            (Move.FAIL, "run_failed", "worker_lost", "The worker could not be started."),
        ),
    ],
)
def test_a_run_that_ends_by_itself_is_named_for_its_workers_end(
    last: LastGeneration, expected: tuple[Move, str, str, str]
) -> None:
    ending = ending_of(None, last)
    assert (ending.move, ending.kind, ending.code, ending.summary) == expected
    assert ending.detail == (None if ending.kind == "run_finished" else last.fault)


@pytest.mark.parametrize("outcome", [WorkerExited(0), WorkerExited(1), WorkerSignaled(15), None])
def test_a_run_that_was_told_to_end_is_interrupted_however_its_worker_ended(
    outcome: WorkerExited | WorkerSignaled | None,
) -> None:
    ending = ending_of(StopOrder("stopped"), LastGeneration(True, outcome, None))
    assert ending == Ending(Move.BOUNDARY, "run_interrupted", "interrupted", "The run was ended: stopped.", None)
