"""The bridge's decisions: every state and step, every deadline by a jumped clock, every error as a value."""

import errno
import os
from itertools import product

import pytest

from hopline.errors import Misuse
from hopline.serve.bridge import NEXT, Bridge, BridgeLimits, Lane, State, Step, Wait
from hopline.serve.bridge_outcomes import Outcome

LIMITS = BridgeLimits()
WRITE = LIMITS.write_deadline_seconds
READ = LIMITS.read_deadline_seconds


def error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def in_state(state: State) -> Bridge:
    bridge = Bridge(LIMITS, 0.0)
    match state:
        case State.COPYING:
            pass
        case State.DEAF:
            bridge.receive_from_client(b"x", 0.0)
            bridge.server_write_failed(error(errno.EPIPE))
        case State.DRAINING:
            bridge.receive_from_server(b"last words", 0.0)
            bridge.receive_eof_from_server()
        case State.FLUSHING:
            bridge.receive_from_client(b"last command", 0.0)
            bridge.client_hung_up()
        case State.ENDED:
            bridge.receive_eof_from_client()
    assert bridge.state is state
    return bridge


def ended_as(bridge: Bridge) -> tuple[Outcome, int]:
    assert bridge.end is not None
    assert bridge.state is State.ENDED
    assert bridge.waits == Wait(0)
    assert bridge.next_deadline() is None
    bridge.on_time(1e12)
    return bridge.end.outcome, bridge.end.exit_status


def test_the_bounds_are_the_contract_s() -> None:
    assert (LIMITS.write_deadline_seconds, LIMITS.connect_timeout_seconds) == (40.0, 5.0)
    assert LIMITS.read_deadline_seconds == 7 * 24 * 3600
    assert LIMITS.read_bytes == 64 * 1024


def test_a_fresh_bridge_reads_both_ends_and_writes_neither() -> None:
    assert Bridge(LIMITS, 0.0).waits == Wait.READ_CLIENT | Wait.READ_SERVER


def test_bytes_read_before_the_bridge_began_go_to_the_server_first() -> None:
    bridge = Bridge(LIMITS, 0.0, b"already")
    assert bridge.waits == Wait.WRITE_SERVER | Wait.READ_SERVER
    assert bytes(bridge.to_server.pending) == b"already"


def test_a_lane_that_is_full_stops_its_own_reader_and_nothing_else() -> None:
    bridge = Bridge(LIMITS, 0.0)
    bridge.receive_from_client(b"abc", 1.0)
    assert bridge.waits == Wait.WRITE_SERVER | Wait.READ_SERVER
    bridge.receive_from_server(b"xyz", 1.0)
    assert bridge.waits == Wait.WRITE_SERVER | Wait.WRITE_CLIENT
    bridge.server_took(3, 2.0)
    assert bridge.waits == Wait.READ_CLIENT | Wait.WRITE_CLIENT
    bridge.client_took(2, 2.0)
    assert bytes(bridge.to_client.pending) == b"z"
    bridge.client_took(1, 2.0)
    assert bridge.waits == Wait.READ_CLIENT | Wait.READ_SERVER


def test_the_end_of_stdin_ends_it_and_drops_replies_in_flight() -> None:
    bridge = Bridge(LIMITS, 0.0)
    bridge.receive_from_server(b"a reply", 0.0)
    bridge.receive_eof_from_client()
    assert ended_as(bridge) == (Outcome.CLIENT_CLOSED, 0)
    assert bridge.end is not None
    assert bridge.end.line() == b""


def test_a_client_that_is_gone_still_has_its_last_command_delivered() -> None:
    bridge = in_state(State.FLUSHING)
    assert bridge.waits == Wait.WRITE_SERVER
    bridge.server_took(4, 1.0)
    assert bridge.end is None
    bridge.server_took(8, 1.0)
    assert (bridge.waits, bridge.next_deadline()) == (Wait.READ_CLIENT, None)
    bridge.receive_from_client(b"and another", 2.0)
    assert (bridge.waits, bridge.next_deadline()) == (Wait.WRITE_SERVER, 2.0 + WRITE)
    bridge.server_took(11, 3.0)
    bridge.receive_eof_from_client()
    assert ended_as(bridge) == (Outcome.CLIENT_CLOSED, 0)


@pytest.mark.parametrize("number", [errno.EPIPE, errno.ECONNRESET])
def test_a_client_that_is_gone_ends_it_when_the_server_is_gone_too(number: int) -> None:
    bridge = in_state(State.FLUSHING)
    bridge.server_write_failed(error(number))
    assert ended_as(bridge) == (Outcome.CLIENT_CLOSED, 0)


