"""Writes have a deadline, silence is noticed, and whoever passes a deadline is aborted and never closed."""

import asyncio
from typing import Any

import pytest

from hopline.serve.gateway.carrier import NotText, PeerGone, WebSocketCarrier
from hopline.serve.gateway.limits import WebSocketLimits

LIMITS = WebSocketLimits()


def test_a_text_message_comes_as_utf8_and_a_binary_one_is_named(in_simulated_time: Any, new_connection: Any) -> None:
    async def main() -> None:
        connection = new_connection()
        carrier = WebSocketCarrier(connection, LIMITS)
        connection.inbox.put_nowait("é")
        assert await carrier.receive() == b"\xc3\xa9"
        connection.inbox.put_nowait(b"\x00")
        with pytest.raises(NotText):
            await carrier.receive()
        connection.gone.set()
        with pytest.raises(PeerGone):
            await carrier.receive()

    in_simulated_time(main)


def test_a_frame_that_is_not_taken_in_40_s_aborts_the_peer(in_simulated_time: Any, new_connection: Any) -> None:
    """WG-ABORT"""

    async def main() -> None:
        connection = new_connection()
        connection.takes.clear()
        with pytest.raises(PeerGone, match="write deadline"):
            await WebSocketCarrier(connection, LIMITS).send(b"x")
        assert connection.happened == ["x", "aborted"]

    assert in_simulated_time(main) == pytest.approx(40)


def test_a_stall_within_the_deadline_loses_nothing(in_simulated_time: Any, new_connection: Any) -> None:
    async def main() -> None:
        connection = new_connection()
        connection.takes.clear()
        connection.loop.call_later(39, connection.takes.set)
        await WebSocketCarrier(connection, LIMITS).send(b"x")
        assert connection.happened == ["x"]

    assert in_simulated_time(main) == pytest.approx(39)


def test_a_peer_that_answers_is_pinged_every_20_s_of_its_silence(in_simulated_time: Any, new_connection: Any) -> None:
    async def main() -> None:
        connection = new_connection()
        carrier = WebSocketCarrier(connection, LIMITS)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(65):
                await carrier.keep_alive()
        assert connection.happened == ["ping at 20", "ping at 40", "ping at 60"]

    in_simulated_time(main)


def test_what_a_peer_says_puts_its_ping_off(in_simulated_time: Any, new_connection: Any) -> None:
    async def main() -> None:
        connection = new_connection()
        carrier = WebSocketCarrier(connection, LIMITS)

        async def hear() -> None:
            while True:
                await carrier.receive()

        hearing = asyncio.ensure_future(hear())
        connection.loop.call_later(15, connection.inbox.put_nowait, "x")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(36):
                await carrier.keep_alive()
        hearing.cancel()
        assert connection.happened == ["ping at 35"]

    in_simulated_time(main)


def test_a_missing_pong_aborts_after_40_s(in_simulated_time: Any, new_connection: Any) -> None:
    async def main() -> None:
        connection = new_connection()
        connection.pongs = False
        await WebSocketCarrier(connection, LIMITS).keep_alive()
        assert connection.happened == ["ping at 20", "aborted"]

    assert in_simulated_time(main) == pytest.approx(40)


def test_a_peer_that_neither_reads_nor_answers_is_gone_after_at_most_80_s(
    in_simulated_time: Any, new_connection: Any
) -> None:
    async def main() -> None:
        connection = new_connection()
        connection.takes.clear()
        connection.pongs = False
        connection.loop.call_later(59.5, connection.takes.set)
        await WebSocketCarrier(connection, LIMITS).keep_alive()
        assert connection.happened == ["ping at 20", "aborted"]

    assert 79 < in_simulated_time(main) <= LIMITS.silence_seconds


def test_a_ping_that_cannot_be_written_aborts_by_itself(in_simulated_time: Any, new_connection: Any) -> None:
    async def main() -> None:
        connection = new_connection()
        connection.takes.clear()
        await WebSocketCarrier(connection, LIMITS).keep_alive()
        assert connection.happened == ["ping at 20", "aborted"]

    assert in_simulated_time(main) == pytest.approx(60)


def test_a_close_that_cannot_be_written_aborts(in_simulated_time: Any, new_connection: Any) -> None:
    async def main() -> None:
        connection = new_connection()
        connection.takes.clear()
        await WebSocketCarrier(connection, LIMITS).close()
        assert connection.happened == ["close", "aborted"]

    assert in_simulated_time(main) == pytest.approx(40)
