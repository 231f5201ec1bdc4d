"""What a run server says to one generation of its worker, and what it is told of it."""

from dataclasses import dataclass
from typing import Protocol

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
from hopline.wire.worker.reports import Fault, Report, StreamEnded
from hopline.worker.survivors import Descendants


@dataclass(frozen=True, slots=True)
class WorkerLaunch:
    """One worker to start."""

    run_id: str
    generation: int
    """From 1; one lifetime of the worker in its run."""
    argv: list[str]
    cwd: str
    env: dict[str, str]
    """The worker's whole environment, HOPLINE_RUN, HOPLINE_SESSION and HOPLINE_GENERATION included."""
    runner: str
    """direct, bwrap or auto."""
    sideband: bool = False
    """Whether the worker speaks semantic messages; an ordinary command does not."""
    terminal: tuple[int, int] | None = None
    """(columns, rows) of a terminal of its own; None for pipes."""


class Observer(Protocol):
    """Told of a generation on the loop's thread, in order; must not block."""

    def worker_started(self, pid: int, runner: str) -> None:
        """The worker was acquired. `pid` is as the relay sees it: in a namespace of its own under bwrap. `runner` is
        what is really used, direct or bwrap."""

    def worker_output(self, chunk: OutputChunk) -> None:
        """Raw output; contiguous per stream."""

    def worker_event(self, event: SemanticEvent) -> None:
        """A semantic event, its order checked."""

    def worker_ended(self, outcome: WorkerExited | WorkerSignaled | None) -> None:
        """The direct worker's end, told once and last; None when the relay died without telling it."""

    def worker_fatal(self, message: str) -> None:
        """A failure of the transport or the launch, for a person."""


def tell(observer: Observer, report: Report, runner: str) -> None:
    """Tell the observer what one report says; those that are the handle's own business say nothing to it."""
    match report:
        case OutputChunk():
            observer.worker_output(report)
        case WorkerStarted(pid=pid):
            observer.worker_started(pid, runner)
        case WorkerExited() | WorkerSignaled():
            observer.worker_ended(report)
        case Fatal(message=message):
            observer.worker_fatal(message)
        case Fault() | StreamEnded() | InterruptResult() | StdinResult() | ShutdownStarted():
            pass
        case StdoutClosed() | StderrClosed() | WorkerSidebandClosed():
            pass
        case _:
            observer.worker_event(report)


@dataclass(frozen=True, slots=True)
class InterruptReceipt:
    """What is proven of one interrupt."""

    delivered: bool | None
    """The signal was accepted for delivery, which says nothing of what the worker does with it; None: not known."""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Retirement:
    """The one result of a generation: its launcher was reaped, its pipes are closed, its cleanup is known.

    Each field is its own observation, and none is concluded from another (WW-SEPARATE-FACTS).
    """

    outcome: WorkerExited | WorkerSignaled | None
    """As the relay told it; None when it could not."""
    launcher_status: int | None
    """Exit status as `subprocess` gives it, negative for a signal; None if the launcher could not be reaped."""
    clean: bool
    """The event stream ended by itself after every closure and the outcome."""
    fault: str | None
    """The first failure of the generation, for a person."""
    descendants: Descendants
