"""The gateway over real sockets on loopback, with bounds short enough to meet, before a run that is a Unix socket."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from hopline.errors import RunGone
from hopline.serve.gateway.credentials import KEY_BYTES, Credentials
from hopline.serve.gateway.limits import GatewayLimits, WebSocketLimits
from hopline.serve.gateway.server import Gateway, GatewayOptions
from hopline.serve.gateway.upstream import LineUpstream, Upstream

CREDENTIALS = Credentials("t0ken", bytes(KEY_BYTES))
RUN = "0123456789ab"
QUICK = GatewayLimits(
    websocket=WebSocketLimits(
        ping_interval_seconds=0.2, ping_timeout_seconds=0.2, write_deadline_seconds=0.3, close_timeout_seconds=0.2
    ),
    handshake_seconds=0.3,
    half_open_connections=20,
    shutdown_seconds=0.3,
)

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


class Socket:
    """Dials one Unix socket for every run; there is no run called ffffffffffff."""

    def __init__(self, path: Path, limits: GatewayLimits) -> None:
        self._path, self._limits = path, limits

    async def dial(self, run_id: str) -> Upstream:
        if run_id == "f" * 12:
            raise RunGone("there is no run 'ffffffffffff'")
        loop = asyncio.get_running_loop()
        _, upstream = await loop.create_unix_connection(lambda: LineUpstream(self._limits), str(self._path))
        return upstream


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while line := await reader.readline():
        writer.write(b"got " + line)
        await writer.drain()
    writer.close()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "index.html").write_text("<!doctype html>")
    (tmp_path / "web" / "app.js").write_text("run()")
    return tmp_path


@asynccontextmanager
async def gateway(
    place: Path, serve: Serve = echo, limits: GatewayLimits = QUICK, **options: Any
) -> AsyncIterator[Gateway]:
    run = await asyncio.start_unix_server(serve, place / "run.sock", limit=4 << 20)
    on_rotate = options.pop("on_rotate", lambda _: None)
    made = Gateway(
        GatewayOptions(port=0, web=place / "web", limits=limits, **options),
        Socket(place / "run.sock", limits),
        CREDENTIALS,
        on_rotate,
    )
    await made.open()
    try:
        yield made
    finally:
        await made.close()
        run.close()


def dial(gateway: Gateway, path: str = f"/runs/{RUN}/ws", **options: Any) -> connect:
    origin: Any = options.pop("origin", f"http://127.0.0.1:{gateway.port}")
    options.setdefault("max_size", None)
    query = options.pop("query", "?token=t0ken")
    return connect(
        f"ws://127.0.0.1:{gateway.port}{path}{query}", origin=origin, compression=None, proxy=None, **options
    )


async def ask(gateway: Gateway, target: str, *headers: str, method: str = "GET") -> tuple[int, str]:
    """(status, whole answer) of a plain request, as a client that speaks HTTP by hand."""
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    lines = [f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{gateway.port}", *headers, "", ""]
    writer.write("\r\n".join(lines).encode())
    answer = (await reader.read()).decode()
    writer.close()
    return int(answer.split(" ")[1]) if answer else 0, answer


async def said(connection: ClientConnection) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(await connection.recv())
    return parsed


def test_messages_pass_whole_and_unread(place: Path) -> None:
    async def main() -> None:
        async with gateway(place) as served, dial(served) as peer:
            await peer.send('{"é":\n1}')
            assert await peer.recv() == 'got {"é":\t1}'
            await peer.send("x" * 1_000_000)
            assert len(await peer.recv()) == 1_000_004

    asyncio.run(main())


def test_a_response_may_be_longer_than_a_stream_frame(place: Path) -> None:
    async def generous(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"y" * 5_000_000 + b"\n")
        await writer.drain()
        writer.close()

    async def main() -> None:
        async with gateway(place, generous, GatewayLimits()) as served, dial(served) as peer:
            await peer.send("give")
            assert len(await peer.recv()) == 5_000_000
            with pytest.raises(ConnectionClosed):
                await peer.recv()
            assert peer.close_code == 1000

    asyncio.run(main())


def test_a_close_is_the_runs_end_of_stream(place: Path) -> None:
    async def main() -> None:
        ended = asyncio.Event()

        async def until_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            ended.set()
            writer.close()

        async with gateway(place, until_end) as served:
            async with dial(served) as peer:
                await peer.send("x")
            async with asyncio.timeout(5):
                await ended.wait()

    asyncio.run(main())


def test_a_peer_that_is_aborted_is_the_runs_end_of_stream_too(place: Path) -> None:
    async def main() -> None:
        ended = asyncio.Event()

        async def until_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            ended.set()
            writer.close()

        async with gateway(place, until_end) as served:
            peer = await dial(served)
            await peer.send("x")
            peer.transport.abort()
            async with asyncio.timeout(5):
                await ended.wait()

    asyncio.run(main())


def test_a_binary_frame_is_answered_in_band_and_closed(place: Path) -> None:
    async def main() -> None:
        async with gateway(place) as served:
            for path in (f"/runs/{RUN}/ws", "/runs/ws"):
                async with dial(served, path) as peer:
                    await peer.send(b"\x00")
                    frame = await said(peer)
                    while frame["type"] == "runs":
                        frame = await said(peer)
                    assert (frame["type"], frame["code"]) == ("protocol_error", "invalid_frame")
                    with pytest.raises(ConnectionClosed):
                        await peer.recv()
                    assert peer.close_code == 1000

    asyncio.run(main())


def test_a_run_that_is_not_there_is_said_in_band(place: Path) -> None:
    async def main() -> None:
        async with gateway(place) as served, dial(served, f"/runs/{'f' * 12}/ws") as peer:
            assert (await said(peer))["code"] == "not_found"

    asyncio.run(main())


def test_a_message_over_one_mebibyte_closes_with_1009(place: Path) -> None:
    async def main() -> None:
        async with gateway(place) as served, dial(served) as peer:
            await peer.send("x" * ((1 << 20) + 1))
            with pytest.raises(ConnectionClosed):
                await peer.recv()
            assert peer.close_code == 1009

    asyncio.run(main())


def test_text_that_is_not_utf8_closes_with_1007(place: Path) -> None:
    async def main() -> None:
        async with gateway(place) as served, dial(served) as peer:
            await peer.send(b"\xff\xfe", text=True)
            with pytest.raises(ConnectionClosed):
                await peer.recv()
            assert peer.close_code == 1007

    asyncio.run(main())


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"query": ""}, 403),
        ({"query": "?token=stale"}, 403),
        ({"origin": None}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"additional_headers": {"Host": "evil.example"}}, 421),
        ({"path": "/ws"}, 404),
        ({"path": "/runs/../../ws"}, 404),
    ],
)
def test_a_socket_that_does_not_belong_here_is_refused(place: Path, changes: dict[str, Any], status: int) -> None:
    async def main() -> None:
        async with gateway(place) as served:
            if "additional_headers" in changes:
                target = f"/runs/{RUN}/ws?token=t0ken"
                reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
                writer.write(f"GET {target} HTTP/1.1\r\nHost: evil.example\r\nUpgrade: websocket\r\n\r\n".encode())
                assert int((await reader.read()).split(b" ")[1]) == status
                writer.close()
                return
            with pytest.raises(InvalidStatus) as refusal:
                await dial(served, **changes)
            assert refusal.value.response.status_code == status
            assert "Content-Security-Policy" in refusal.value.response.headers

    asyncio.run(main())


def test_a_page_session_opens_a_socket(place: Path) -> None:
    async def main() -> None:
        async with gateway(place) as served:
            _, answer = await ask(served, "/?token=t0ken")
            cookie = next(line for line in answer.split("\r\n") if line.startswith("Set-Cookie: "))
            session = cookie.removeprefix("Set-Cookie: ").partition(";")[0]
            async with dial(served, query="", additional_headers={"Cookie": session}) as peer:
                await peer.send("x")
                assert await peer.recv() == "got x"

    asyncio.run(main())


def test_a_silent_peer_that_answers_no_ping_is_aborted_without_a_close_frame(place: Path) -> None:
    async def main() -> None:
        async with gateway(place) as served:
            reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
            writer.write(
                f"GET /runs/{RUN}/ws?token=t0ken HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
                f"Origin: http://127.0.0.1:{served.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
            )
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 101")
            async with asyncio.timeout(5):
                with contextlib.suppress(ConnectionError):
                    rest = await reader.read()
                    assert rest[0] == 0x89  # a ping
                    assert rest.count(b"\x88") == 0  # and no close
            writer.close()

    asyncio.run(main())


def test_a_reader_that_takes_nothing_is_aborted_and_others_are_not(place: Path) -> None:
    released = asyncio.Event()

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.readline()
        with contextlib.suppress(ConnectionError):
            while first == b"flood\n":
                writer.write(b"z" * 1_000_000 + b"\n")
                await writer.drain()
            writer.write(b"served\n")
            await reader.read()
        writer.close()
        if first == b"flood\n":
            released.set()

    async def main() -> None:
        async with gateway(place, flood) as served, dial(served, ping_interval=None, max_queue=1) as frozen:
            await frozen.send("flood")
            frozen.transport.pause_reading()
            async with dial(served) as healthy:
                await healthy.send("hello")
                async with asyncio.timeout(5):
                    assert await healthy.recv() == "served"
            async with asyncio.timeout(10):
                await released.wait()
            frozen.transport.abort()

    asyncio.run(main())


def test_thousands_of_half_open_connections_leave_room_for_an_honest_one(place: Path) -> None:
    """WG-ROOM"""

    async def main() -> None:
        async with gateway(place) as served:
            writers = []
            for number in range(400):
                _, writer = await asyncio.open_connection("127.0.0.1", served.port)
                writer.write(b"GET / HT"[: number % 9])
                writers.append(writer)
            async with asyncio.timeout(5), dial(served) as peer:
                await peer.send("x")
                assert await peer.recv() == "got x"
                assert served.half_open <= QUICK.half_open_connections
            for writer in writers:
                writer.transport.abort()

    asyncio.run(main())


def test_a_request_that_never_ends_is_cut_off(place: Path) -> None:
    async def main() -> None:
        async with gateway(place) as served:
            reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
            writer.write(b"GET / HTTP/1.1\r\nX-Slow: ")
            async with asyncio.timeout(5):
                with contextlib.suppress(ConnectionError):
                    assert await reader.read() == b""
            writer.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    "noise", [b"\x00\xff\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\n"]
)
def test_noise_is_closed_without_a_word(place: Path, noise: bytes) -> None:
    async def main() -> None:
        async with gateway(place) as served:
            reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
            writer.write(noise)
            async with asyncio.timeout(5):
                with contextlib.suppress(ConnectionError):
                    assert await reader.read() == b""
            writer.close()
            assert (await ask(served, "/health?token=t0ken"))[0] == 200

    asyncio.run(main())


def test_a_request_past_its_bounds_is_told_so(place: Path) -> None:
    async def main() -> None:
        async with gateway(place) as served:
            assert (await ask(served, "/" + "a" * 9000))[0] == 414
            assert (await ask(served, "/", "X: " + "a" * 9000))[0] == 431
            assert (await ask(served, "/", *[f"X-{n}: 1" for n in range(200)]))[0] == 431

    asyncio.run(main())


def test_plain_requests_get_the_documented_answers(place: Path) -> None:
    async def main() -> None:
        async with gateway(place) as served:
            for target, status, part in (
                ("/?token=t0ken", 200, "<!doctype html>"),
                ("/", 403, "hopline web"),
                ("/assets/app.js", 200, "run()"),
                ("/assets/nothing.js", 404, "nothing here"),
                ("/assets/..%2f..%2frun.sock", 404, "nothing here"),
                ("/health?token=t0ken", 200, "hopline-ok\n"),
                ("/nothing?token=t0ken", 404, "nothing here"),
                (f"/runs/{RUN}/ws?token=t0ken", 403, "no origin"),
            ):
                got, answer = await ask(served, target)
                assert (got, part in answer) == (status, True), target
                assert "Content-Security-Policy: default-src 'none'" in answer
                assert "Server: Hopline-WebSocket" in answer

    asyncio.run(main())


def test_an_allowed_plain_get_of_a_socket_is_told_to_upgrade(place: Path) -> None:
    async def main() -> None:
        async with gateway(place) as served:
            status, answer = await ask(served, f"/runs/{RUN}/ws?token=t0ken", f"Origin: http://127.0.0.1:{served.port}")
            assert status == 426
            assert "Content-Security-Policy" in answer

    asyncio.run(main())


def test_rotating_replaces_the_token_and_keeps_sessions(place: Path) -> None:
    async def main() -> None:
        kept: list[Credentials] = []
        async with gateway(place, on_rotate=kept.append) as served:
            _, page = await ask(served, "/?token=t0ken")
            session = page.split("X-Hopline-Browser-Session: ")[1].split("\r\n")[0]
            target = "/_hopline/rotate-capability?token=t0ken"
            assert (await ask(served, target))[0] == 400
            status, answer = await ask(served, target, "X-Hopline-Rotate-Capability: 1")
            assert (status, "hopline-capability-rotated\n" in answer) == (200, True)
            assert (await ask(served, target, "X-Hopline-Rotate-Capability: 1"))[0] == 403
            assert (await ask(served, "/?token=t0ken"))[0] == 403
            assert (await ask(served, f"/?token={kept[0].token}"))[0] == 200
            assert (await ask(served, f"/?session={session}"))[0] == 200

    asyncio.run(main())


def test_a_token_that_cannot_be_kept_is_not_replaced(place: Path) -> None:
    def full(_: Credentials) -> None:
        raise OSError(28, "No space left on device")

    async def main() -> None:
        async with gateway(place, on_rotate=full) as served:
            target = "/_hopline/rotate-capability?token=t0ken"
            assert (await ask(served, target, "X-Hopline-Rotate-Capability: 1"))[0] == 500
            assert (await ask(served, "/health?token=t0ken"))[0] == 200

    asyncio.run(main())


def test_another_users_process_is_refused_with_every_credential(place: Path) -> None:
    async def main() -> None:
        async with gateway(place, allowed_uids=frozenset({4_000_000})) as served:
            status, answer = await ask(served, "/?token=t0ken")
            assert status == 403
            assert "its user's alone" in answer
            assert "Set-Cookie" not in answer
            assert (await ask(served, "/assets/app.js"))[0] == 200

    asyncio.run(main())


def test_one_websocket_too_many_is_told_so(place: Path) -> None:
    async def main() -> None:
        async with gateway(place, limits=replace(QUICK, websockets=1)) as served, dial(served) as peer:
            await peer.send("x")
            await peer.recv()
            with pytest.raises(InvalidStatus) as refusal:
                await dial(served)
            assert refusal.value.response.status_code == 503

    asyncio.run(main())


def test_the_gateway_of_one_run_has_its_socket_by_both_names_and_no_other(place: Path) -> None:
    async def main() -> None:
        async with gateway(place, single_run=RUN) as served:
            for path in ("/ws", f"/runs/{RUN}/ws"):
                async with dial(served, path) as peer:
                    await peer.send("x")
                    assert await peer.recv() == "got x"
            with pytest.raises(InvalidStatus):
                await dial(served, "/runs/ffffffffffff/ws")

    asyncio.run(main())


def test_the_listing_is_whole_first_and_then_says_that_it_is_there(place: Path) -> None:
    async def main() -> None:
        async with gateway(place) as served, dial(served, "/runs/ws") as peer:
            first = await said(peer)
            assert (first["type"], first["full"], first["rows"]) == ("runs", True, [])
            await peer.send("ignored")

    asyncio.run(main())


def test_closing_the_gateway_ends_every_connection_within_its_bound(place: Path) -> None:
    async def main() -> None:
        async with gateway(place) as served:
            polite, frozen = await dial(served), await dial(served, ping_interval=None)
            frozen.transport.pause_reading()
            async with asyncio.timeout(3):
                await served.close()
            with pytest.raises(ConnectionClosed):
                await polite.recv()
            assert polite.close_code == 1001
            frozen.transport.abort()

    asyncio.run(main())