def test_a_last_command_that_the_server_does_not_take_is_given_up_after_the_write_deadline() -> None:
    bridge = in_state(State.FLUSHING)
    assert bridge.next_deadline() == WRITE
    bridge.on_time(WRITE)
    assert ended_as(bridge) == (Outcome.SERVER_STALLED, 7)


@pytest.mark.parametrize("number", [errno.EPIPE, errno.ECONNRESET])
def test_stdout_that_was_closed_is_the_client_going_away(number: int) -> None:
    bridge = Bridge(LIMITS, 0.0)
    bridge.receive_from_server(b"a reply", 0.0)
    bridge.client_failed(error(number))
    assert (bridge.waits, bridge.next_deadline()) == (Wait.READ_CLIENT, None)
    bridge.on_time(1e12)
    assert bridge.end is None
    bridge.receive_eof_from_client()
    assert ended_as(bridge) == (Outcome.CLIENT_CLOSED, 0)


def test_the_server_s_close_ends_it_only_after_everything_was_relayed() -> None:
    bridge = in_state(State.DRAINING)
    assert bridge.waits == Wait.WRITE_CLIENT
    bridge.client_took(5, 1.0)
    assert bridge.end is None
    bridge.client_took(5, 1.0)
    assert ended_as(bridge) == (Outcome.SERVER_CLOSED, 3)


def test_the_server_s_close_with_nothing_to_relay_ends_it_at_once() -> None:
    bridge = Bridge(LIMITS, 0.0)
    bridge.receive_from_client(b"never taken", 0.0)
    bridge.receive_eof_from_server()
    assert ended_as(bridge) == (Outcome.SERVER_CLOSED, 3)


def test_a_reset_by_the_server_is_a_close() -> None:
    bridge = Bridge(LIMITS, 0.0)
    bridge.server_read_failed(error(errno.ECONNRESET))
    assert ended_as(bridge) == (Outcome.SERVER_CLOSED, 3)


def test_stdout_closed_while_the_last_words_are_relayed_is_the_client_going_away() -> None:
    bridge = in_state(State.DRAINING)
    bridge.client_failed(error(errno.EPIPE))
    assert ended_as(bridge) == (Outcome.CLIENT_CLOSED, 0)


def test_a_failed_write_to_the_server_does_not_end_it_and_a_last_protocol_error_is_relayed() -> None:
    bridge = in_state(State.DEAF)
    assert bridge.waits == Wait.READ_CLIENT | Wait.READ_SERVER
    bridge.receive_from_client(b"dropped", 1.0)
    assert bridge.waits == Wait.READ_CLIENT | Wait.READ_SERVER
    bridge.receive_from_server(b'{"type":"protocol_error"}\n', 2.0)
    assert bridge.waits == Wait.READ_CLIENT | Wait.WRITE_CLIENT
    bridge.client_took(26, 2.0)
    bridge.receive_eof_from_server()
    assert ended_as(bridge) == (Outcome.SERVER_CLOSED, 3)


def test_a_client_may_leave_a_server_that_takes_nothing() -> None:
    bridge = in_state(State.DEAF)
    bridge.receive_eof_from_client()
    assert ended_as(bridge) == (Outcome.CLIENT_CLOSED, 0)


@pytest.mark.parametrize(
    ("fail", "outcome"),
    [
        (Bridge.server_read_failed, Outcome.SERVER_FAILED),
        (Bridge.server_write_failed, Outcome.SERVER_FAILED),
        (Bridge.client_failed, Outcome.CLIENT_FAILED),
    ],
)
def test_another_error_ends_it_and_is_named(fail: object, outcome: Outcome) -> None:
    bridge = Bridge(LIMITS, 0.0)
    bridge.receive_from_client(b"x", 0.0)
    fail(bridge, error(errno.ENOSPC))  # type: ignore[operator]  # one of the three methods above
    assert ended_as(bridge)[0] is outcome
    assert bridge.end is not None
    assert "No space left on device (ENOSPC)" in bridge.end.detail


def test_an_error_without_a_number_is_told_as_it_is() -> None:
    bridge = Bridge(LIMITS, 0.0)
    bridge.client_failed(OSError("strange"))
    assert bridge.end is not None
    assert "strange" in bridge.end.detail


