"""Every exit status of a bridge, produced by its real cause on a real socket (WB-ONE-STATUS)."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bridge_rig import AS_NOBODY, HOPLINE, OVER_UDP, FarServer, Rig, receive

from hopline.serve.bridge import BridgeLimits

FLOOD = bytes(4 << 20)
PROTOCOL_ERROR = b'{"type":"protocol_error","code":"stream_failed","message":"no"}\n'


@pytest.fixture
def rig(private_place: Path) -> Iterator[Rig]:
    made = Rig(private_place)
    yield made
    made.close()


@pytest.fixture
def far(rig: Rig) -> FarServer:
    return rig.listen()


def test_0_the_end_of_stdin_is_an_ordinary_end_of_stream_for_the_server(rig: Rig, far: FarServer) -> None:
    """WB-CLIENT-END: no reset, although a reply was under way and nobody had read it."""
    bridge = rig.bridge(far.path)
    connection = far.accept()
    bridge.send(b"a request\n")
    assert receive(connection, 10) == b"a request\n"
    connection.setblocking(False)
    with pytest.raises(BlockingIOError):
        while True:
            connection.send(FLOOD)
    connection.settimeout(10)
    bridge.end_stdin()
    assert connection.recv(1) == b""
    assert bridge.outcome() == (0, None)


def test_0_a_request_written_just_before_the_end_of_stdin_arrives(rig: Rig, far: FarServer) -> None:
    bridge = rig.bridge(far.path)
    bridge.send(b"a request\n")
    bridge.end_stdin()
    assert receive(far.accept(), 100) == b"a request\n"
    assert bridge.outcome() == (0, None)


@pytest.mark.parametrize("idle", [True, False])
def test_0_a_closed_stdout_is_noticed_while_nothing_is_written_and_while_something_is(
    rig: Rig, far: FarServer, idle: bool
) -> None:
    bridge = rig.bridge(far.path)
    connection = far.accept()
    assert bridge.process.stdout is not None
    bridge.process.stdout.close()
    if not idle:
        connection.sendall(b"x" * 1000)
    assert connection.recv(1) == b""
    assert bridge.outcome() == (0, None)


@pytest.mark.parametrize("descriptor", [0, 1])
def test_0_a_standard_descriptor_closed_from_the_start_is_a_client_that_left(
    rig: Rig, far: FarServer, descriptor: int
) -> None:
    close = "<&-" if descriptor == 0 else ">&-"
    command = f'exec "$0" bridge --socket "$1" {close}'
    bridge = rig.start(["/bin/sh", "-c", command, HOPLINE, far.path])
    assert bridge.outcome() == (0, None)


def test_2_no_run_and_no_socket_is_a_usage_error() -> None:
    for arguments in ([], ["--socket"], ["--nonsense"], ["a", "b"], ["a", "--socket", "b"], [""]):
        found = subprocess.run([HOPLINE, "bridge", *arguments], capture_output=True, timeout=10, check=False)
        assert (found.returncode, found.stdout) == (2, b"")
        assert found.stderr.startswith(b"hopline: ")


def test_1_an_uncaught_error_stays_status_1(rig: Rig, far: FarServer) -> None:
    broken = "import sys; from hopline.cli.bridge import bridge_socket; sys.exit(bridge_socket(sys.argv[1], None))"
    found = subprocess.run([sys.executable, "-c", broken, far.path], capture_output=True, timeout=10, check=False)
    assert found.returncode == 1
    assert b"Traceback" in found.stderr


@pytest.mark.parametrize("last", [b"", PROTOCOL_ERROR, b"x" * 3_000_000])
def test_3_everything_the_server_sent_before_its_close_is_relayed_first(rig: Rig, far: FarServer, last: bytes) -> None:
    bridge = rig.bridge(far.path)
    connection = far.accept()
    connection.settimeout(None)
    pid = os.fork()
    if pid == 0:
        connection.sendall(last)
        os._exit(0)
    connection.close()
    assert bridge.read(len(last) + 1) == last
    os.waitpid(pid, 0)
    assert bridge.outcome() == (3, "server_closed")


def test_3_a_server_that_closes_with_requests_unread_resets_the_connection_and_that_is_a_close(
    rig: Rig, far: FarServer
) -> None:
    bridge = rig.bridge(far.path)
    connection = far.accept()
    bridge.send(b"never read\n")
    assert connection.recv(5, socket.MSG_PEEK)
    connection.sendall(PROTOCOL_ERROR)
    connection.close()
    assert bridge.read(1000) == PROTOCOL_ERROR
    assert bridge.outcome() == (3, "server_closed")


def test_3_a_failed_write_does_not_end_it_and_the_last_protocol_error_is_relayed(rig: Rig, far: FarServer) -> None:
    """WB-LAST-WORDS: the server reads no more, fails every write, says why, and only then closes."""
    bridge = rig.bridge(far.path)
    connection = far.accept()
    connection.shutdown(socket.SHUT_RD)
    bridge.send(b"x" * 1_000_000)
    connection.sendall(PROTOCOL_ERROR)
    assert bridge.read(len(PROTOCOL_ERROR)) == PROTOCOL_ERROR
    bridge.send(b"still read, and dropped" * 10_000)
    connection.sendall(b"and more\n")
    connection.close()
    assert bridge.read(1000) == b"and more\n"
    assert bridge.outcome() == (3, "server_closed")


def test_3_a_server_that_only_stops_writing_has_closed(rig: Rig, far: FarServer) -> None:
    bridge = rig.bridge(far.path)
    connection = far.accept()
    connection.sendall(b"last words\n")
    connection.shutdown(socket.SHUT_WR)
    assert bridge.read(1000) == b"last words\n"
    assert bridge.outcome() == (3, "server_closed")
    assert connection.recv(1) == b""


@pytest.mark.parametrize("cause", ["no file", "no folder", "not a folder", "nobody listens", "not a socket"])
def test_4_a_run_that_is_not_there_is_gone(rig: Rig, far: FarServer, cause: str) -> None:
    plain = rig.place / "plain"
    plain.write_text("")
    path = {
        "no file": rig.place / "nothing",
        "no folder": rig.place / "nothing" / "s",
        "not a folder": plain / "s",
        "nobody listens": Path(far.path),
        "not a socket": plain,
    }[cause]
    far.close()
    assert rig.bridge(path).outcome() == (4, "run_gone")


def test_5_a_socket_that_this_user_may_not_connect_to_is_denied(rig: Rig, far: FarServer) -> None:
    Path(far.path).chmod(0o600 if os.getuid() == 0 else 0)
    Path(far.path).parent.chmod(0o755)
    bridge = rig.start([sys.executable, "-c", AS_NOBODY, far.path])
    assert bridge.outcome() == (5, "connect_denied")


def test_6_a_full_backlog_is_waited_for_until_the_connect_timeout(rig: Rig) -> None:
    far = rig.listen("full", backlog=0)
    rig.dial(far.path)
    bridge = rig.bridge(far.path, BridgeLimits(connect_timeout_seconds=0.3))
    status, said = bridge.ended()
    assert said is not None
    assert (status, said["outcome"]) == (6, "connect_failed")
    assert "did not answer within 0.3 s" in said["detail"]


def test_a_full_backlog_that_clears_in_time_is_no_failure(rig: Rig) -> None:
    far = rig.listen("full", backlog=0)
    rig.dial(far.path)
    bridge = rig.bridge(far.path)
    far.accept().close()
    connection = far.accept()
    bridge.send(b"x")
    assert connection.recv(1) == b"x"
    connection.close()
    assert bridge.outcome() == (3, "server_closed")


@pytest.mark.parametrize("cause", ["a datagram socket", "too long"])
def test_6_another_failure_to_connect_is_told(rig: Rig, cause: str) -> None:
    path = rig.place / ("d" if cause == "a datagram socket" else "d" * 120)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind(str(rig.place / "d"))
        assert rig.bridge(path).outcome() == (6, "connect_failed")


def test_7_a_stopped_server_is_stalled(rig: Rig) -> None:
    serve = """
