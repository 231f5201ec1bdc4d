"""One worker generation as the run sees it: what its handle tells becomes events.

The handle's interface is `hopline.worker.handle`; here it is a protocol, so that the run's rules are tested without
processes.
"""

import logging
from collections.abc import Callable
from typing import Protocol

from hopline.run.ending import LastGeneration
from hopline.run.recorder import Recorder
from hopline.wire.client.payloads import (
    Descendant,
    Descendants,
    WorkerRetired,
)
from hopline.wire.client.payloads import WorkerExited as ExitedEvent
from hopline.wire.client.payloads import WorkerSignaled as SignaledEvent
from hopline.wire.client.payloads import WorkerStarted as StartedEvent
from hopline.wire.worker.messages import SemanticEvent, WorkerExited, WorkerSignaled
from hopline.wire.worker.output import OutputChunk
from hopline.worker.generation import InterruptReceipt, Retirement

Outcome = WorkerExited | WorkerSignaled

log = logging.getLogger(__name__)


class Handle(Protocol):
    """What the controller asks of a running generation (`hopline.worker.handle.WorkerHandle`)."""

    def hold_output(self) -> None: ...
    def release_output(self) -> None: ...
    async def send_input(self, data: bytes) -> bool: ...
    async def close_input(self) -> None: ...
    def resize(self, columns: int, rows: int) -> None: ...
    async def interrupt(self) -> InterruptReceipt: ...
    def retire(self, grace_seconds: float) -> None: ...
    async def wait(self) -> Retirement: ...


class Generation:
    """Observes one generation and records it.

    Args:
        number: 1 for the first.
        recorder: where its events go.
        after_output: called after output was recorded, to hold the worker back if need be.
    """

    def __init__(self, number: int, recorder: Recorder, after_output: Callable[[], None]) -> None:
        self.number = number
        self.outcome: Outcome | None = None
        self.started = False
        self._runner = recorder.record.runner
        self._fatal: str | None = None
        self._recorder = recorder
        self._after_output = after_output

    def worker_started(self, pid: int, runner: str) -> None:
        """The direct worker runs."""
        self.started = True
        self._runner = runner
        record = self._recorder.record
        self._recorder.event(
            "worker_started",
            StartedEvent(generation=self.number, pid=pid, argv=record.command, cwd=record.cwd, runner=runner),
        )

    def worker_output(self, chunk: OutputChunk) -> None:
        """The worker wrote."""
        self._recorder.output(self.number, chunk)
        self._after_output()

    def worker_event(self, event: SemanticEvent) -> None:
        """A command has no sideband, so nothing is expected here."""
        log.warning("generation %d sent %s, which is not used", self.number, type(event).__name__)

    def worker_ended(self, outcome: Outcome | None) -> None:
        """The direct worker's outcome, once; None when the relay left without it."""
        self.outcome = outcome
        match outcome:
            case WorkerExited(code=code):
                self._recorder.event("worker_exited", ExitedEvent(generation=self.number, code=code))
                self._recorder.change(exit_code=code, signal=None)
            case WorkerSignaled(signal=number):
                self._recorder.event("worker_signaled", SignaledEvent(generation=self.number, signal=number))
                self._recorder.change(exit_code=None, signal=number)
            case None:
                pass

    def worker_fatal(self, message: str) -> None:
        """The relay's or the transport's own failure."""
        self._fatal = message
        log.error("generation %d: %s", self.number, message)
        self._recorder.warn("The worker's relay failed.", message)

    def retired(self, retirement: Retirement) -> LastGeneration:
        """The generation is over: record what became of its descendants."""
        found = retirement.descendants
        processes = [
            Descendant(pid=one.pid, name=one.name, started_at=one.started_at, start_time=one.start_time)
            for one in found.processes
        ]
        self._recorder.event(
            "worker_retired",
            WorkerRetired(
                generation=self.number,
                runner=self._runner,
                how=found.how,
                descendants=Descendants(state=found.state, processes=processes),
            ),
        )
        self._recorder.change(descendants=found.state, survivors=len(processes))
        return LastGeneration(self.started, retirement.outcome, self._fatal or retirement.fault)
