"""Every event of the relay in every state of a generation: WW-STARTED-FIRST, WW-TERMINAL-ORDER, WW-CLEAN-EOF."""

from itertools import permutations

import pytest

from hopline.wire.worker.codec import encode
from hopline.wire.worker.controller import Controller
from hopline.wire.worker.messages import (
    Event,
    Fatal,
    InterruptResult,
    Ready,
    ShutdownStarted,
    Stderr,
    StderrBytes,
    StderrClosed,
    StdinResult,
    Stdout,
    StdoutBytes,
    StdoutClosed,
    WorkerExited,
    WorkerSidebandClosed,
    WorkerSignaled,
    WorkerStarted,
)
from hopline.wire.worker.reports import Fault, FaultToken, Report, StreamEnded

STARTED = WorkerStarted(pid=7)
CLOSURES: list[Event] = [StdoutClosed(), StderrClosed(), WorkerSidebandClosed()]
EVENTS: dict[str, Event] = {
    "started": STARTED,
    "stdout": Stdout(data="x"),
    "stdout_bytes": StdoutBytes(data=b"\xff"),
    "stderr": Stderr(data="x"),
    "stderr_bytes": StderrBytes(data=b"\xff"),
    "ready": Ready(),
    "stdout_closed": StdoutClosed(),
    "stderr_closed": StderrClosed(),
    "sideband_closed": WorkerSidebandClosed(),
    "interrupt_result": InterruptResult(request_id=1),
    "stdin_result": StdinResult(request_id=1),
    "shutdown_started": ShutdownStarted(),
    "fatal": Fatal(message="broken"),
    "exited": WorkerExited(code=0),
    "signaled": WorkerSignaled(signal=9),
}
ANY_LIFE = set(EVENTS) - {"started"}
STATES: dict[str, tuple[list[Event], set[str]]] = {
    "launching": ([], {"started", "fatal"}),
    "failed": ([Fatal(message="no such program")], set()),
    "running": ([STARTED], ANY_LIFE),
    "fatal": ([STARTED, Fatal(message="broken")], ANY_LIFE),
    "stdout closed": ([STARTED, StdoutClosed()], ANY_LIFE - {"stdout", "stdout_bytes", "stdout_closed"}),
    "stderr closed": ([STARTED, StderrClosed()], ANY_LIFE - {"stderr", "stderr_bytes", "stderr_closed"}),
    "sideband closed": ([STARTED, WorkerSidebandClosed()], ANY_LIFE - {"ready", "sideband_closed"}),
    "ended": ([STARTED, *CLOSURES, WorkerExited(code=0)], set()),
}


def expected_fault(state: str, kind: str) -> FaultToken:
    if state == "launching" or (kind == "started" and state not in ("failed", "ended")):
        return FaultToken.STARTED_FIRST
    return FaultToken.TERMINAL_ORDER


def prepared() -> Controller:
    """A controller that has sent one of everything that can be answered."""
    controller = Controller(sideband=True)
    assert controller.send_interrupt() == 1
    assert controller.send_input(b"x")
    while frame := controller.writer.pending(0.0):
        controller.writer.sent(len(frame))
    controller.writer.shut_down(1.0)
    while frame := controller.writer.pending(0.0):
        controller.writer.sent(len(frame))
    return controller


def hear(controller: Controller, *events: Event) -> list[Report]:
    return controller.receive(b"".join(encode(event) for event in events))


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", EVENTS)
def test_an_event_is_accepted_only_where_its_state_allows_it(state: str, kind: str) -> None:
    steps, allowed = STATES[state]
    controller = prepared()
    hear(controller, *steps)
    reports = hear(controller, EVENTS[kind])
    if kind in allowed:
        assert len(reports) == 1 and not isinstance(reports[0], Fault)
    else:
        [fault] = reports
        assert isinstance(fault, Fault)
        assert fault.token is expected_fault(state, kind)
        assert hear(controller, Stdout(data="unheard")) == []


def test_every_order_of_the_closures_is_a_clean_end() -> None:
    """WW-CLEAN-EOF"""

    for order in permutations(CLOSURES):
        controller = Controller(sideband=False)
        hear(controller, STARTED, *order, WorkerExited(code=3))
        assert controller.started and controller.ended
        assert controller.receive_eof() == [StreamEnded(clean=True)]


@pytest.mark.parametrize("missing", range(4))
def test_an_end_without_a_closure_or_the_outcome_is_not_clean(missing: int) -> None:
    events = [*CLOSURES, WorkerExited(code=0)]
    del events[missing]
    controller = Controller(sideband=False)
    hear(controller, STARTED, *events)
    assert controller.receive_eof() == [StreamEnded(clean=False)]


def test_a_launch_failure_is_not_a_clean_end() -> None:
    controller = Controller(sideband=False)
    assert hear(controller, Fatal(message="no such program")) == [Fatal(message="no such program")]
    assert controller.receive_eof() == [StreamEnded(clean=False)]


@pytest.mark.parametrize(
    "event",
    [InterruptResult(request_id=2), StdinResult(request_id=2), InterruptResult(request_id=1), ShutdownStarted()],
)
def test_a_receipt_that_nothing_asked_for_fails_the_generation(event: Event) -> None:
    controller = Controller(sideband=False)
    [_, fault] = hear(controller, STARTED, event)
    assert isinstance(fault, Fault) and fault.token is FaultToken.PHASE


@pytest.mark.parametrize("kind", ["interrupt_result", "stdin_result", "shutdown_started"])
def test_a_second_receipt_fails_the_generation(kind: str) -> None:
    controller = prepared()
    assert not any(isinstance(report, Fault) for report in hear(controller, STARTED, EVENTS[kind]))
    [fault] = hear(controller, EVENTS[kind])
    assert isinstance(fault, Fault) and fault.token is FaultToken.PHASE
