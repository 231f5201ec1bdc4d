"""What connects a relay machine with the world: sources, targets and effects."""

from dataclasses import dataclass
from enum import StrEnum


class Source(StrEnum):
    """What the relay reads."""

    COMMANDS = "commands"
    SIDEBAND = "sideband"
    STDOUT = "stdout"
    STDERR = "stderr"


class Target(StrEnum):
    """What the relay writes into the worker."""

    STDIN = "stdin"
    SIDEBAND = "sideband"


@dataclass(frozen=True, slots=True)
class SignalWorker:
    """Send SIGINT to the direct worker, then call `interrupted` with the same id."""

    request_id: int


@dataclass(frozen=True, slots=True)
class KillWorker:
    """Send SIGKILL to the direct worker; its exit is observed like any other."""


@dataclass(frozen=True, slots=True)
class CloseInput:
    """Close the descriptor of a target."""

    target: Target


@dataclass(frozen=True, slots=True)
class ReapWorker:
    """Reap the worker, whose exit was observed; nothing is signalled after it (WW-EXIT-UNREAPED)."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The relay is done.

    Args:
        status: its exit status.
        message: one sentence for fd 2, or empty.
    """

    status: int
    message: str


Effect = SignalWorker | KillWorker | CloseInput | ReapWorker | Finish
