"""The run's status machine, every status by every move (docs/wire/client.md, "Run status")."""

import pytest

from hopline.records import ENDED
from hopline.run.status import NEXT, Move, RunStatus, after, ended

LEGAL = {
    ("starting", "attach"): "running",
    ("starting", "complete"): "completed",
    ("starting", "fail"): "failed",
    ("running", "pause"): "pausing",
    ("running", "stop"): "stopping",
    ("running", "complete"): "completed",
    ("running", "fail"): "failed",
    ("pausing", "boundary"): "paused",
    ("pausing", "resume"): "running",
    ("pausing", "stop"): "stopping",
    ("pausing", "complete"): "completed",
    ("pausing", "fail"): "failed",
    ("paused", "resume"): "running",
    ("paused", "stop"): "stopping",
    ("paused", "complete"): "completed",
    ("paused", "fail"): "failed",
    ("stopping", "boundary"): "stopped",
    ("stopping", "resume"): "running",
    ("stopping", "complete"): "completed",
    ("stopping", "fail"): "failed",
}


@pytest.mark.parametrize("move", Move)
@pytest.mark.parametrize("status", RunStatus)
def test_every_move_in_every_status_does_what_the_table_says(status: RunStatus, move: Move) -> None:
    assert after(status, move) == LEGAL.get((status, move))


def test_a_run_never_leaves_its_end() -> None:
    assert {status for status in RunStatus if ended(status)} == ENDED
    assert set(NEXT) == set(RunStatus)
