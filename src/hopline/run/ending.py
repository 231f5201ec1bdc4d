"""Decides what a run's end is called and says why. Pure."""

from typing import assert_never

import msgspec

from hopline.run.status import Move
from hopline.wire.client.responses import Code
from hopline.wire.worker.messages import WorkerExited, WorkerSignaled


class StopOrder(msgspec.Struct, frozen=True):
    """Why a run is being ended from outside."""

    reason: str
    signal: int | None = None
    """The signal that the run server got, when that is the reason."""


class Ending(msgspec.Struct, frozen=True):
    """How a run ends: the move of its status and the event that says so."""

    move: Move
    kind: str
    """run_finished, run_failed or run_interrupted."""
    code: str = ""
    summary: str = ""
    """One sentence; empty for run_finished."""
    detail: str | None = None


class LastGeneration(msgspec.Struct, frozen=True):
    """What the last generation left to say about the run."""

    started: bool
    """Whether its worker ever ran."""
    outcome: WorkerExited | WorkerSignaled | None
    """The direct worker's; None when it is not known."""
    fault: str | None
    """What the worker wire or the launch said of its own failure."""


def ending_of(stop: StopOrder | None, last: LastGeneration) -> Ending:
    """What the last generation's end makes of the run; `stop` is the order that ended it, None when there was none."""
    fault = last.fault
    if stop is not None:
        return Ending(Move.BOUNDARY, "run_interrupted", Code.INTERRUPTED, f"The run was ended: {stop.reason}.", fault)
    match last.outcome:
        case WorkerExited(code=0):
            return Ending(Move.COMPLETE, "run_finished")
        case WorkerExited(code=code):
            summary = f"The worker exited with status {code}."
            return Ending(Move.FAIL, "run_failed", Code.WORKER_FAILED, summary, fault)
        case WorkerSignaled(signal=number):
            summary = f"The worker was ended by signal {number}."
            return Ending(Move.FAIL, "run_failed", Code.WORKER_FAILED, summary, fault)
        case None:
            lost = "The worker was lost: nobody knows how it ended."
            summary = lost if last.started else "The worker could not be started."
            return Ending(Move.FAIL, "run_failed", Code.WORKER_LOST, summary, fault)
        case _:
            assert_never(last.outcome)
