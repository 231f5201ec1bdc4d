import os
import socket

import pytest

from hopline.cli.sinks import Sink, SinkClosed


def test_a_full_pipe_never_blocks_and_loses_nothing() -> None:
    source, target = os.pipe()
    sink = Sink(target)
    data = os.urandom(1 << 20)
    sink.write(data)
    assert sink.pending
    sink.write(b"last")
    received = b""
    while sink.pending:
        received += os.read(source, 1 << 16)
        sink.flush()
    sink.close()
    os.close(target)
    while more := os.read(source, 1 << 16):
        received += more
    os.close(source)
    assert received == data + b"last"


def test_the_blocking_mode_of_what_was_given_to_us_is_left_alone() -> None:
    source, target = os.pipe()
    sink = Sink(target)
    sink.write(b"x")
    assert os.get_blocking(target)
    sink.close()
    os.close(source)
    os.close(target)


def test_a_socket_is_written_without_blocking_too() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sink = Sink(theirs.fileno())
        sink.write(b"x" * (4 << 20))
        assert sink.pending
        assert theirs.getblocking()
        sink.close()


def test_a_file_is_written_from_where_it_stands(tmp_path) -> None:
    target = os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT)
    os.write(target, b"before ")
    sink = Sink(target)
    sink.write(b"after")
    sink.close()
    os.close(target)
    assert (tmp_path / "out").read_bytes() == b"before after"


def test_a_reader_that_left_closes_the_sink() -> None:
    source, target = os.pipe()
    sink = Sink(target)
    os.close(source)
    with pytest.raises(SinkClosed):
        sink.write(b"x")
    assert not sink.pending
    sink.close()
    os.close(target)


def test_a_reader_that_takes_nothing_does_not_hold_the_end_for_ever() -> None:
    source, target = os.pipe()
    sink = Sink(target)
    sink.write(b"x" * (1 << 20))
    sink.drain(0.01)
    assert not sink.pending
    sink.close()
    os.close(source)
    os.close(target)


def test_it_knows_whether_the_output_stands_at_the_start_of_a_line() -> None:
    source, target = os.pipe()
    sink = Sink(target)
    assert sink.at_line_start
    sink.write(b"x")
    assert not sink.at_line_start
    sink.write_beside(b"\x1b[K")
    assert not sink.at_line_start
    sink.write(b"y\n")
    sink.write(b"")
    assert sink.at_line_start
    sink.close()
    os.close(source)
    os.close(target)
