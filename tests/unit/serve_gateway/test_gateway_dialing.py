"""Runs are reached through the sockets of their records; an ended one is reopened, once for whoever waits."""

import asyncio
import contextlib
import os
import socket
from pathlib import Path

import msgspec
import pytest

from hopline.errors import ConnectDenied, ConnectFailed, RunGone, Unavailable
from hopline.ids import RunId
from hopline.records import RunRecord, hold_lock, run_folder, write_record
from hopline.serve.gateway import dialing
from hopline.serve.gateway.dialing import UnixDialer
from hopline.serve.gateway.limits import GatewayLimits

RUN = RunId("0123456789ab")
QUICK = GatewayLimits(dial_seconds=0.3)


def no_reopening(run_id: str) -> None:
    raise AssertionError(f"{run_id} was reopened")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The socket path of a run that has a record."""
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    run_folder(RUN).mkdir(parents=True)
    record = RunRecord(
        id=RUN,
        run_id=RUN,
        name="n",
        status="completed",
        pid=1,
        socket_path=str(tmp_path / "s"),
        started_at="2026-01-01T00:00:00.000Z",
        command=["true"],
        cwd="/",
        journal=str(tmp_path / "j"),
    )
    write_record(record)
    return tmp_path / "s"


async def serve(path: Path, greeted: asyncio.Event | None = None) -> asyncio.Server:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello\n")
        writer.close()
        if greeted is not None:
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
            greeted.set()

    return await asyncio.start_unix_server(greet, path)


def test_a_run_that_listens_is_reached(path: Path) -> None:
    async def main() -> None:
        async with await serve(path):
            upstream = await UnixDialer(no_reopening, QUICK).dial(RUN)
            assert await upstream.receive() == b"hello"
            upstream.close()

    asyncio.run(main())


def test_an_ended_run_is_reopened_once_for_everybody(path: Path) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        reopened: list[str] = []
        servers: list[asyncio.Server] = []

        def reopen(run_id: str) -> None:
            reopened.append(run_id)
            servers.append(asyncio.run_coroutine_threadsafe(serve(path), loop).result(5))

        dialer = UnixDialer(reopen, GatewayLimits())
        upstreams = await asyncio.gather(*(dialer.dial(RUN) for _ in range(5)))
        assert [await upstream.receive() for upstream in upstreams] == [b"hello"] * 5
        assert reopened == [RUN]
        for upstream in upstreams:
            upstream.close()
        servers[0].close()

    asyncio.run(main())


def test_a_run_that_lives_and_never_listens_is_given_up(path: Path) -> None:
    lock = hold_lock(RUN)
    with pytest.raises(ConnectFailed, match="does not answer"):
        asyncio.run(UnixDialer(no_reopening, QUICK).dial(RUN))
    assert lock >= 0

    os.close(lock)


def test_a_run_that_is_not_there_is_gone(path: Path) -> None:
    with pytest.raises(RunGone):
        asyncio.run(UnixDialer(no_reopening, QUICK).dial("f" * 12))


def test_what_reopening_cannot_do_is_said(path: Path) -> None:
    def full(_: str) -> None:
        raise OSError(24, "Too many open files")

    with pytest.raises(Unavailable, match="cannot be reopened: Too many"):
        asyncio.run(UnixDialer(full, QUICK).dial(RUN))


def test_a_socket_that_is_no_socket_is_a_failure(path: Path, tmp_path: Path) -> None:
    (tmp_path / ("x" * 200)).touch()
    record = msgspec.json.decode((run_folder(RUN) / "record.json").read_bytes(), type=RunRecord)
    write_record(msgspec.structs.replace(record, socket_path=str(tmp_path / ("x" * 200))))
    with pytest.raises(ConnectFailed, match="cannot connect"):
        asyncio.run(UnixDialer(no_reopening, QUICK).dial(RUN))


def test_a_full_backlog_is_waited_for_within_the_bound(path: Path) -> None:
    lock = hold_lock(RUN)
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(path))
        deaf.listen(0)
        waiting = [socket.socket(socket.AF_UNIX) for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(str(path))
        with pytest.raises(ConnectFailed):
            asyncio.run(UnixDialer(no_reopening, QUICK).dial(RUN))
        for one in waiting:
            one.close()

    os.close(lock)


def test_somebody_elses_server_is_not_taken_for_the_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialing.os, "getuid", lambda: 4_000_000)
    monkeypatch.setattr("hopline.serve.gateway.upstream.LineUpstream.owner", lambda _: 4_000_001)

    async def main() -> None:
        greeted = asyncio.Event()
        async with await serve(path, greeted):
            with pytest.raises(ConnectDenied, match="user 4000001"):
                await UnixDialer(no_reopening, QUICK).dial(RUN)
            await greeted.wait()

    asyncio.run(main())
