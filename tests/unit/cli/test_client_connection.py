import json
import os
import socket
from pathlib import Path

import pytest
from scripted_server import batch, output, refused, response, subscribed

from hopline.client import Connection, Subscription, connect
from hopline.errors import ConnectDenied, ConnectFailed, Refused, RunGone, Unavailable
from hopline.wire.client.requests import CommandInterrupt, QuerySnapshot, Subscribe


def test_a_request_gets_the_response_that_names_it(scripted) -> None:
    server = scripted(lambda _: [response(request_id="of somebody else"), response(ack={"action": "x", "status": "y"})])
    found = server.connection.ask(QuerySnapshot())
    assert found.ack is not None
    assert found.ack.status == "y"
    (request,) = server.requests
    assert request.client_id.startswith("hopline-")


def test_a_refusal_is_one_sentence_with_the_next_step_and_its_code(scripted) -> None:
    server = scripted(lambda _: [refused("worker_ended", "There is no worker.", "Start it again: hopline restart x")])
    with pytest.raises(Refused, match=r"^There is no worker; Start it again: hopline restart x\.$") as caught:
        server.connection.ask(CommandInterrupt())
    assert caught.value.code == "worker_ended"


def test_a_refusal_without_a_diagnostic_is_still_told(scripted) -> None:
    server = scripted(lambda _: [response(ok=False, error="no")])
    with pytest.raises(Refused, match="no"):
        server.connection.ask(QuerySnapshot())


def test_a_server_that_leaves_instead_of_answering_is_gone(scripted) -> None:
    server = scripted(lambda _: [])
    with pytest.raises(RunGone, match="left before it answered"):
        server.connection.ask(QuerySnapshot())


def test_a_server_that_left_takes_no_more_requests(scripted) -> None:
    server = scripted(lambda _: [])
    with pytest.raises(RunGone):
        server.connection.ask(QuerySnapshot())
    with pytest.raises(RunGone, match="has left"):
        for _ in range(3):
            server.connection.send(QuerySnapshot())


def test_what_a_server_said_before_it_hung_up_is_told_when_a_request_finds_it_gone() -> None:
    ours, theirs = socket.socketpair()
    refusal = refused("too_many_connections", "As many are open as may be.", "Close one and try again.")
    ours.sendall(json.dumps({**refusal, "request_id": "unknown"}).encode() + b"\n")
    ours.close()
    descriptor = theirs.detach()
    with (
        Connection(descriptor, descriptor, "the run's server") as connection,
        pytest.raises(Refused, match=r"^As many are open as may be; Close one"),
    ):
        connection.ask(QuerySnapshot())


def test_a_server_of_this_machine_that_never_answers_is_given_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopline.client.connection.FIRST_ANSWER_SECONDS", 0.01)
    ours, theirs = socket.socketpair()
    descriptor = theirs.detach()
    with (
        ours,
        Connection(descriptor, descriptor, "the run's server", 4711) as connection,
        pytest.raises(Unavailable, match=r"\(pid 4711\) does not answer; it may be stopped: kill -CONT 4711"),
    ):
        connection.ask(QuerySnapshot())


def test_silence_is_told_after_the_deadline() -> None:
    ours, theirs = socket.socketpair()
    descriptor = theirs.detach()
    with (
        ours,
        Connection(descriptor, descriptor, "the run's server") as connection,
        pytest.raises(Unavailable, match=r"did not answer within 0\.01 s"),
    ):
        connection.ask(QuerySnapshot(), 0.01)


def test_what_is_no_response_fails_the_connection(scripted) -> None:
    server = scripted(lambda _: [{"ok": "perhaps"}])
    with pytest.raises(ConnectFailed, match="protocol version 1"):
        server.connection.ask(QuerySnapshot())


def test_any_pair_of_descriptors_carries_a_session() -> None:
    (to_server, request_end), (answer_end, from_server) = os.pipe(), os.pipe()
    with Connection(answer_end, request_end, "a bridge") as connection:
        request_id = connection.send(QuerySnapshot())
        assert request_id.encode() in os.read(to_server, 4096)
        os.write(from_server, b'{"a":1}\n{"b":')
        assert connection.receive(1) == b'{"a":1}'
        os.write(from_server, b"2}\n")
        os.close(from_server)
        assert connection.receive(1) == b'{"b":2}'
        assert connection.receive(1) is None
    os.close(to_server)
    connection.close()


def test_a_subscription_is_acknowledged_before_its_frames(scripted) -> None:
    server = scripted(lambda _: [subscribed(3), batch(3, output(3, "x"))])
    subscription = Subscription(server.connection, after=2, store_id="s")
    assert (subscription.run_id, subscription.latest_sequence) == ("r", 3)
    frame = subscription.next_frame(1)
    assert frame is not None
    assert b'"event_batch"' in frame
    (request,) = server.requests
    assert isinstance(request, Subscribe)
    assert (request.after_sequence, request.tail, request.store_id) == (2, None, "s")


@pytest.mark.parametrize(
    ("answers", "error", "told"),
    [
        ([refused("invalid_value", "Request received invalid input")], Refused, "invalid input"),
        ([{"type": "protocol_error", "code": "stream_failed", "message": "broken"}], Unavailable, "broken"),
        ([batch(0)], ConnectFailed, "did not acknowledge"),
        ([{"type": "novelty"}], ConnectFailed, "not a message"),
        ([], RunGone, "left before the subscription began"),
    ],
)
def test_a_subscription_that_does_not_begin_says_why(scripted, answers, error, told) -> None:
    server = scripted(lambda _: answers)
    with pytest.raises(error, match=told):
        Subscription(server.connection)


def test_a_socket_that_is_missing_or_dead_means_that_the_run_is_gone(tmp_path: Path) -> None:
    with pytest.raises(RunGone, match="nothing listens"):
        connect(str(tmp_path / "none.sock"))
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(tmp_path / "dead.sock"))
    with pytest.raises(RunGone, match="nothing listens"):
        connect(str(tmp_path / "dead.sock"))


def test_a_socket_in_a_runtime_folder_that_others_may_enter_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "hopline").mkdir(mode=0o755)
    (tmp_path / "hopline").chmod(0o755)
    with pytest.raises(ConnectDenied, match="chmod 700"):
        connect(str(tmp_path / "hopline" / "runs" / "x" / "control.sock"))


def test_a_connection_to_a_listening_socket_works_both_ways(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "live.sock"))
        listener.listen()
        with connect(str(tmp_path / "live.sock")) as connection:
            connection.send(QuerySnapshot())
            accepted, _ = listener.accept()
            with accepted:
                assert b"query.snapshot" in accepted.recv(4096)
