"""`hopline bridge RUN`: whom it means, who may serve it, and what happens when the run has ended."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bridge_rig import HOPLINE, FarServer, Rig, receive

from hopline.ids import RunId
from hopline.records import RunRecord, hold_lock, run_folder, write_record

RUN = "0a0a0a0a0a0a"


@pytest.fixture
def rig(private_place: Path) -> Iterator[Rig]:
    made = Rig(private_place)
    yield made
    made.close()


def record_of(run_id: str, path: str, **fields: Any) -> RunRecord:
    """A run as its server would have recorded it."""
    run_folder(run_id).mkdir(parents=True, exist_ok=True)
    known = {
        "name": "fake",
        "status": "running",
        "pid": os.getpid(),
        "started_at": "2026-01-01T00:00:00Z",
        "command": ["true"],
        "cwd": "/",
        "journal": str(run_folder(run_id) / "journal"),
    }
    record = RunRecord(id=RunId(run_id), run_id=run_id, socket_path=path, **(known | fields))
    write_record(record)
    return record


@pytest.fixture
def live(rig: Rig) -> Iterator[FarServer]:
    """A live run `fake`, served by the test."""
    far = rig.listen()
    record_of(RUN, far.path)
    lock = hold_lock(RUN)
    yield far
    os.close(lock)


@pytest.mark.parametrize("named", [RUN, "0a0a", "fake", "@last"])
def test_a_run_is_named_by_id_prefix_name_or_last(rig: Rig, live: FarServer, named: str) -> None:
    bridge = rig.start([HOPLINE, "bridge", named])
    connection = live.accept()
    bridge.send(b"a request\n")
    assert receive(connection, 10) == b"a request\n"
    connection.sendall(b"a reply\n")
    assert bridge.read(8) == b"a reply\n"
    bridge.end_stdin()
    assert bridge.outcome() == (0, None)


def test_an_unknown_run_is_gone_and_says_so_in_one_line(rig: Rig) -> None:
    status, said = rig.start([HOPLINE, "bridge", "nosuch"]).ended()
    assert said is not None
    assert (status, said["outcome"]) == (4, "run_gone")
    assert "nosuch" in said["detail"]


def test_a_beginning_of_several_ids_is_a_usage_error(rig: Rig, live: FarServer) -> None:
    record_of("0a0a0a0a0a0b", live.path)
    assert rig.start([HOPLINE, "bridge", "0a0a"]).outcome() == (2, "usage_error")


def test_a_record_that_cannot_be_read_is_no_connection(rig: Rig, live: FarServer) -> None:
    (run_folder(RUN) / "record.json").write_text("{")
    assert rig.start([HOPLINE, "bridge", RUN]).outcome() == (6, "connect_failed")


def test_a_server_that_lives_and_does_not_listen_yet_is_waited_for(rig: Rig) -> None:
    record_of(RUN, str(rig.place / "late"))
    lock = hold_lock(RUN)
    bridge = rig.start([HOPLINE, "bridge", RUN])
    far = rig.listen("late")
    far.accept().sendall(b"at last\n")
    assert bridge.read(8) == b"at last\n"
    bridge.end_stdin()
    assert bridge.outcome() == (0, None)
    os.close(lock)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")
def test_a_run_that_another_user_serves_is_denied(rig: Rig) -> None:
    """WB-OWN-SERVER: whoever took the socket's place learns nothing."""
    impostor = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
os.chdir(sys.argv[1]); os.setgid(65534); os.setuid(65534)
listener.bind("taken"); os.chmod("taken", 0o777); listener.listen(); print("up", flush=True)
connection, _ = listener.accept()
print(connection.recv(1000), flush=True)
"""
    rig.place.chmod(0o777)
    record_of(RUN, str(rig.place / "taken"))
    lock = hold_lock(RUN)
    with subprocess.Popen([sys.executable, "-c", impostor, str(rig.place)], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"up\n"
        assert rig.start([HOPLINE, "bridge", RUN]).outcome() == (5, "connect_denied")
        assert server.stdout.readline() == b"b''\n"
    os.close(lock)


@pytest.mark.parametrize("form", ["RUN", "--socket"])
@pytest.mark.parametrize("flaw", ["open to others", "a link"])
def test_a_runtime_folder_that_is_not_private_is_denied(rig: Rig, form: str, flaw: str) -> None:
    runtime = rig.place / "run" / "hopline"
    if flaw == "a link":
        (rig.place / "elsewhere").mkdir(mode=0o700)
        runtime.symlink_to(rig.place / "elsewhere")
    else:
        runtime.mkdir(mode=0o755)
    far = rig.listen("run/hopline/s")
    record_of(RUN, far.path)
    lock = hold_lock(RUN)
    named = [RUN] if form == "RUN" else ["--socket", far.path]
    assert rig.start([HOPLINE, "bridge", *named]).outcome() == (5, "connect_denied")
    os.close(lock)


def test_a_run_that_has_ended_is_reopened_by_name_and_never_by_socket(rig: Rig) -> None:
    """WB-STARTS-NOTHING holds for a socket path only."""
    done = subprocess.run(
        [HOPLINE, "run", "--name", "done", "--", "/bin/sh", "-c", "echo hello"],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=20,
        check=True,
    )
    assert b"hello" in done.stdout
    listed = subprocess.run([HOPLINE, "ls", "--all", "--json"], capture_output=True, timeout=10, check=True)
    (record,) = json.loads(listed.stdout)["instances"]
    assert rig.bridge(record["socket_path"]).outcome() == (4, "run_gone")

    bridge = rig.start([HOPLINE, "bridge", "done"])
    bridge.send(b'{"type":"query.events","request_id":"r"}\n')
    answered = json.loads(bridge.read_line())
    assert (answered["request_id"], answered["ok"]) == ("r", True)
    assert answered["events"][-1]["type"] == "run_finished"
    bridge.send(b'{"type":"command.stop","request_id":"s"}\n')
    assert json.loads(bridge.read_line())["diagnostic"]["code"] == "run_read_only"
    bridge.end_stdin()
    assert bridge.outcome() == (0, None)


def test_a_live_run_answers_through_the_bridge_and_closes_it_when_it_ends(rig: Rig) -> None:
    started = subprocess.run(
        [HOPLINE, "run", "--detach", "--", "/bin/cat"], capture_output=True, timeout=20, check=True
    )
    run_id = json.loads(started.stdout)["id"]
    stream = rig.start([HOPLINE, "bridge", run_id])
    stream.send(b'{"type":"subscribe"}\n')
    control = rig.start([HOPLINE, "bridge", run_id])
    control.send(b'{"type":"command.input","text":"through the bridge\\n"}\n')
    seen = b""
    while b"through the bridge" not in seen:
        seen += stream.read(1)
    control.send(b'{"type":"command.stop"}\n')
    while b"run_interrupted" not in seen:
        seen += stream.read(1)
    assert stream.ended()[0] == 3
    assert control.ended()[0] == 3


def test_the_bridge_starts_without_the_parser_and_without_asyncio(rig: Rig) -> None:
    listing = f"""
import sys
from hopline.cli.bridge import bridge
bridge(["--socket", {str(rig.place / "nothing")!r}])
print(*sorted(sys.modules))
"""
    found = subprocess.run([sys.executable, "-c", listing], capture_output=True, timeout=10, check=True, text=True)
    heavy = {"asyncio", "click", "msgspec", "threading", "logging", "psutil", "hopline.wire", "subprocess"}
    assert heavy & set(found.stdout.split()) == set()
