"""The order in which commands leave, and what a shutdown, a forced retirement and a half-written frame make of it."""

import json
import math
import random
from typing import Any

import pytest

from hopline.wire.worker.commands import CommandWriter, grace_millis
from hopline.wire.worker.messages import MAX_U64, Interrupt, Resize, Stdin, StdinClose


def write(writer: CommandWriter, count: int, now: float = 0.0) -> bytes:
    data = bytes(writer.pending(now)[:count])
    writer.sent(len(data))
    return data


def write_all(writer: CommandWriter, now: float = 0.0) -> list[dict[str, Any]]:
    data = b""
    while written := write(writer, 7, now):
        data += written
    return [json.loads(line) for line in data.splitlines()]


def test_commands_leave_in_the_order_they_came() -> None:
    writer = CommandWriter()
    assert writer.push(Stdin(data="a")) and writer.push(Stdin(data="b")) and writer.push(StdinClose())
    assert write_all(writer) == [
        {"kind": "stdin", "data": "a"},
        {"kind": "stdin", "data": "b"},
        {"kind": "stdin_close"},
    ]
    assert not writer.finished


def test_an_interrupt_overtakes_input_that_has_not_begun() -> None:
    writer = CommandWriter()
    writer.push(Stdin(data="a"))
    writer.push(Stdin(data="b"))
    begun = write(writer, 3)
    assert writer.push_urgent(Interrupt(request_id=1))
    data = begun
    while written := write(writer, 100):
        data += written
    assert [json.loads(line)["kind"] for line in data.splitlines()] == ["stdin", "interrupt", "stdin"]


def test_a_frame_of_which_nothing_left_yet_gives_way_to_an_interrupt() -> None:
    writer = CommandWriter()
    writer.push(Stdin(data="a"))
    assert writer.pending(0.0)
    writer.sent(0)
    writer.push_urgent(Interrupt(request_id=1))
    assert [command["kind"] for command in write_all(writer)] == ["interrupt", "stdin"]


def test_of_sizes_that_have_not_begun_only_the_last_leaves_and_it_overtakes_input() -> None:
    writer = CommandWriter()
    writer.push(Stdin(data="a"))
    assert writer.push_resize(Resize(columns=1, rows=1))
    writer.push_urgent(Interrupt(request_id=1))
    assert writer.push_resize(Resize(columns=2, rows=2))
    assert write_all(writer) == [
        {"kind": "interrupt", "request_id": 1},
        {"kind": "resize", "columns": 2, "rows": 2},
        {"kind": "stdin", "data": "a"},
    ]
    writer.shut_down(1.0)
    assert not writer.push_resize(Resize(columns=3, rows=3))


def test_a_shutdown_closes_admission_and_drops_input_that_has_not_begun() -> None:
    writer = CommandWriter()
    writer.push(Stdin(data="a"))
    writer.push_urgent(Interrupt(request_id=1))
    writer.shut_down(1.0)
    assert not writer.push(Stdin(data="b")) and not writer.push_urgent(Interrupt(request_id=2))
    assert not writer.finished and not writer.shutdown_begun
    assert write_all(writer) == [{"kind": "interrupt", "request_id": 1}, {"kind": "shutdown", "grace_millis": 1000}]
    assert writer.finished and writer.shutdown_begun


def test_the_grace_is_counted_when_the_frame_is_made() -> None:
    """WW-GRACE-SERIALISED: a frame that waited for room is made anew."""
    writer = CommandWriter()
    writer.shut_down(10.0)
    assert b":10000}" in bytes(writer.pending(0.0))
    writer.sent(0)
    assert write_all(writer, now=9.9994) == [{"kind": "shutdown", "grace_millis": 1}]


def test_the_first_shutdown_fixes_the_deadline() -> None:
    writer = CommandWriter()
    writer.shut_down(1.0)
    writer.shut_down(5.0)
    assert write_all(writer) == [{"kind": "shutdown", "grace_millis": 1000}]


def test_forced_retirement_sends_a_shutdown_without_grace_and_nothing_else() -> None:
    """WW-FORCED-RETIREMENT"""
    writer = CommandWriter()
    writer.push(Stdin(data="a"))
    writer.push_urgent(Interrupt(request_id=1))
    writer.shut_down(100.0)
    writer.force(50.0)
    assert write_all(writer, now=50.0) == [{"kind": "shutdown", "grace_millis": 0}]
    assert writer.finished


def test_nothing_follows_a_frame_that_forced_retirement_cut_short() -> None:
    """WW-ABORTED-FRAME"""
    writer = CommandWriter()
    writer.push(Stdin(data="a"))
    write(writer, 5)
    writer.force(0.0)
    assert writer.finished and not writer.pending(0.0)
    writer.force(0.0)
    assert writer.finished and not writer.pending(0.0)


def test_forced_retirement_after_the_shutdown_left_adds_nothing() -> None:
    writer = CommandWriter()
    writer.shut_down(100.0)
    assert len(write_all(writer)) == 1
    writer.force(1.0)
    assert writer.finished and not writer.pending(1.0)


def test_an_aborted_writer_takes_and_gives_nothing() -> None:
    writer = CommandWriter()
    writer.push(Stdin(data="a"))
    writer.abort()
    writer.shut_down(1.0)
    assert writer.finished and not writer.pending(0.0) and not writer.push(Stdin(data="b"))


@pytest.mark.parametrize(
    ("deadline", "now", "millis"),
    [(1.0, 0.0, 1000), (1.0, 0.9999, 1), (1.0, 1.0, 0), (1.0, 2.0, 0), (math.inf, 0.0, MAX_U64), (1e30, 0.0, MAX_U64)],
)
def test_grace_is_rounded_up_to_whole_milliseconds(deadline: float, now: float, millis: int) -> None:
    assert grace_millis(deadline, now) == millis


def test_frames_are_never_mixed_however_they_are_written() -> None:
    """WW-ONE-WRITER: commands of every kind come in between the pieces of others."""
    chance = random.Random(7)
    writer = CommandWriter()
    data = b""
    sent = 0
    for number in range(200):
        writer.push(Stdin(data="x" * chance.randrange(50), request_id=number))
        if number % 7 == 0:
            writer.push_urgent(Interrupt(request_id=number))
            sent += 1
        data += write(writer, chance.randrange(60))
    writer.push(StdinClose())
    while written := write(writer, 11):
        data += written
    kinds = [json.loads(line)["kind"] for line in data.splitlines()]
    assert kinds.count("stdin") == 200 and kinds.count("interrupt") == sent
    assert kinds[-1] == "stdin_close"
