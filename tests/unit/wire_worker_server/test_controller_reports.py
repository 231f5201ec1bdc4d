"""The server's end as a whole: reports in order, faults as values, commands refused for their reasons."""

import pytest

from hopline.errors import Misuse
from hopline.wire.worker.codec import encode
from hopline.wire.worker.controller import MAX_INTERRUPTS, Controller
from hopline.wire.worker.input_window import INPUT_FRAME_BYTES
from hopline.wire.worker.messages import (
    Completed,
    ConsoleOutput,
    Event,
    InterruptResult,
    Ready,
    StdinResult,
    Stdout,
    StdoutBytes,
    StdoutClosed,
    WorkerExited,
    WorkerStarted,
)
from hopline.wire.worker.output import OutputChunk
from hopline.wire.worker.reports import Fault, FaultToken, Report, StreamEnded

STARTED = WorkerStarted(pid=7)


def hear(controller: Controller, *events: Event | bytes) -> list[Report]:
    return controller.receive(b"".join(event if isinstance(event, bytes) else encode(event) for event in events))


def running(*, sideband: bool = False) -> Controller:
    controller = Controller(sideband=sideband, max_event_bytes=1000)
    assert hear(controller, STARTED) == [STARTED]
    return controller


def faults(reports: list[Report]) -> list[FaultToken]:
    return [report.token for report in reports if isinstance(report, Fault)]


def test_output_keeps_its_place_among_the_other_events() -> None:
    controller = running(sideband=True)
    reports = hear(controller, Stdout(data="a"), Stdout(data="b"), Ready(), Stdout(data="c"), ConsoleOutput(data="d"))
    assert reports == [
        OutputChunk("stdout", 0, 2, b"ab"),
        Ready(),
        OutputChunk("stdout", 2, 1, b"c"),
        ConsoleOutput(data="d"),
    ]


def test_half_a_scalar_comes_out_before_its_streams_closure() -> None:
    controller = running()
    half, closed = hear(controller, StdoutBytes(data=b"\xc3"), StdoutClosed())
    assert isinstance(half, OutputChunk) and half.raw == b"ww=="
    assert closed == StdoutClosed()


def test_half_a_scalar_comes_out_when_the_relay_dies() -> None:
    controller = running()
    hear(controller, StdoutBytes(data=b"\xc3"))
    half, ended = controller.receive_eof()
    assert isinstance(half, OutputChunk) and half.raw == b"ww=="
    assert ended == StreamEnded(clean=False)


@pytest.mark.parametrize(
    "line", [b"\n", b"{}\n", b'{"kind":"nonsense"}\n', b"\xff\n", b'{"kind":"worker_exited","code":-0}\n']
)
def test_a_line_that_is_no_event_is_a_fault_and_the_last_thing_heard(line: bytes) -> None:
    """WW-STRICT: what came before it is told, what comes after it is not."""
    controller = running()
    reports = hear(controller, Stdout(data="a"), line, Stdout(data="b"), line)
    assert reports[0] == OutputChunk("stdout", 0, 1, b"a")
    assert faults(reports) == [FaultToken.STRICT] and len(reports) == 2
    assert hear(controller, Stdout(data="c")) == []
    assert controller.receive_eof() == [StreamEnded(clean=False)]


def test_an_end_inside_a_line_is_a_fault_even_when_the_object_is_whole() -> None:
    """WW-NEWLINE"""
    controller = running()
    assert hear(controller, b'{"kind":"stdout_closed"}') == []
    assert faults(controller.receive_eof()) == [FaultToken.NEWLINE]


@pytest.mark.parametrize("end", [b"", b'"}\n'])
def test_a_line_over_the_bound_is_a_fault_before_it_is_whole(end: bytes) -> None:
    """WW-INPUT-BOUND"""
    controller = running()
    reports = hear(controller, b'{"kind":"stdout","data":"' + b"x" * 1000 + end)
    assert faults(reports) == [FaultToken.INPUT_BOUND]


