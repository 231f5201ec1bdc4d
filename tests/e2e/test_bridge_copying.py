"""What a bridge copies, and what it leaves alone: every byte both ways, and the descriptors it inherited."""

import fcntl
import hashlib
import os
import random
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from bridge_rig import FarServer, Rig, receive, until

from hopline.serve.bridge import BridgeLimits

MANY = 50_000_000


@pytest.fixture
def rig(private_place: Path) -> Iterator[Rig]:
    made = Rig(private_place)
    yield made
    made.close()


@pytest.fixture
def far(rig: Rig) -> FarServer:
    return rig.listen()


def test_50_mb_both_ways_at_once_arrive_byte_for_byte(rig: Rig, far: FarServer) -> None:
    """WB-UNREAD: newlines, NULs, half scalars and all."""
    up, down = random.Random(1).randbytes(MANY), random.Random(2).randbytes(MANY)
    bridge = rig.bridge(far.path)
    connection = far.accept()
    digest = hashlib.sha256()

    def take_all() -> None:
        left = len(up)
        while left and (data := connection.recv(1 << 18)):
            digest.update(data)
            left -= len(data)

    threads = [
        threading.Thread(target=take_all),
        threading.Thread(target=connection.sendall, args=(down,)),
        threading.Thread(target=bridge.send, args=(up,)),
    ]
    for thread in threads:
        thread.start()
    got, size = hashlib.sha256(), 0
    while size < MANY:
        data = bridge.read(1 << 18) if MANY - size >= 1 << 18 else bridge.read(MANY - size)
        got.update(data)
        size += len(data)
    for thread in threads:
        thread.join(30)
    assert got.digest() == hashlib.sha256(down).digest()
    assert digest.digest() == hashlib.sha256(up).digest()
    bridge.end_stdin()
    assert bridge.outcome() == (0, None)


def test_tiny_buffers_and_partial_writes_lose_nothing(rig: Rig, far: FarServer) -> None:
    mine, its = socket.socketpair()
    for end in (mine, its):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4608)
    data = random.Random(3).randbytes(300_000)
    with mine:
        bridge = rig.bridge(far.path, BridgeLimits(read_bytes=40_000), stdin=its, stdout=its)
        its.close()
        connection = far.accept()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4608)
        writers = [
            threading.Thread(target=mine.sendall, args=(data,)),
            threading.Thread(target=connection.sendall, args=(data[::-1],)),
        ]
        readers: dict[str, bytes] = {}

        def read(name: str, end: socket.socket) -> None:
            readers[name] = b"".join(end.recv(777) for _ in iter(lambda: end.recv(1, socket.MSG_PEEK), b""))

        sides = [threading.Thread(target=read, args=("server", connection))]
        sides.append(threading.Thread(target=read, args=("client", mine)))
        for thread in (*writers, *sides):
            thread.start()
        for thread in writers:
            thread.join(20)
        connection.shutdown(socket.SHUT_WR)
        for thread in sides:
            thread.join(20)
    assert readers == {"server": data, "client": data[::-1]}
    assert bridge.outcome() == (3, "server_closed")


def test_a_slow_stdout_holds_the_server_back_and_not_the_requests(rig: Rig, far: FarServer) -> None:
    """WB-ONE-READ: the way up goes on while the way down is full, and then not a byte is missing."""
    bridge = rig.bridge(far.path)
    connection = far.accept()
    connection.setblocking(False)
    sent = 0
    with pytest.raises(BlockingIOError):
        while True:
            sent += connection.send(b"d" * 65_536)
            if sent > 10_000_000:
                raise AssertionError("it queues without a bound")
    connection.settimeout(10)
    for _ in range(20):
        bridge.send(b"u" * 50_000)
        assert receive(connection, 50_000) == b"u" * 50_000
    until(lambda: not _can_send(connection))
    connection.close()
    assert bridge.read(10_000_001).strip(b"d") == b""
    assert bridge.outcome() == (3, "server_closed")


def test_neither_a_stall_nor_a_closed_end_makes_it_spin(rig: Rig, far: FarServer) -> None:
    bridge = rig.bridge(far.path, BridgeLimits(write_deadline_seconds=1.0))
    connection = far.accept()
    connection.setblocking(False)
    with pytest.raises(BlockingIOError):
        while True:
            connection.send(b"d" * 65_536)
    bridge.send(b"u")
    connection.close()
    used = psutil.Process(bridge.process.pid).cpu_times
    before = sum(used()[:2])
    assert bridge.process.poll() is None
    status = os.waitid(os.P_PID, bridge.process.pid, os.WEXITED | os.WNOWAIT)
    assert status is not None
    spent = sum(used()[:2]) - before
    assert spent < 0.3
    assert bridge.outcome() == (8, "client_stalled")


@pytest.mark.parametrize("kind", ["pipes", "one socket"])
def test_the_last_command_of_a_client_that_is_gone_is_delivered(rig: Rig, far: FarServer, kind: str) -> None:
    """WB-LAST-COMMAND: both ends of the ssh channel close at once, right behind the command."""
    if kind == "pipes":
        bridge = rig.bridge(far.path)
        bridge.send(b"stop\n")
        bridge.close_streams()
    else:
        mine, its = socket.socketpair()
        bridge = rig.bridge(far.path, stdin=its, stdout=its)
        its.close()
        mine.sendall(b"stop\n")
        mine.close()
    connection = far.accept()
    assert receive(connection, 6) == b"stop\n"
    assert bridge.process.wait(10) == 0


