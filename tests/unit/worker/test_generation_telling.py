"""Which report is told to the observer by which call."""

import pytest

from hopline.wire.worker.messages import (
    Fatal,
    InterruptResult,
    Ready,
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
from hopline.wire.worker.reports import Fault, FaultToken, Report, StreamEnded
from hopline.worker.generation import tell


class Listener:
    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    def worker_started(self, pid: int, runner: str) -> None:
        self.calls.append(("started", pid, runner))

    def worker_output(self, chunk: OutputChunk) -> None:
        self.calls.append(("output", chunk))

    def worker_event(self, event: SemanticEvent) -> None:
        self.calls.append(("event", event))

    def worker_ended(self, outcome: WorkerExited | WorkerSignaled | None) -> None:
        self.calls.append(("ended", outcome))

    def worker_fatal(self, message: str) -> None:
        self.calls.append(("fatal", message))


CHUNK = OutputChunk("stderr", 0, 1, b"x")


@pytest.mark.parametrize(
    ("report", "call"),
    [
        (WorkerStarted(pid=5), ("started", 5, "direct")),
        (CHUNK, ("output", CHUNK)),
        (Ready(), ("event", Ready())),
        (WorkerExited(code=1), ("ended", WorkerExited(code=1))),
        (WorkerSignaled(signal=2), ("ended", WorkerSignaled(signal=2))),
        (Fatal(message="no"), ("fatal", "no")),
    ],
)
def test_what_concerns_the_worker_is_told(report: Report, call: tuple[object, ...]) -> None:
    listener = Listener()
    tell(listener, report, "direct")
    assert listener.calls == [call]


@pytest.mark.parametrize(
    "report",
    [
        Fault(FaultToken.STRICT, "no"),
        StreamEnded(clean=True),
        InterruptResult(request_id=1),
        StdinResult(request_id=1),
        ShutdownStarted(),
        StdoutClosed(),
        StderrClosed(),
        WorkerSidebandClosed(),
    ],
)
def test_what_concerns_the_transport_is_the_handles_own_business(report: Report) -> None:
    listener = Listener()
    tell(listener, report, "direct")
    assert listener.calls == []