def test_the_server_stalls_when_a_write_makes_no_progress_for_the_write_deadline() -> None:
    bridge = Bridge(LIMITS, 0.0)
    bridge.receive_from_client(b"abc", 100.0)
    assert bridge.next_deadline() == 100.0 + WRITE
    bridge.on_time(100.0 + WRITE - 0.001)
    assert bridge.end is None
    bridge.server_took(1, 139.0)
    bridge.server_took(0, 178.0)
    assert bridge.next_deadline() == 139.0 + WRITE
    bridge.on_time(139.0 + WRITE)
    assert ended_as(bridge) == (Outcome.SERVER_STALLED, 7)


def test_the_client_stalls_when_a_write_makes_no_progress_for_the_write_deadline() -> None:
    bridge = Bridge(LIMITS, 0.0)
    bridge.receive_from_server(b"abc", 100.0)
    bridge.client_took(1, 120.0)
    bridge.on_time(120.0 + WRITE - 0.001)
    assert bridge.end is None
    bridge.on_time(120.0 + WRITE)
    assert ended_as(bridge) == (Outcome.CLIENT_STALLED, 8)


def test_the_client_can_stall_while_the_last_words_are_relayed() -> None:
    bridge = in_state(State.DRAINING)
    bridge.on_time(WRITE)
    assert ended_as(bridge) == (Outcome.CLIENT_STALLED, 8)


def test_a_server_that_sends_nothing_for_a_week_is_unresponsive() -> None:
    bridge = Bridge(LIMITS, 0.0)
    bridge.receive_from_client(b"a request does not count", 10.0)
    bridge.server_took(24, 10.0)
    assert bridge.next_deadline() == READ
    bridge.on_time(READ - 0.001)
    assert bridge.end is None
    bridge.on_time(READ)
    assert ended_as(bridge) == (Outcome.SERVER_UNRESPONSIVE, 11)


def test_the_week_begins_anew_with_every_byte_and_does_not_count_while_nobody_listens() -> None:
    bridge = Bridge(LIMITS, 0.0)
    bridge.receive_from_server(b"x", 1000.0)
    assert bridge.next_deadline() == 1000.0 + WRITE
    bridge.client_took(1, 1030.0)
    assert bridge.next_deadline() == 1030.0 + READ


def test_of_two_deadlines_that_passed_the_earlier_one_is_told() -> None:
    bridge = Bridge(LIMITS, 0.0)
    bridge.receive_from_server(b"x", 1.0)
    bridge.receive_from_client(b"x", 2.0)
    bridge.on_time(1e9)
    assert ended_as(bridge) == (Outcome.CLIENT_STALLED, 8)


def test_a_clock_that_jumped_while_everything_was_taken_ends_nothing_but_an_old_silence() -> None:
    bridge = Bridge(LIMITS, 0.0)
    bridge.receive_from_client(b"x", 0.0)
    bridge.server_took(1, 5000.0)
    bridge.on_time(5000.0)
    assert bridge.end is None


STEPS = {
    Step.SERVER_DEAF: lambda bridge: bridge.server_write_failed(error(errno.EPIPE)),
    Step.SERVER_CLOSED: lambda bridge: bridge.receive_eof_from_server(),
    Step.CLIENT_LEFT: lambda bridge: bridge.client_hung_up(),
    Step.END: lambda bridge: bridge.client_failed(error(errno.EIO)),
}


SHORT_CUTS = {
    (State.DEAF, Step.CLIENT_LEFT),
    (State.DRAINING, Step.CLIENT_LEFT),
    (State.FLUSHING, Step.CLIENT_LEFT),
    (State.FLUSHING, Step.SERVER_DEAF),
}
"""Nothing is left to wait for, so these end it at once."""


@pytest.mark.parametrize(("state", "step"), list(product(State, Step)))
def test_every_state_takes_or_refuses_every_step_as_the_table_says(state: State, step: Step) -> None:
    bridge = in_state(state)
    if state is not State.ENDED and (step in NEXT[state] or (state, step) in SHORT_CUTS):
        if bridge.waits & Wait.READ_SERVER and step is Step.SERVER_CLOSED:
            bridge.receive_from_server(b"on its way", 0.0)
        STEPS[step](bridge)
        assert bridge.state is NEXT[state].get(step, State.ENDED)
    else:
        with pytest.raises(Misuse):
            STEPS[step](bridge)


def test_a_lane_holds_one_read_at_a_time() -> None:
    lane = Lane(b"x", 0.0)
    with pytest.raises(Misuse):
        lane.hold(b"y", 0.0)