def test_a_last_command_waits_for_a_slow_server_although_nobody_reads_stdout(rig: Rig, far: FarServer) -> None:
    bridge = rig.bridge(far.path)
    connection = far.accept()
    assert bridge.process.stdin is not None
    assert bridge.process.stdout is not None
    os.set_blocking(bridge.process.stdin.fileno(), False)
    sent = 0
    while (written := bridge.process.stdin.write(b"u" * 10_000)) or _room_soon(bridge.process.stdin.fileno()):
        sent += written or 0
    bridge.process.stdout.close()
    bridge.end_stdin()
    assert receive(connection, 10_000_000).count(b"u") == sent
    assert bridge.outcome() == (0, None)


@pytest.mark.parametrize("ended_by", ["end of stdin", "SIGTERM", "SIGKILL"])
def test_a_pipe_keeps_its_flags_however_the_bridge_ends(rig: Rig, far: FarServer, ended_by: str) -> None:
    """WB-AS-FOUND: a pipe gets a description of its own, so a shared one never changes."""
    in_read, in_write = os.pipe()
    out_read, out_write = os.pipe()
    try:
        bridge = rig.bridge(far.path, stdin=in_read, stdout=out_write)
        connection = far.accept()
        connection.sendall(b"x")
        assert os.read(out_read, 1) == b"x"
        assert os.get_blocking(in_read)
        assert os.get_blocking(out_write)
        _end(bridge.process, in_write, ended_by)
        assert os.get_blocking(in_read)
        assert os.get_blocking(out_write)
    finally:
        for descriptor in {in_read, in_write, out_read, out_write}:
            if descriptor != in_write or ended_by != "end of stdin":
                os.close(descriptor)


@pytest.mark.parametrize("ended_by", ["end of stdin", "SIGTERM", "SIGINT", "SIGHUP"])
def test_a_socket_s_flags_are_put_back_however_the_bridge_ends(rig: Rig, far: FarServer, ended_by: str) -> None:
    mine, its = socket.socketpair()
    in_read, in_write = os.pipe()
    with mine, its:
        bridge = rig.bridge(far.path, stdin=in_read, stdout=its)
        os.close(in_read)
        far.accept().sendall(b"x")
        assert mine.recv(1) == b"x"
        assert not os.get_blocking(its.fileno())
        _end(bridge.process, in_write, ended_by)
        assert os.get_blocking(its.fileno())
        if ended_by != "end of stdin":
            os.close(in_write)


def test_flags_that_were_nonblocking_already_stay_so(rig: Rig, far: FarServer) -> None:
    mine, its = socket.socketpair()
    with mine, its:
        its.setblocking(False)
        bridge = rig.bridge(far.path, stdin=its, stdout=its)
        connection = far.accept()
        mine.sendall(b"up")
        assert receive(connection, 2) == b"up"
        mine.shutdown(socket.SHUT_WR)
        assert bridge.process.wait(10) == 0
        assert fcntl.fcntl(its, fcntl.F_GETFL) & os.O_NONBLOCK


def test_a_signal_that_was_ignored_stays_ignored(rig: Rig, far: FarServer) -> None:
    bridge = rig.start(["/bin/sh", "-c", 'trap "" HUP; exec hopline bridge --socket "$0"', far.path], env=_env())
    connection = far.accept()
    connection.sendall(b"x")
    assert bridge.read(1) == b"x"
    bridge.process.send_signal(signal.SIGHUP)
    connection.sendall(b"y")
    assert bridge.read(1) == b"y"
    bridge.end_stdin()
    assert bridge.outcome() == (0, None)


def test_a_file_can_be_stdin_and_stdout(rig: Rig, far: FarServer) -> None:
    source, sink = rig.place / "source", rig.place / "sink"
    source.write_bytes(b"r" * 2_000_000)  # more than the socket holds: the end of stdin comes after the reply
    with source.open("rb") as stdin, sink.open("wb") as stdout:
        bridge = rig.bridge(far.path, stdin=stdin, stdout=stdout)
    connection = far.accept()
    connection.sendall(b"reply")
    assert receive(connection, 3_000_000) == b"r" * 2_000_000
    assert bridge.outcome() == (0, None)
    assert sink.read_bytes() == b"reply"


def _room_soon(descriptor: int) -> bool:
    return bool(select.select([], [descriptor], [], 0.2)[1])


def _can_send(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        connection.send(b"d")
    except BlockingIOError:
        return False
    return True


def _end(process: subprocess.Popen[bytes], its_stdin: int, ended_by: str) -> None:
    if ended_by == "end of stdin":
        os.close(its_stdin)
        assert process.wait(10) == 0
    else:
        number = signal.Signals[ended_by]
        process.send_signal(number)
        assert process.wait(10) == -number


def _env() -> dict[str, str]:
    from bridge_rig import HOPLINE

    return {**os.environ, "PATH": f"{Path(HOPLINE).parent}:{os.environ['PATH']}"}
