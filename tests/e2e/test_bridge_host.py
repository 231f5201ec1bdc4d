"""`hopline host`: one channel lists, attaches, and is silent about what it refuses."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bridge_rig import HOPLINE, Bridge, FarServer, Rig, receive

from hopline.ids import RunId
from hopline.records import RunRecord, hold_lock, run_folder, write_record

LIVE, ENDED, KILLED, BROKEN = "0a0a0a0a0a0a", "0b0b0b0b0b0b", "0c0c0c0c0c0c", "0d0d0d0d0d0d"


@pytest.fixture
def rig(private_place: Path) -> Iterator[Rig]:
    made = Rig(private_place)
    yield made
    made.close()


@pytest.fixture
def far(rig: Rig) -> Iterator[FarServer]:
    """Four runs: a live one served by the test, an ended one, one whose server was killed, and one not readable."""
    server = rig.listen()
    for hour, run_id in enumerate((ENDED, LIVE, KILLED)):
        run_folder(run_id).mkdir(parents=True)
        record = RunRecord(
            id=RunId(run_id),
            run_id=run_id,
            name=f"run {hour}",
            status="completed" if run_id == ENDED else "running",
            pid=os.getpid(),
            socket_path=server.path if run_id == LIVE else str(rig.place / "nothing"),
            started_at=f"2026-01-01T0{hour}:00:00Z",
            ended_at="2026-01-01T09:00:00Z" if run_id == ENDED else None,
            command=["true"],
            cwd="/",
            journal=str(run_folder(run_id) / "journal"),
        )
        write_record(record)
    run_folder(BROKEN).mkdir()
    (run_folder(BROKEN) / "record.json").write_text("{")
    lock = hold_lock(LIVE)
    yield server
    os.close(lock)


@pytest.fixture
def host(rig: Rig) -> Bridge:
    return rig.start([HOPLINE, "host"])


def ask(host: Bridge, **request: Any) -> dict[str, Any]:
    host.send(json.dumps(request).encode() + b"\n")
    return answer(host)


def answer(host: Bridge) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(host.read_line())
    return found


def test_one_channel_lists_and_then_attaches(far: FarServer, host: Bridge) -> None:
    listed = ask(host, type="instances.list", request_id="1", client_id="me")
    assert (listed["ok"], listed["request_id"], listed["client_id"]) == (True, "1", "me")
    assert [run["id"] for run in listed["instances"]["instances"]] == [LIVE]
    logs = ask(host, type="logs.list", request_id="2", run_id=LIVE)
    assert [stream["owner"]["kind"] for stream in logs["logs"]["streams"]] == ["run"]
    connected = ask(host, type="run.connect", request_id="3", instance_id=LIVE)
    assert connected == {
        "protocol_version": 1,
        "request_id": "3",
        "client_id": "",
        "ok": True,
        "connected": {"instance_id": LIVE, "socket_path": far.path},
    }
    connection = far.accept()
    host.send(b'{"type":"instances.list"}\n')
    assert receive(connection, 26) == b'{"type":"instances.list"}\n'
    connection.sendall(b"\xff not parsed\n")
    assert host.read(13) == b"\xff not parsed\n"
    connection.close()
    assert host.outcome() == (3, "server_closed")


def test_bytes_behind_the_connecting_line_belong_to_the_server(far: FarServer, host: Bridge) -> None:
    """WB-FIRST-LINE: also when they came in the same read, and whatever they are."""
    line = b'{"type":"run.connect","request_id":"r","socket_path":"%s"}\n' % far.path.encode()
    follows = b'{"type":"subscribe"}\n\xff\x00half a li'
    host.send(line + follows)
    connection = far.accept()
    assert receive(connection, len(follows)) == follows
    host.send(b"ne\n")
    assert receive(connection, 3) == b"ne\n"
    assert answer(host)["connected"] == {"instance_id": None, "socket_path": far.path}
    host.end_stdin()
    assert connection.recv(1) == b""
    assert host.outcome() == (0, None)


def test_the_connecting_line_comes_before_anything_the_server_says(far: FarServer, host: Bridge) -> None:
    host.send(b'{"type":"run.connect","socket_path":"%s"}\n' % far.path.encode())
    far.accept().sendall(b"an eager server\n")
    assert answer(host)["ok"] is True
    assert host.read(16) == b"an eager server\n"


def test_requests_that_come_in_pieces_or_together_are_answered_in_order(far: FarServer, host: Bridge) -> None:
    line = b'{"type":"instances.list","request_id":"%d"}\n'
    for byte in line % 0:
        host.send(bytes([byte]))
    host.send(line % 1 + line % 2 + b'{"type":"insta')
    assert [answer(host)["request_id"] for _ in range(3)] == ["0", "1", "2"]
    host.send(b'nces.list","request_id":"3"}\n')
    assert answer(host)["request_id"] == "3"
    host.end_stdin()
    assert host.outcome() == (0, None)


def test_a_listing_is_the_one_of_ls_with_what_cannot_be_judged_beside_it(far: FarServer, host: Bridge) -> None:
    every = ask(host, type="instances.list", all=True)["instances"]
    assert [(run["id"], run["status"]) for run in every["instances"]] == [
        (ENDED, "completed"),
        (LIVE, "running"),
        (KILLED, "interrupted"),
    ]
    assert every["unverified"] == [BROKEN]
    shown = subprocess.run([HOPLINE, "ls", "--all", "--json"], capture_output=True, timeout=10, check=True)
    assert json.loads(shown.stdout) == every


def test_log_streams_are_filtered_by_their_owner_s_span(far: FarServer, host: Bridge) -> None:
    segments = run_folder(ENDED) / "journal" / "segments"
    segments.mkdir(parents=True)
    (segments / "1.jsonl").write_bytes(b"x" * 123)
    assert ask(host, type="logs.list", run_id=ENDED)["logs"] == {
        "run_id": ENDED,
        "streams": [
            {
                "log_id": "output",
                "owner": {"kind": "run", "span_id": None},
                "title": "run 0",
                "size_bytes": 123,
                "complete": True,
                "started_at": "2026-01-01T00:00:00Z",
                "ended_at": "2026-01-01T09:00:00Z",
            }
        ],
        "next_cursor": None,
    }
    assert ask(host, type="logs.list", run_id=ENDED, span_id="flow:a#1")["logs"]["streams"] == []
    assert ask(host, type="logs.list", run_id=LIVE)["logs"]["streams"][0]["complete"] is False


@pytest.mark.parametrize(
    ("request_line", "code"),
    [
        ({"type": "logs.list", "run_id": "../../etc"}, "not_found"),
        ({"type": "logs.list", "run_id": BROKEN}, "not_found"),
        ({"type": "logs.list", "run_id": LIVE, "cursor": "stale"}, "invalid_value"),
    ],
)
def test_a_listing_that_cannot_be_made_is_an_answer_and_the_channel_goes_on(
    far: FarServer, host: Bridge, request_line: dict[str, Any], code: str
) -> None:
    failed = ask(host, **request_line)
    assert failed["ok"] is False
    assert failed["diagnostic"]["code"] == code
    assert failed["error"] == failed["diagnostic"]["summary"]
    assert failed["logs"] is None
    assert ask(host, type="instances.list")["ok"] is True


def test_a_runs_folder_that_cannot_be_read_is_an_answer(rig: Rig, host: Bridge) -> None:
    (rig.place / "home").write_text("")
    assert ask(host, type="instances.list")["diagnostic"]["code"] == "operation_failed"


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"not JSON\n",
        b'{"type":"run.connect"}\n',
        b'{"type":"subscribe"}\n',
        b'{"type":"instances.list","surprise":1}\n',
        b'{"type":"run.connect","instance_id":"../../x"}\n',
        b'{"type":"instances.list"}',
        b" " * (1 << 20) + b" \n",
        b"x" * (3 << 20),
    ],
    ids=["empty", "not JSON", "nobody", "the run's", "unknown key", "no id", "no newline", "long", "endless"],
)
def test_a_line_that_is_refused_is_status_2_and_nothing_on_stdout(far: FarServer, host: Bridge, line: bytes) -> None:
    """WB-REFUSED-LINE."""
    try:
        host.send(line)
        host.end_stdin()
    except BrokenPipeError:
        assert len(line) > 1 << 20
    assert host.read(1) == b""
    assert host.outcome() == (2, "usage_error")


def test_a_line_of_just_the_bound_is_read(far: FarServer, host: Bridge) -> None:
    request = b'{"type":"instances.list"}'
    host.send(request + b" " * ((1 << 20) - len(request)) + b"\n")
    assert answer(host)["ok"] is True


def test_a_run_that_is_not_there_says_nothing_on_stdout(far: FarServer, host: Bridge) -> None:
    host.send(b'{"type":"run.connect","instance_id":"ffffffffffff"}\n')
    assert host.read(1) == b""
    assert host.outcome() == (4, "run_gone")


def test_a_socket_path_is_never_started(far: FarServer, host: Bridge, rig: Rig) -> None:
    host.send(b'{"type":"run.connect","socket_path":"%s"}\n' % str(rig.place / "nothing").encode())
    assert host.read(1) == b""
    assert host.outcome() == (4, "run_gone")


def test_a_run_that_has_ended_is_reopened_by_its_id(host: Bridge) -> None:
    subprocess.run(
        [HOPLINE, "run", "--", "/bin/true"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=True
    )
    (run,) = ask(host, type="instances.list", all=True)["instances"]["instances"]
    assert ask(host, type="run.connect", instance_id=run["id"])["connected"]["instance_id"] == run["id"]
    assert ask(host, type="query.snapshot", request_id="q")["snapshot"]["status"] == "completed"
    host.end_stdin()
    assert host.outcome() == (0, None)


def test_stdin_that_ends_before_any_request_is_a_client_that_left(host: Bridge) -> None:
    host.end_stdin()
    assert host.outcome() == (0, None)


def test_stdout_that_is_closed_before_an_answer_is_a_client_that_left(host: Bridge) -> None:
    assert host.process.stdout is not None
    host.process.stdout.close()
    host.send(b'{"type":"instances.list"}\n')
    assert host.outcome() == (0, None)


def test_an_answer_that_nobody_takes_is_a_stalled_client(far: FarServer, rig: Rig) -> None:
    program = """
import sys
from hopline.cli.bridge import host
from hopline.serve.bridge import BridgeLimits
sys.exit(host([], BridgeLimits(write_deadline_seconds=0.3)))
"""
    out_read, out_write = os.pipe()
    os.set_blocking(out_write, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(out_write, b"x" * 4096)
    host = rig.start([sys.executable, "-c", program], stdout=out_write)
    host.send(b'{"type":"instances.list"}\n')
    assert host.outcome() == (8, "client_stalled")
    os.close(out_read)
    os.close(out_write)


def test_the_host_program_takes_no_arguments() -> None:
    found = subprocess.run([HOPLINE, "host", "x"], capture_output=True, timeout=10, check=False)
    assert (found.returncode, found.stdout) == (2, b"")
