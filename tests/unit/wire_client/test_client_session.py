"""The connection machine: every state and every step, and what each input does (docs/wire/client.md, "Connections")."""

import itertools

import pytest

from hopline.errors import Misuse
from hopline.wire.client.requests import MAX_REQUEST_LINE_BYTES, QuerySnapshot, Subscribe
from hopline.wire.client.session import NEXT, ClientSession, Received, Rejected, State, Step

SNAPSHOT = b'{"type":"query.snapshot"}\n'


def new_session() -> ClientSession:
    return ClientSession(map("id-{}".format, itertools.count()).__next__)


def session_in(state: State) -> ClientSession:
    session = new_session()
    if state is State.CLOSED:
        session.close()
        return session
    if state is not State.READING:
        session.receive(SNAPSHOT)
        assert session.take() is not None
    if state is State.STREAMING:
        session.subscribed()
    assert session.state is state
    return session


STEPS = {
    Step.ANSWERED: ClientSession.answered,
    Step.SUBSCRIBED: ClientSession.subscribed,
    Step.CLOSED: ClientSession.close,
}


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("step", STEPS)
def test_every_state_takes_exactly_the_steps_of_its_row(state: State, step: Step) -> None:
    session = session_in(state)
    after = NEXT[state].get(step)
    if after is None:
        with pytest.raises(Misuse):
            STEPS[step](session)
        assert session.state is state
    else:
        STEPS[step](session)
        assert session.state is after


@pytest.mark.parametrize("state", State)
def test_a_request_is_taken_only_while_reading(state: State) -> None:
    session = session_in(state)
    session.receive(SNAPSHOT)
    assert (session.take() is not None) == (state is State.READING)


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("data", [SNAPSHOT, b"\n", b"\xff\x00", b"x" * (MAX_REQUEST_LINE_BYTES + 5), b""])
def test_no_input_raises_in_any_state(state: State, data: bytes) -> None:
    session = session_in(state)
    session.receive(data)
    session.receive_message(data)
    session.receive_eof()
    session.take()


def test_requests_come_one_at_a_time_and_in_order() -> None:
    session = new_session()
    session.receive(b'{"type":"query.snapshot","request_id":"1"}\n{"type":"query.snapshot","request_id":"2"}\n')
    assert session.take() == Received(QuerySnapshot(request_id="1"), "1", "")
    assert session.take() is None
    session.answered()
    assert session.take() == Received(QuerySnapshot(request_id="2"), "2", "")
    session.answered()
    assert session.take() is None


def test_a_request_without_an_id_gets_one() -> None:
    session = new_session()
    session.receive(SNAPSHOT)
    assert session.take() == Received(QuerySnapshot(), "id-0", "")


def test_a_refused_line_leaves_the_connection_reading() -> None:
    session = new_session()
    session.receive(b'{"type":"subscribe","heartbeat_ms":1,"request_id":"q","client_id":"c"}\n' + SNAPSHOT)
    refused = session.take()
    assert isinstance(refused, Rejected)
    assert (refused.request_id, refused.client_id) == ("q", "c")
    assert refused.diagnostic.code == "invalid_value"
    assert refused.diagnostic.validation_paths == [["heartbeat_ms"]]
    session.answered()
    assert isinstance(session.take(), Received)


def test_a_line_of_exactly_the_bound_is_read() -> None:
    session = new_session()
    session.receive(SNAPSHOT[:-1].ljust(MAX_REQUEST_LINE_BYTES) + b"\n")
    assert isinstance(session.take(), Received)


def test_a_longer_line_is_refused_at_once_and_dropped_up_to_its_newline() -> None:
    session = new_session()
    session.receive(b"x" * (MAX_REQUEST_LINE_BYTES + 1))
    refused = session.take()
    assert isinstance(refused, Rejected)
    assert (refused.request_id, refused.client_id, refused.diagnostic.code) == ("unknown", "", "request_too_large")
    session.answered()
    session.receive(b"more of it\n" + SNAPSHOT)
    assert isinstance(session.take(), Received)
    session.answered()
    assert session.take() is None


def test_a_message_carrier_has_the_same_bound() -> None:
    session = new_session()
    session.receive_message(b"x" * (MAX_REQUEST_LINE_BYTES + 1))
    refused = session.take()
    assert isinstance(refused, Rejected) and refused.diagnostic.code == "request_too_large"


def test_a_message_needs_no_newline() -> None:
    session = new_session()
    session.receive_message(SNAPSHOT[:-1])
    assert isinstance(session.take(), Received)


def test_what_follows_a_subscribe_is_dropped() -> None:
    session = new_session()
    session.receive(b'{"type":"subscribe"}\n' + SNAPSHOT)
    taken = session.take()
    assert isinstance(taken, Received) and taken.request == Subscribe()
    session.subscribed()
    session.receive(SNAPSHOT * 100)
    assert session.take() is None
    assert not session.full


def test_what_waits_is_bounded_by_the_carrier_looking_at_full() -> None:
    session = new_session()
    session.receive(SNAPSHOT)
    assert session.take() is not None and not session.full
    line = SNAPSHOT[:-1].ljust(MAX_REQUEST_LINE_BYTES // 2) + b"\n"
    session.receive(line + line)
    assert session.full
    session.answered()
    assert session.take() is not None and not session.full


def test_what_was_sent_before_the_end_is_still_answered() -> None:
    session = new_session()
    session.receive(SNAPSHOT + b'{"type":"query.snap')
    session.receive_eof()
    assert not session.done
    assert session.take() is not None and not session.done
    session.answered()
    assert session.done and session.ended
