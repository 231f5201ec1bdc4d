"""The in-memory carrier: the same session and back-pressure as the Unix one (docs/wire/client.md, "In memory")."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hopline.errors import Unavailable
from hopline.serve import memory
from hopline.serve.channel import HIGH_WATER_BYTES
from hopline.serve.gateway.limits import GatewayLimits
from hopline.serve.memory import MemoryChannel, MemoryClient, MemoryListener
from hopline.wire.client.requests import MAX_REQUEST_LINE_BYTES
from hopline.wire.client.session import Received, Rejected


async def echo(channel: MemoryChannel) -> None:
    while (item := await channel.next()) is not None:
        kind = "refused" if isinstance(item, Rejected) else type(item.request).__name__
        await channel.send(json.dumps({"is": kind, "id": item.request_id}).encode())
        channel.answered()


def carried(
    scenario: Callable[[MemoryListener], Awaitable[None]], serve: Callable[[MemoryChannel], Awaitable[None]] = echo
) -> None:
    async def main() -> None:
        async with asyncio.TaskGroup() as tasks:
            listener = MemoryListener(serve, tasks)
            try:
                await asyncio.wait_for(scenario(listener), 5)
            finally:
                listener.stop()
                listener.hang_up()
        assert listener.count == 0

    asyncio.run(main())


async def ask(client: MemoryClient, **fields: Any) -> dict[str, Any]:
    await client.send(json.dumps(fields).encode())
    found = await client.receive()
    assert found is not None
    told: dict[str, Any] = json.loads(found)
    return told


def test_whole_messages_go_both_ways_in_order() -> None:
    async def scenario(listener: MemoryListener) -> None:
        client = listener.connect()
        assert await ask(client, type="query.snapshot", request_id="a") == {"is": "QuerySnapshot", "id": "a"}
        for name in "xyz":
            await client.send(json.dumps({"type": "query.events", "request_id": name}).encode())
        assert [json.loads((await client.receive()) or b"")["id"] for _ in "xyz"] == ["x", "y", "z"]
        assert (await ask(client, type="nothing"))["is"] == "refused"
        await client.send(b"x" * (MAX_REQUEST_LINE_BYTES + 1))
        assert json.loads((await client.receive()) or b"")["is"] == "refused"

    carried(scenario)


def test_what_was_asked_before_the_end_is_still_answered() -> None:
    async def scenario(listener: MemoryListener) -> None:
        client = listener.connect()
        await client.send(b'{"type":"query.snapshot"}')
        client.end()
        assert await client.receive() is not None
        assert await client.receive() is None
        with pytest.raises(ConnectionError):
            await client.send(b"{}")
        client.close()

    carried(scenario)


def test_a_client_that_takes_nothing_stalls_its_own_writer_only() -> None:
    pushed: list[int] = []

    async def flood(channel: MemoryChannel) -> None:
        assert isinstance(await channel.next(), Received)
        channel.session.subscribed()
        while not channel.stalled():
            channel.push(b"x" * 1000)
        assert channel.unsent_bytes() > HIGH_WATER_BYTES
        resumed = asyncio.Event()
        channel.on_writable = resumed.set
        pushed.append(channel.unsent_bytes())
        await resumed.wait()
        await channel.send(b"last")
        await channel.gone()

    async def scenario(listener: MemoryListener) -> None:
        client, other = listener.connect(), listener.connect()
        await client.send(b'{"type":"subscribe"}')
        await other.send(b'{"type":"subscribe"}')
        for one in (client, other):
            taken = 0
            while (message := await one.receive()) != b"last":
                assert message is not None
                taken += len(message)
            assert taken == pushed.pop(0)
            one.end()

    carried(scenario, flood)


def test_a_message_counts_as_unsent_until_its_taker_comes_for_the_next() -> None:
    unsent: list[int] = []
    looked = asyncio.Event()

    async def one(channel: MemoryChannel) -> None:
        channel.push(b"x" * 10)
        assert isinstance(await channel.next(), Received)
        unsent.append(channel.unsent_bytes())
        looked.set()
        channel.answered()
        assert isinstance(await channel.next(), Received)
        unsent.append(channel.unsent_bytes())

    async def scenario(listener: MemoryListener) -> None:
        client = listener.connect()
        assert await client.receive() == b"x" * 10
        await client.send(b'{"type":"query.snapshot"}')
        await looked.wait()
        next_one = asyncio.ensure_future(client.receive())
        await asyncio.sleep(0)
        await client.send(b'{"type":"query.snapshot"}')
        assert await next_one is None

    carried(scenario, one)
    assert unsent == [10, 0]


def test_a_client_that_asks_too_much_at_once_waits() -> None:
    gate = asyncio.Event()

    async def slow(channel: MemoryChannel) -> None:
        await gate.wait()
        await echo(channel)

    async def scenario(listener: MemoryListener) -> None:
        client = listener.connect()
        big = json.dumps({"type": "query.chat", "text": "x" * (MAX_REQUEST_LINE_BYTES - 100)}).encode()
        first = asyncio.ensure_future(client.send(big))
        second = asyncio.ensure_future(client.send(big))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not second.done()
        gate.set()
        for _ in range(2):
            assert await client.receive() is not None
        await asyncio.gather(first, second)

    carried(scenario, slow)


def test_a_close_gives_what_is_queued_and_then_the_end() -> None:
    async def parting(channel: MemoryChannel) -> None:
        channel.push(b"one")
        channel.push(b"two")
        channel.close()
        channel.push(b"never")
        await channel.gone()

    async def scenario(listener: MemoryListener) -> None:
        client = listener.connect()
        assert [await client.receive() for _ in range(3)] == [b"one", b"two", None]

    carried(scenario, parting)


def test_a_failure_ends_its_connection_and_no_other() -> None:
    async def failing(channel: MemoryChannel) -> None:
        item = await channel.next()
        assert item is not None
        raise ValueError("no")

    async def scenario(listener: MemoryListener) -> None:
        client, other = listener.connect(), listener.connect()
        await client.send(b'{"type":"query.snapshot"}')
        assert await client.receive() is None
        assert listener.count == 1
        other.close()
        other.close()

    carried(scenario, failing)


def test_a_hung_up_client_that_waits_for_room_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def deaf(channel: MemoryChannel) -> None:
        await channel.gone()

    async def scenario(listener: MemoryListener) -> None:
        client = listener.connect()
        big = b"x" * MAX_REQUEST_LINE_BYTES
        waiting = asyncio.ensure_future(client.send(big))
        await asyncio.sleep(0)
        assert not waiting.done()
        listener.hang_up()
        await waiting
        assert await client.receive() is None

    carried(scenario, deaf)


def test_connections_are_bounded_and_none_is_made_after_the_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MAX_CONNECTIONS", 2)

    async def scenario(listener: MemoryListener) -> None:
        listener.connect()
        listener.connect()
        with pytest.raises(Unavailable, match="2 connections"):
            listener.connect()
        listener.stop()
        with pytest.raises(Unavailable, match="leaving"):
            listener.connect()

    carried(scenario)


def test_every_websocket_that_a_gateway_may_have_finds_its_connection() -> None:
    async def scenario(listener: MemoryListener) -> None:
        clients = [listener.connect() for _ in range(GatewayLimits().websockets)]
        assert (await ask(clients[-1], type="query.snapshot", request_id="last"))["id"] == "last"
        with pytest.raises(Unavailable, match="1000 connections"):
            listener.connect()

    carried(scenario)
