"""The event queue: bounds, the allowance beside them, and one order for all."""

from hopline.wire.worker.limits import RelayLimits
from hopline.wire.worker.output_queue import OutputQueue

LIMITS = RelayLimits(queue_frames=3, queue_bytes=100, supervisor_frames=2, supervisor_bytes=20)


def content(queue: OutputQueue) -> bytes:
    return b"".join(queue.buffers())


def test_frames_leave_in_the_order_in_which_they_came() -> None:
    """WW-ONE-WRITER"""
    queue = OutputQueue(LIMITS)
    assert queue.admit(b"one\n")
    assert queue.admit_supervisor(b"two\n")
    assert queue.admit(b"three\n")
    queue.push_terminal(b"four\n")
    assert content(queue) == b"one\ntwo\nthree\nfour\n"


def test_the_number_of_frames_is_bounded_the_one_being_written_included() -> None:
    """WW-READERS-WAIT"""
    queue = OutputQueue(LIMITS)
    assert all(queue.admit(b"1234\n") for _ in range(3))
    assert not queue.has_room
    assert not queue.admit(b"1234\n")
    queue.wrote(4)
    assert not queue.admit(b"1234\n")
    queue.wrote(1)
    assert queue.has_room
    assert queue.admit(b"1234\n")


def test_the_bytes_are_bounded() -> None:
    """WW-READERS-WAIT"""
    queue = OutputQueue(LIMITS)
    assert queue.admit(b"x" * 60)
    assert not queue.admit(b"x" * 41)
    assert queue.admit(b"x" * 40)
    assert not queue.has_room


def test_an_oversized_frame_passes_alone() -> None:
    """WW-OVERSIZED-ALONE"""
    queue = OutputQueue(LIMITS)
    assert queue.admit(b"x")
    assert not queue.admit(b"y" * 500)
    queue.wrote(1)
    assert queue.admit(b"y" * 500)
    assert not queue.admit(b"z")
    queue.wrote(499)
    assert not queue.admit(b"z")
    queue.wrote(1)
    assert queue.admit(b"z")


def test_supervisor_frames_have_room_when_output_has_none_and_overtake_nothing() -> None:
    """WW-SUPERVISOR-ALLOWANCE"""
    queue = OutputQueue(LIMITS)
    while queue.admit(b"out\n"):
        pass
    assert queue.admit_supervisor(b"s1\n")
    assert queue.admit_supervisor(b"s2\n")
    assert not queue.admit_supervisor(b"s3\n")
    assert content(queue) == b"out\nout\nout\ns1\ns2\n"
    queue.wrote(15)
    assert queue.admit_supervisor(b"s3\n")


def test_the_supervisor_allowance_is_bounded_in_bytes_too() -> None:
    """WW-SUPERVISOR-ALLOWANCE"""
    queue = OutputQueue(LIMITS)
    assert not queue.admit_supervisor(b"x" * 21)
    assert queue.admit_supervisor(b"x" * 20)


def test_supervisor_frames_take_no_room_from_output() -> None:
    queue = OutputQueue(LIMITS)
    assert queue.admit_supervisor(b"s\n")
    assert queue.admit(b"x" * 100)


def test_terminal_frames_always_have_room() -> None:
    queue = OutputQueue(LIMITS)
    for _ in range(10):
        queue.push_terminal(b"end of it\n")
    assert len(queue) == 10


def test_a_write_may_end_anywhere() -> None:
    queue = OutputQueue(RelayLimits())
    sent = [b"%d\n" % number for number in range(100)]
    for frame in sent:
        queue.admit(frame)
    got = b""
    while len(queue):
        offered = b"".join(queue.buffers())
        step = min(7, len(offered))
        got += offered[:step]
        queue.wrote(step)
    assert got == b"".join(sent)


def test_one_write_offers_a_bounded_number_of_buffers() -> None:
    queue = OutputQueue(RelayLimits())
    for _ in range(500):
        queue.admit(b"x\n")
    assert len(queue.buffers()) == 64


def test_nothing_is_left_after_clear() -> None:
    """WW-ABORTED-FRAME"""
    queue = OutputQueue(LIMITS)
    queue.admit(b"abc\n")
    queue.admit_supervisor(b"abc\n")
    queue.wrote(2)
    queue.clear()
    assert queue.buffers() == []
    assert len(queue) == 0
