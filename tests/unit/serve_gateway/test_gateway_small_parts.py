"""The waiting room, the listing's rows, and whose socket a connection is."""

import os
import socket

import msgspec

from hopline.ids import RunId
from hopline.records import RunRecord
from hopline.roster import Row
from hopline.serve.gateway.limits import WebSocketLimits
from hopline.serve.gateway.peers import owner_of
from hopline.serve.gateway.rows import changes, row_of
from hopline.serve.gateway.waiting_room import WaitingRoom

RECORD = RunRecord(
    id=RunId("0123456789ab"),
    run_id="0123456789ab",
    name="n",
    status="running",
    pid=1,
    socket_path="/s",
    started_at="2026-01-01T00:00:00.000Z",
    command=["true"],
    cwd="/",
    journal="/j",
    waiting="no room",
)


def test_one_connection_too_many_ends_the_oldest() -> None:
    room, ended = WaitingRoom(2), []
    for name in ("a", "b", "c"):
        room.enter(name, lambda name=name: ended.append(name))  # type: ignore[misc]  # bound now
    assert ended == ["a"]
    assert len(room) == 2
    room.leave("b")
    room.leave("b")
    room.enter("d", lambda: ended.append("d"))
    assert ended == ["a"]


def test_the_longest_silence_is_that_of_the_contract() -> None:
    limits = WebSocketLimits()
    assert limits.silence_seconds == 80
    assert (limits.send_buffer_bytes, limits.receive_queue, limits.close_timeout_seconds) == (32768, (32, 8), 10)
    assert limits.receive_frame_bytes == limits.send_frame_bytes == 1048576


def test_a_run_whose_server_is_gone_is_interrupted_and_waits_for_nothing() -> None:
    record = msgspec.structs.replace(RECORD, descendants="remaining", survivors=2)
    row = row_of(Row(record, live=False, size=5, rates=(1,)))
    assert (row.status, row.waiting, row.rates) == ("interrupted", None, [])
    assert (row.descendants, row.survivors) == ("remaining", 2)
    live = row_of(Row(record, live=True, size=5, rates=(1,)))
    assert (live.status, live.waiting, live.rates) == ("running", "no room", [1])
    assert (live.descendants, live.survivors) == (None, 0)


def test_only_what_differs_is_told() -> None:
    one = row_of(Row(RECORD, live=True, size=5, rates=(1,)))
    two = msgspec.structs.replace(one, bytes=6)
    assert changes({}, {"a": one}) == ([one], [])
    assert changes({"a": one}, {"a": one}) == ([], [])
    assert changes({"a": one, "b": one}, {"a": two}) == ([two], ["b"])


def test_the_owner_of_a_connected_socket_is_known() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert owner_of(accepted.getsockname(), accepted.getpeername()) == os.getuid()


def test_the_owner_of_a_socket_that_is_not_there_is_unknown() -> None:
    assert owner_of(("127.0.0.1", 1), ("127.0.0.1", 2)) is None
