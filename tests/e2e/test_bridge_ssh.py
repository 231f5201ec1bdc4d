"""The bridge behind a real sshd on loopback: copying, every exit status by its cause, and clients that vanish."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bridge_rig import AS_NOBODY, HOPLINE, OVER_UDP, WITH_LIMITS, FarServer, Rig, receive
from loopback_sshd import LoopbackSshd

PROTOCOL_ERROR = b'{"type":"protocol_error","code":"stream_failed","message":"no"}\n'
SHORT = '{"write_deadline_seconds":0.5,"connect_timeout_seconds":0.3,"read_deadline_seconds":%s}'


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackSshd]:
    made = LoopbackSshd(tmp_path_factory.mktemp("sshd"))
    yield made
    made.close()


@pytest.fixture
def rig(private_place: Path) -> Iterator[Rig]:
    made = Rig(private_place)
    yield made
    made.close()


@pytest.fixture
def far(rig: Rig) -> FarServer:
    return rig.listen()


def hurried(path: str, read_seconds: float = 60) -> list[str]:
    """The bridge under short bounds."""
    return [sys.executable, "-c", WITH_LIMITS, path, SHORT % read_seconds]


def here(*command: str) -> list[str]:
    """`command` with this test's places, which sshd does not pass on."""
    names = ("HOPLINE_HOME", "XDG_RUNTIME_DIR", "HOPLINE_CONFIG")
    return ["env", *(f"{name}={os.environ[name]}" for name in names), *command]


def test_bytes_pass_both_ways_and_the_end_of_stdin_is_an_ordinary_end(
    sshd: LoopbackSshd, rig: Rig, far: FarServer
) -> None:
    data = os.urandom(300_000)
    bridge = rig.start([*sshd.ssh, "127.0.0.1", "hopline", "bridge", "--socket", far.path])
    connection = far.accept()
    bridge.send(data)
    assert receive(connection, len(data)) == data
    connection.sendall(data[::-1])
    assert bridge.read(len(data)) == data[::-1]
    bridge.end_stdin()
    assert connection.recv(1) == b""
    assert bridge.outcome() == (0, None)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_an_ssh_client_that_is_killed_is_an_ordinary_end_for_the_server(
    sshd: LoopbackSshd, rig: Rig, far: FarServer, number: signal.Signals
) -> None:
    bridge = rig.start(sshd.command([HOPLINE, "bridge", "--socket", far.path]))
    connection = far.accept()
    bridge.send(b"a last command\n")
    assert receive(connection, 15) == b"a last command\n"
    bridge.process.send_signal(number)
    assert connection.recv(1) == b""


def test_an_ssh_client_that_sleeps_pins_the_server_no_longer_than_the_write_deadline(
    sshd: LoopbackSshd, rig: Rig, far: FarServer
) -> None:
    bridge = rig.start(sshd.command(hurried(far.path)))
    connection = far.accept()
    connection.sendall(b"live\n")
    assert bridge.read(5) == b"live\n"
    bridge.process.send_signal(signal.SIGSTOP)
    with pytest.raises(BrokenPipeError):
        while True:
            connection.sendall(bytes(1 << 20))
    assert connection.recv(1) == b""


def test_0_stdin_ends(sshd: LoopbackSshd, rig: Rig, far: FarServer) -> None:
    bridge = rig.start(sshd.command([HOPLINE, "bridge", "--socket", far.path]))
    bridge.end_stdin()
    assert bridge.outcome() == (0, None)


def test_3_the_server_closes_and_its_last_protocol_error_arrives(sshd: LoopbackSshd, rig: Rig, far: FarServer) -> None:
    bridge = rig.start(sshd.command([HOPLINE, "bridge", "--socket", far.path]))
    connection = far.accept()
    connection.sendall(PROTOCOL_ERROR)
    connection.close()
    assert bridge.read(1000) == PROTOCOL_ERROR
    assert bridge.outcome() == (3, "server_closed")


def test_4_the_socket_was_removed(sshd: LoopbackSshd, rig: Rig, far: FarServer) -> None:
    Path(far.path).unlink()
    assert rig.start(sshd.command([HOPLINE, "bridge", "--socket", far.path])).outcome() == (4, "run_gone")
    assert rig.start(sshd.command(here(HOPLINE, "bridge", "nosuch"))).outcome() == (4, "run_gone")


def test_5_the_socket_is_somebody_else_s(sshd: LoopbackSshd, rig: Rig, far: FarServer) -> None:
    rig.place.chmod(0o755)
    Path(far.path).chmod(0o600 if os.getuid() == 0 else 0)
    bridge = rig.start(sshd.command([sys.executable, "-c", AS_NOBODY, far.path]))
    assert bridge.outcome() == (5, "connect_denied")


def test_6_the_server_accepts_nobody_in_time(sshd: LoopbackSshd, rig: Rig) -> None:
    far = rig.listen("full", backlog=0)
    rig.dial(far.path)
    assert rig.start(sshd.command(hurried(far.path))).outcome() == (6, "connect_failed")


def test_7_the_server_takes_nothing(sshd: LoopbackSshd, rig: Rig, far: FarServer) -> None:
    bridge = rig.start(sshd.command(hurried(far.path)))
    far.accept()
    with contextlib.suppress(BrokenPipeError):
        bridge.send(bytes(1 << 20))
    assert bridge.outcome() == (7, "server_stalled")


def test_8_the_client_takes_nothing(sshd: LoopbackSshd, rig: Rig, far: FarServer) -> None:
    bridge = rig.start(sshd.command(hurried(far.path)))
    connection = far.accept()
    with pytest.raises(BrokenPipeError):
        while True:
            connection.sendall(bytes(1 << 20))
    while bridge.read(1 << 20):
        pass
    assert bridge.outcome() == (8, "client_stalled")


def test_9_the_socket_fails(sshd: LoopbackSshd, rig: Rig) -> None:
    bridge = rig.start(sshd.command([sys.executable, "-c", OVER_UDP]))
    bridge.send(b"x")
    assert bridge.outcome() == (9, "server_failed")


def test_10_stdout_fails(sshd: LoopbackSshd, rig: Rig, far: FarServer) -> None:
    bridge = rig.start(sshd.command([HOPLINE, "bridge", "--socket", far.path], "> /dev/full"))
    far.accept().sendall(b"x")
    assert bridge.outcome() == (10, "client_failed")


def test_11_the_server_says_nothing(sshd: LoopbackSshd, rig: Rig, far: FarServer) -> None:
    bridge = rig.start(sshd.command(hurried(far.path, read_seconds=0.3)))
    assert far.accept().recv(1) == b""
    assert bridge.outcome() == (11, "server_unresponsive")


def test_one_channel_of_the_host_program_lists_a_run_and_attaches_to_it(sshd: LoopbackSshd, rig: Rig) -> None:
    started = subprocess.run(
        [HOPLINE, "run", "--detach", "--", "/bin/cat"], capture_output=True, timeout=20, check=True
    )
    run_id = json.loads(started.stdout)["id"]
    host = rig.start(sshd.command(here("hopline", "host")))
    host.send(b'{"type":"instances.list","request_id":"1"}\n')
    assert [run["id"] for run in json.loads(host.read_line())["instances"]["instances"]] == [run_id]
    host.send(b'{"type":"run.connect","instance_id":"%s"}\n{"type":"subscribe"}\n' % run_id.encode())
    assert json.loads(host.read_line())["connected"]["instance_id"] == run_id
    assert json.loads(host.read_line())["type"] == "subscribed"
    assert json.loads(host.read_line())["type"] == "event_batch"
    host.end_stdin()
    assert host.outcome() == (0, None)
