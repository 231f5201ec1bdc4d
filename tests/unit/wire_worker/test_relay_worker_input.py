"""Bytes towards one pipe of the worker, and both pipes together."""

import pytest

from hopline.wire.worker.limits import RelayLimits
from hopline.wire.worker.messages import Evaluate, Stdin, StdinBytes, StdinClose, StdinResult
from hopline.wire.worker.relay_ports import Target
from hopline.wire.worker.worker_input import WorkerInput
from hopline.wire.worker.worker_inputs import WorkerInputs


def content(pipe: WorkerInput) -> bytes:
    return b"".join(pipe.buffers())


def test_pieces_are_one_byte_stream() -> None:
    """WW-STDIN-STREAM"""
    pipe = WorkerInput()
    pipe.put(b"one")
    pipe.put(b"two")
    assert content(pipe) == b"onetwo"
    pipe.wrote(4)
    assert content(pipe) == b"wo"
    assert pipe.size == 2


def test_a_receipt_is_due_when_the_last_byte_of_its_piece_is_in_the_pipe() -> None:
    """WW-STDIN-RECEIPT"""
    pipe = WorkerInput()
    pipe.put(b"ab", 1)
    pipe.put(b"", 2)
    pipe.put(b"cd", 3)
    assert pipe.wrote(1) == []
    assert pipe.wrote(2) == [1, 2]
    assert pipe.wrote(1) == [3]


def test_input_without_bytes_is_answered_when_what_is_before_it_is_written() -> None:
    pipe = WorkerInput()
    pipe.put(b"", 1)
    assert content(pipe) == b""
    assert pipe.wrote(0) == [1]


def test_a_close_waits_for_everything_before_it() -> None:
    pipe = WorkerInput()
    pipe.put(b"x")
    pipe.close_when_empty()
    assert not pipe.accepting
    assert not pipe.should_close()
    pipe.wrote(1)
    assert pipe.should_close()
    pipe.close()
    assert not pipe.should_close()


def test_a_stall_before_retirement_keeps_everything() -> None:
    pipe = WorkerInput()
    pipe.put(b"abc")
    pipe.wrote(1)
    pipe.stalled()
    assert content(pipe) == b"bc"


def test_a_stall_in_retirement_drops_what_was_not_begun() -> None:
    """WW-TELL-WORKER"""
    pipe = WorkerInput()
    pipe.put(b"never begun")
    pipe.put(b"shutdown", keep=True)
    pipe.offer_last()
    pipe.stalled()
    assert content(pipe) == b"shutdown"
    assert pipe.size == 8
    pipe.wrote(3)
    pipe.stalled()
    assert content(pipe) == b"tdown"


def test_a_stall_in_retirement_closes_a_pipe_whose_frame_was_cut_short() -> None:
    """WW-ABORTED-FRAME"""
    pipe = WorkerInput()
    pipe.put(b"begun")
    pipe.put(b"shutdown", keep=True)
    pipe.wrote(2)
    pipe.offer_last()
    pipe.stalled()
    assert pipe.closed
    assert content(pipe) == b""


def test_what_was_not_written_is_named_at_the_close() -> None:
    pipe = WorkerInput()
    pipe.put(b"a", 1)
    pipe.put(b"b")
    pipe.wrote(1)
    assert pipe.close() == [None]
    assert pipe.close() == []


def test_small_pieces_weigh_more_than_their_bytes() -> None:
    """WW-INPUT-BOUND"""
    pipe = WorkerInput()
    for number in range(10):
        pipe.put(b"", number)
    assert pipe.size == 0
    assert pipe.weight == 1280


def test_one_write_offers_a_bounded_number_of_pieces() -> None:
    pipe = WorkerInput()
    for _ in range(100):
        pipe.put(b"x")
    assert len(pipe.buffers()) == 16


def inputs(*, sideband: bool = True, input_bytes: int = 10_000) -> WorkerInputs:
    return WorkerInputs(RelayLimits(input_bytes=input_bytes), sideband=sideband)


def written(pipes: WorkerInputs, target: Target) -> bytes:
    data = b"".join(pipes.buffers(target))
    pipes.wrote(target, len(data))
    return data


def test_text_and_bytes_go_to_fd_0_and_cells_to_the_sideband() -> None:
    """WW-FLAT"""
    pipes = inputs()
    for command in (Stdin("é"), StdinBytes(b"\xff"), Evaluate("python", "1")):
        assert pipes.obey(command) is None
    assert written(pipes, Target.STDIN) == b"\xc3\xa9\xff"
    assert written(pipes, Target.SIDEBAND) == b'{"kind":"evaluate","language":"python","source":"1"}\n'
    assert pipes.take_receipts() == []


def test_empty_input_without_a_request_id_is_nothing() -> None:
    pipes = inputs()
    pipes.obey(Stdin(""))
    assert pipes.buffers(Target.STDIN) == []
    pipes.obey(StdinClose())
    assert pipes.take_closed() == [Target.STDIN]


def test_input_after_stdin_close_is_a_failure_or_an_answer() -> None:
    """WW-STDIN-RECEIPT"""
    pipes = inputs()
    pipes.obey(StdinClose())
    assert pipes.obey(Stdin("x", 4)) is None
    assert pipes.take_receipts() == [StdinResult(4, "the worker's input is closed")]
    assert "input is closed" in (pipes.obey(StdinBytes(b"x")) or "")


@pytest.mark.parametrize("ids", [(1, 2), (1, None), (None, 2)])
def test_a_worker_that_closed_fd_0_answers_what_asked_and_fails_what_did_not(ids: tuple[int | None, ...]) -> None:
    """WW-STDIN-RECEIPT"""
    pipes = inputs()
    for request_id in ids:
        pipes.obey(Stdin("x") if request_id is None else Stdin("x", request_id))
    problem = pipes.failed(Target.STDIN, "Broken pipe")
    if None in ids:
        assert problem == "cannot write worker stdin: Broken pipe"
    else:
        assert problem is None
        assert pipes.take_receipts() == [StdinResult(1, "Broken pipe"), StdinResult(2, "Broken pipe")]
    assert pipes.take_closed() == [Target.STDIN]
    assert pipes.take_closed() == []


def test_waiting_input_is_bounded_over_both_pipes() -> None:
    """WW-INPUT-BOUND"""
    pipes = inputs()
    assert pipes.obey(Evaluate("python", "x" * 6000)) is None
    assert "more than 10000 bytes" in (pipes.obey(Stdin("x" * 6000)) or "")
    written(pipes, Target.SIDEBAND)
    assert pipes.obey(Stdin("x" * 6000)) is None


def test_without_a_sideband_a_cell_is_a_failure_and_there_is_nothing_to_close() -> None:
    """WW-NO-SIDEBAND"""
    pipes = inputs(sideband=False)
    assert "without a sideband" in (pipes.obey(Evaluate("python", "1")) or "")
    pipes.retire()
    assert pipes.take_closed() == [Target.STDIN]


def test_retirement_closes_fd_0_and_tells_the_sideband() -> None:
    """WW-TELL-WORKER"""
    pipes = inputs()
    pipes.retire()
    assert pipes.take_closed() == [Target.STDIN]
    assert written(pipes, Target.SIDEBAND) == b'{"kind":"shutdown"}\n'
    pipes.close()
    assert pipes.take_closed() == [Target.SIDEBAND]
