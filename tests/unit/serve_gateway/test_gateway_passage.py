"""Messages pass whole and unread; the end of one side is the end of the other."""

import asyncio
import json
from typing import Any

import pytest

from hopline.errors import ConnectDenied, HoplineError, RunGone, Unavailable
from hopline.serve.gateway.carrier import WebSocketCarrier
from hopline.serve.gateway.limits import GatewayLimits
from hopline.serve.gateway.passage import pass_messages
from hopline.serve.gateway.upstream import LineUpstream, MessageTooLong, Upstream

LIMITS = GatewayLimits()


class FakeUpstream:
    """A run that says what a test gives it."""

    def __init__(self) -> None:
        self.got: list[bytes] = []
        self.says: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        self.closed = False
        self.broken = False

    async def send(self, message: bytes) -> None:
        if self.broken:
            raise ConnectionResetError
        self.got.append(message)

    async def receive(self) -> bytes | None:
        said = await self.says.get()
        if isinstance(said, Exception):
            raise said
        return said

    def close(self) -> None:
        self.closed = True


class FakeDialer:
    """Gives one upstream, or fails."""

    def __init__(self, outcome: FakeUpstream | HoplineError) -> None:
        self._outcome = outcome

    async def dial(self, run_id: str) -> Upstream:
        if isinstance(self._outcome, HoplineError):
            raise self._outcome
        return self._outcome


async def passing(connection: Any, outcome: FakeUpstream | HoplineError) -> None:
    await pass_messages(WebSocketCarrier(connection, LIMITS.websocket), FakeDialer(outcome), "0123456789ab", LIMITS)


def test_messages_pass_both_ways_as_they_are(in_simulated_time: Any, new_connection: Any) -> None:
    """WG-UNREAD"""

    async def main() -> None:
        connection, upstream = new_connection(), FakeUpstream()
        connection.inbox.put_nowait('{"not": parsed')
        upstream.says.put_nowait(b"whatever \xc3\xa9")
        connection.loop.call_later(1, connection.gone.set)
        await passing(connection, upstream)
        assert upstream.got == [b'{"not": parsed']
        assert connection.happened == ["whatever é"]
        assert upstream.closed

    in_simulated_time(main)


def test_everything_that_a_run_sent_comes_before_the_end(in_simulated_time: Any, new_connection: Any) -> None:
    async def main() -> None:
        connection, upstream = new_connection(), FakeUpstream()
        upstream.broken = True
        connection.inbox.put_nowait("late")
        for said in (b"one", b"protocol_error", None):
            upstream.says.put_nowait(said)
        await passing(connection, upstream)
        assert connection.happened == ["one", "protocol_error"]

    in_simulated_time(main)


def test_a_binary_message_is_answered_in_band_before_the_close(in_simulated_time: Any, new_connection: Any) -> None:
    """WG-IN-BAND"""

    async def main() -> None:
        connection, upstream = new_connection(), FakeUpstream()
        connection.inbox.put_nowait(b"\x00")
        await passing(connection, upstream)
        (said,) = (json.loads(text) for text in connection.happened)
        assert (said["type"], said["code"]) == ("protocol_error", "invalid_frame")
        assert said["diagnostic"]["scope"] == "transport"
        assert upstream.closed
        assert upstream.got == []

    in_simulated_time(main)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RunGone("there is no run"), "not_found"),
        (ConnectDenied("somebody else's"), "permission_denied"),
        (Unavailable("no room"), "backend_unavailable"),
    ],
)
def test_a_run_that_cannot_be_reached_is_said_in_band(
    in_simulated_time: Any, new_connection: Any, error: HoplineError, code: str
) -> None:
    async def main() -> None:
        connection = new_connection()
        await passing(connection, error)
        (said,) = (json.loads(text) for text in connection.happened)
        assert (said["type"], said["code"], said["message"]) == ("protocol_error", code, str(error))

    in_simulated_time(main)


def test_a_message_past_the_bound_ends_the_stream_in_band(in_simulated_time: Any, new_connection: Any) -> None:
    async def main() -> None:
        connection, upstream = new_connection(), FakeUpstream()
        upstream.says.put_nowait(MessageTooLong("too long"))
        await passing(connection, upstream)
        assert json.loads(connection.happened[0])["code"] == "backend_unavailable"

    in_simulated_time(main)


def test_a_peer_that_stalls_past_the_deadline_releases_the_run(in_simulated_time: Any, new_connection: Any) -> None:
    async def main() -> None:
        connection, upstream = new_connection(), FakeUpstream()
        connection.takes.clear()
        upstream.says.put_nowait(b"x")
        await passing(connection, upstream)
        assert connection.happened == ["x", "aborted"]
        assert upstream.closed

    assert in_simulated_time(main) == pytest.approx(40)


class FakeTransport:
    """Counts what was written and whether reading is paused."""

    def __init__(self) -> None:
        self.written = b""
        self.reading = True
        self.closing = False

    def write(self, data: bytes) -> None:
        self.written += data

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True


def lines(limits: GatewayLimits = LIMITS) -> tuple[LineUpstream, FakeTransport]:
    upstream, transport = LineUpstream(limits), FakeTransport()
    upstream.connection_made(transport)  # type: ignore[arg-type]  # what is used of a transport
    return upstream, transport


def test_a_newline_inside_a_message_stays_white_space(in_simulated_time: Any) -> None:
    async def main() -> None:
        upstream, transport = lines()
        await upstream.send(b'{\n"a": "b"\n}')
        assert transport.written == b'{\t"a": "b"\t}\n'

    in_simulated_time(main)


def test_lines_come_whole_however_they_were_cut(in_simulated_time: Any) -> None:
    async def main() -> None:
        upstream, _ = lines()
        for piece in (b"on", b"e\ntwo\nth", b"ree\n", b"unfinished"):
            upstream.data_received(piece)
        upstream.connection_lost(None)
        assert [await upstream.receive() for _ in range(4)] == [b"one", b"two", b"three", None]
        with pytest.raises(ConnectionResetError):
            await upstream.send(b"x")

    in_simulated_time(main)


def test_reading_from_the_run_stops_while_a_slow_peer_is_behind(in_simulated_time: Any) -> None:
    """WG-STALL"""

    async def main() -> None:
        upstream, transport = lines(GatewayLimits(upstream_buffer_bytes=10))
        upstream.data_received(b"12345678\n12345678\n")
        assert not transport.reading
        await upstream.receive()
        assert not transport.reading
        await upstream.receive()
        assert transport.reading

    in_simulated_time(main)


def test_a_line_past_the_bound_is_an_error_and_not_memory(in_simulated_time: Any) -> None:
    async def main() -> None:
        upstream, _ = lines(GatewayLimits(response_bytes=4))
        upstream.data_received(b"12345")
        with pytest.raises(MessageTooLong):
            await upstream.receive()

    in_simulated_time(main)


def test_writing_waits_while_the_run_takes_nothing(in_simulated_time: Any) -> None:
    async def main() -> None:
        upstream, _ = lines()
        upstream.pause_writing()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await upstream.send(b"x")
        upstream.resume_writing()
        await upstream.send(b"y")
        upstream.close()

    in_simulated_time(main)