import os, signal, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1]); listener.listen(); print("up", flush=True)
connection, _ = listener.accept()
connection.sendall(b"hello")
os.kill(os.getpid(), signal.SIGSTOP)
"""
    path = rig.place / "stopped"
    with subprocess.Popen([sys.executable, "-c", serve, str(path)], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        bridge = rig.bridge(path, BridgeLimits(write_deadline_seconds=0.3))
        assert bridge.read(5) == b"hello"
        os.waitid(os.P_PID, server.pid, os.WSTOPPED | os.WNOWAIT)
        with contextlib.suppress(BrokenPipeError):  # it has ended, which is the point
            bridge.send(FLOOD)
        assert bridge.outcome() == (7, "server_stalled")
        server.send_signal(signal.SIGKILL)


def test_8_a_client_that_reads_nothing_is_stalled_and_the_server_sees_an_ordinary_end(rig: Rig, far: FarServer) -> None:
    bridge = rig.bridge(far.path, BridgeLimits(write_deadline_seconds=0.3))
    connection = far.accept()
    with pytest.raises(BrokenPipeError):
        connection.sendall(FLOOD)
    assert connection.recv(1) == b""
    assert bridge.outcome() == (8, "client_stalled")


def test_8_a_stalled_client_is_told_also_when_stderr_is_the_very_pipe_that_stalled(rig: Rig, far: FarServer) -> None:
    bridge = rig.bridge(far.path, BridgeLimits(write_deadline_seconds=0.3), stderr=subprocess.STDOUT)
    with pytest.raises(BrokenPipeError):
        far.accept().sendall(FLOOD)
    assert bridge.process.wait(10) == 8


def test_9_a_socket_error_other_than_a_close_is_told(rig: Rig) -> None:
    bridge = rig.start([sys.executable, "-c", OVER_UDP])
    bridge.send(b"x")
    assert bridge.outcome() == (9, "server_failed")


def test_10_a_full_disk_under_stdout_is_the_client_failing(rig: Rig, far: FarServer) -> None:
    with Path("/dev/full").open("wb") as full:
        bridge = rig.bridge(far.path, stdout=full)
    connection = far.accept()
    connection.sendall(b"x")
    assert connection.recv(1) == b""
    status, said = bridge.ended()
    assert said is not None
    assert (status, said["outcome"]) == (10, "client_failed")
    assert "ENOSPC" in said["detail"]


def test_10_a_stdin_that_cannot_be_read_is_the_client_failing(rig: Rig, far: FarServer) -> None:
    with Path("/proc/self/mem").open("rb", buffering=0) as nothing_at_address_0:
        bridge = rig.bridge(far.path, stdin=nothing_at_address_0)
    assert far.accept().recv(1) == b""
    assert bridge.outcome() == (10, "client_failed")


def test_11_a_server_that_sends_nothing_within_the_read_deadline_is_unresponsive(rig: Rig, far: FarServer) -> None:
    """WB-SILENCE: requests do not count, and a slow stdout is not the server's silence."""
    bridge = rig.bridge(far.path, BridgeLimits(read_deadline_seconds=0.4))
    connection = far.accept()
    bridge.send(b"a request\n")
    assert receive(connection, 10) == b"a request\n"
    assert connection.recv(1) == b""
    assert bridge.outcome() == (11, "server_unresponsive")