def test_a_worker_out_of_order_is_a_fault_but_its_output_and_end_are_still_heard() -> None:
    """WW-PHASE"""
    controller = running(sideband=True)
    reports = hear(
        controller, Ready(), Completed(), ConsoleOutput(data="unheard"), Stdout(data="a"), WorkerExited(code=1)
    )
    assert reports[0] == Ready()
    assert faults(reports) == [FaultToken.PHASE]
    assert reports[2:] == [OutputChunk("stdout", 0, 1, b"a"), WorkerExited(code=1)]


def test_only_the_first_fault_is_told() -> None:
    controller = running(sideband=True)
    assert faults(hear(controller, Completed(), b"{}\n")) == [FaultToken.PHASE]


def test_a_worker_without_a_sideband_says_nothing_semantic() -> None:
    """WW-NO-SIDEBAND"""
    assert faults(hear(running(), Ready())) == [FaultToken.PHASE]


def test_input_is_answered_by_number_and_makes_room_again() -> None:
    controller = running()
    while controller.input.has_room(INPUT_FRAME_BYTES):
        assert controller.send_input(b"x" * INPUT_FRAME_BYTES)
    with pytest.raises(Misuse):
        controller.send_input(b"x")
    assert hear(controller, StdinResult(request_id=1)) == [StdinResult(request_id=1)]
    assert controller.input.has_room(INPUT_FRAME_BYTES)
    hear(controller, StdinResult(request_id=2, error="broken pipe"))
    assert controller.input.failure == "broken pipe"


def test_interrupts_without_receipts_are_bounded() -> None:
    controller = running()
    assert [controller.send_interrupt() for _ in range(MAX_INTERRUPTS)] == list(range(1, MAX_INTERRUPTS + 1))
    assert controller.send_interrupt() is None
    hear(controller, InterruptResult(request_id=3))
    assert controller.send_interrupt() == MAX_INTERRUPTS + 1


def test_nothing_is_taken_once_retirement_has_begun() -> None:
    """WW-FORCED-RETIREMENT"""
    controller = running(sideband=True)
    hear(controller, Ready())
    controller.writer.shut_down(1.0)
    assert not controller.send_input(b"x")
    assert not controller.send_input_close()
    assert controller.send_interrupt() is None
    assert controller.send_evaluate("python", "1") == "the worker is being retired"
    assert controller.operations.busy is False


def test_one_operation_at_a_time_is_submitted() -> None:
    controller = running(sideband=True)
    assert controller.send_evaluate("python", "1") == "the worker is not ready"
    hear(controller, Ready())
    assert controller.send_evaluate("python", "1") is None
    assert controller.send_evaluate("python", "2") == "an operation is under way"
    assert hear(controller, Completed()) == [Completed()]
    assert controller.send_evaluate("python", "2") is None
    assert bytes(controller.writer.pending(0.0)) == b'{"kind":"evaluate","language":"python","source":"1"}\n'


def test_input_ends_after_the_input_before_it() -> None:
    controller = running()
    controller.send_input(b"x")
    assert controller.send_input_close()
    sent = b""
    while frame := bytes(controller.writer.pending(0.0)):
        controller.writer.sent(len(frame))
        sent += frame
    assert sent == b'{"kind":"stdin","data":"x","request_id":1}\n{"kind":"stdin_close"}\n'


def test_a_fault_reads_as_a_sentence_with_its_token() -> None:
    assert str(Fault(FaultToken.NEWLINE, "the stream ended inside a frame")) == (
        "the stream ended inside a frame (WW-NEWLINE)"
    )


def test_a_size_is_a_command_while_commands_are_taken() -> None:
    controller = running()
    assert controller.send_resize(100, 30)
    assert bytes(controller.writer.pending(0.0)) == b'{"kind":"resize","columns":100,"rows":30}\n'
    controller.writer.abort()
    assert not controller.send_resize(100, 30)
