"""What a controller tells of its generation: the relay's events, checked and in order, and what went wrong."""

from dataclasses import dataclass
from enum import StrEnum

from hopline.wire.worker.messages import (
    Fatal,
    InterruptResult,
    SemanticEvent,
    ShutdownStarted,
    StderrClosed,
    StdinResult,
    StdoutClosed,
    WorkerExited,
    WorkerSidebandClosed,
    WorkerSignaled,
    WorkerStarted,
)
from hopline.wire.worker.output import OutputChunk


class FaultToken(StrEnum):
    """Names of the decisions against a relay or a worker (docs/wire/worker.md, "Decisions")."""

    STRICT = "WW-STRICT"
    """A line is no event."""
    NEWLINE = "WW-NEWLINE"
    """The stream ended inside a line."""
    INPUT_BOUND = "WW-INPUT-BOUND"
    """A line is longer than allowed."""
    STARTED_FIRST = "WW-STARTED-FIRST"
    """An event came before worker_started, or worker_started came again."""
    TERMINAL_ORDER = "WW-TERMINAL-ORDER"
    """An event came after its producer's closure, or after the outcome."""
    PHASE = "WW-PHASE"
    """A semantic event out of order, or a result that nothing asked for."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The first violation of a generation, which fails it."""

    token: FaultToken
    message: str
    """What came and why it may not, for a person."""

    def __str__(self) -> str:
        return f"{self.message} ({self.token})"


@dataclass(frozen=True, slots=True)
class StreamEnded:
    """The relay's event stream ended, the last thing of a generation."""

    clean: bool
    """After every closure and the outcome, at the end of a line (WW-CLEAN-EOF)."""


Report = (
    WorkerStarted
    | OutputChunk
    | SemanticEvent
    | InterruptResult
    | StdinResult
    | ShutdownStarted
    | StdoutClosed
    | StderrClosed
    | WorkerSidebandClosed
    | WorkerExited
    | WorkerSignaled
    | Fatal
    | Fault
    | StreamEnded
)
"""Raw output comes joined, as chunks; everything else as the relay's own event."""
