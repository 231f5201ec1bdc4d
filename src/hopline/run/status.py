"""The run's status machine: which move is legal in which status. Pure.

Source: docs/wire/client.md, "Run status".
"""

from enum import StrEnum


class RunStatus(StrEnum):
    """What a run is doing."""

    STARTING = "starting"
    RUNNING = "running"
    PAUSING = "pausing"
    PAUSED = "paused"
    STOPPING = "stopping"
    STOPPED = "stopped"
    COMPLETED = "completed"
    FAILED = "failed"


class Move(StrEnum):
    """What may change a status."""

    ATTACH = "attach"
    """The run's program is known and about to start."""
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    BOUNDARY = "boundary"
    """The point that a pause or stop waited for."""
    COMPLETE = "complete"
    FAIL = "fail"


_END = {Move.COMPLETE: RunStatus.COMPLETED, Move.FAIL: RunStatus.FAILED}

NEXT: dict[RunStatus, dict[Move, RunStatus]] = {
    RunStatus.STARTING: {Move.ATTACH: RunStatus.RUNNING, **_END},
    RunStatus.RUNNING: {Move.PAUSE: RunStatus.PAUSING, Move.STOP: RunStatus.STOPPING, **_END},
    RunStatus.PAUSING: {
        Move.BOUNDARY: RunStatus.PAUSED,
        Move.RESUME: RunStatus.RUNNING,
        Move.STOP: RunStatus.STOPPING,
        **_END,
    },
    RunStatus.PAUSED: {Move.RESUME: RunStatus.RUNNING, Move.STOP: RunStatus.STOPPING, **_END},
    RunStatus.STOPPING: {Move.BOUNDARY: RunStatus.STOPPED, Move.RESUME: RunStatus.RUNNING, **_END},
    RunStatus.STOPPED: {},
    RunStatus.COMPLETED: {},
    RunStatus.FAILED: {},
}


def after(status: RunStatus, move: Move) -> RunStatus | None:
    """The status that `move` leads to, or None when it is not legal in `status`."""
    return NEXT[status].get(move)


def ended(status: RunStatus) -> bool:
    """Whether a run never leaves this status."""
    return not NEXT[status]
