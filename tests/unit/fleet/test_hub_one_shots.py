"""Links and one-shots between two hubs of one process, over real sockets."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hopline.errors import Misuse, Unavailable
from hopline.fleet.errors import NotPaired, PeerDenied, PeerUnreachable
from hopline.fleet.hub import links as links_module
from hopline.fleet.hub import transport as transport_module
from hopline.fleet.hub.hub import Hub
from hopline.fleet.hub.keys import FileKeys
from hopline.fleet.hub.links import HubLinks
from hopline.fleet.links.actions import HubOptions
from hopline.fleet.ports import Inbound
from hopline.wire.peer.envelope import Envelope
from hopline.wire.peer.negotiation import FEATURES, ONE_SHOT_REUSE

KEY = bytes(range(32))
A, B = "a-00000001", "b-00000002"
SECONDS = 10.0


class Pair:
    """Two hubs that know each other; only a dials."""

    def __init__(self, a: Hub, b: Hub, port: int) -> None:
        self.a = a
        self.b = b
        self.port = port
        self.a_links = HubLinks(a)
        self.b_links = HubLinks(b)

    @property
    def ends_at_b(self) -> int:
        """Connections that b has open."""
        return len(self.b._transports)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(SECONDS):
            while not condition():  # noqa: ASYNC110  # hubs tell nobody when a connection comes or goes
                await asyncio.sleep(0.005)


@asynccontextmanager
async def pair(place: Path, **options: object) -> AsyncIterator[Pair]:
    async with asyncio.TaskGroup() as tasks:
        hubs = []
        for name, other in ((A, B), (B, A)):
            keys = FileKeys(place / name)
            keys.keep(other, KEY)
            hubs.append(Hub(name, keys, HubOptions("1", dials=False), tasks))
        bound = socket.create_server(("127.0.0.1", 0))
        bound.setblocking(False)
        port = bound.getsockname()[1]
        await hubs[1].listen(bound)
        hubs[0].keys.note_addresses(B, [f"127.0.0.1:{port}"], 0, seen=False)
        running = [tasks.create_task(hub.run()) for hub in hubs]
        await asyncio.sleep(0)  # what never began would not close its listener
        try:
            yield Pair(*hubs, port)
        finally:
            for task in running:
                task.cancel()
            await asyncio.wait(running)


def told(test: Callable[[Pair], Awaitable[None]], place: Path) -> None:
    async def run() -> None:
        async with asyncio.timeout(2 * SECONDS), pair(place) as made:
            await test(made)

    asyncio.run(run())


async def echo(inbound: Inbound, envelope: Envelope) -> None:
    assert inbound.peer == A
    assert inbound.transient
    await inbound.send("lease_result", {"request_id": "r", "outcome": "list"})


async def asked(made: Pair, offer: frozenset[str] | None = None) -> str:
    async with made.a_links.one_shot(B, offer=offer) as shot:
        await shot.send("lease_list", {"request_id": "r"})
        async with asyncio.timeout(SECONDS):
            return (await shot.receive()).msg_type


def test_where_reuse_is_agreed_the_next_errand_takes_the_same_connection(tmp_path: Path) -> None:
    async def test(made: Pair) -> None:
        made.b_links.handle("lease_list", echo)
        for _ in range(5):
            assert await asked(made) == "lease_result"
        assert made.ends_at_b == 1

    told(test, tmp_path)


def test_a_kept_connection_is_closed_when_nobody_has_used_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(made: Pair) -> None:
        made.b_links.handle("lease_list", echo)
        await asked(made)
        assert made.ends_at_b == 1
        await made.until(lambda: made.ends_at_b == 0)
        assert await asked(made) == "lease_result"

    monkeypatch.setattr(links_module, "KEPT_SECONDS", 0.05)
    told(test, tmp_path)


def test_a_connection_that_the_peer_closed_meanwhile_is_not_used_again(tmp_path: Path) -> None:
    async def test(made: Pair) -> None:
        made.b_links.handle("lease_list", echo)
        await asked(made)
        (end,) = made.b._transports.values()
        made.b.hang_up(end, "test")
        await made.until(lambda: not made.a._transports)
        assert await asked(made) == "lease_result"

    told(test, tmp_path)


def test_without_reuse_each_errand_has_its_own_connection_and_there_is_one_at_a_time(tmp_path: Path) -> None:
    async def test(made: Pair) -> None:
        most = 0

        async def slow(inbound: Inbound, envelope: Envelope) -> None:
            nonlocal most
            most = max(most, sum(one.transient for one in made.b._transports.values()))
            await asyncio.sleep(0.02)
            await echo(inbound, envelope)

        made.b_links.handle("lease_list", slow)
        plain = FEATURES - {ONE_SHOT_REUSE}
        numbers = made.b._numbers
        before = next(numbers)
        assert await asyncio.gather(*(asked(made, plain) for _ in range(4))) == ["lease_result"] * 4
        assert next(numbers) - before == 5
        await made.until(lambda: made.ends_at_b == 0)

    told(test, tmp_path)


def test_where_reuse_is_agreed_errands_run_side_by_side(tmp_path: Path) -> None:
    async def test(made: Pair) -> None:
        waiting = 0
        together = asyncio.Event()

        async def meet(inbound: Inbound, envelope: Envelope) -> None:
            nonlocal waiting
            waiting += 1
            if waiting == 3:
                together.set()
            await together.wait()
            await echo(inbound, envelope)

        made.b_links.handle("lease_list", meet)
        made.b_links.handle("lease_claim", echo)
        async with made.a_links.one_shot(B) as shot:
            await shot.send("lease_claim", {"request_id": "r"})
            await shot.receive()
        assert await asyncio.gather(*(asked(made) for _ in range(3))) == ["lease_result"] * 3

    told(test, tmp_path)


def test_an_errand_that_is_given_up_takes_its_connection_with_it(tmp_path: Path) -> None:
    async def test(made: Pair) -> None:
        with pytest.raises(TimeoutError):
            async with made.a_links.one_shot(B) as shot:
                await shot.send("lease_list", {"request_id": "r"})
                async with asyncio.timeout(0.05):
                    await shot.receive()
        await made.until(lambda: made.ends_at_b == 0)

    told(test, tmp_path)


def test_a_connection_that_ends_before_the_answer_is_said(tmp_path: Path) -> None:
    async def test(made: Pair) -> None:
        async def cut(inbound: Inbound, envelope: Envelope) -> None:
            (end,) = made.b._transports.values()
            made.b.hang_up(end, "test")

        made.b_links.handle("lease_list", cut)
        with pytest.raises(Unavailable, match="closed the connection before it answered"):
            await asked(made)

    told(test, tmp_path)


def test_each_way_not_to_reach_a_peer_has_its_sentence(tmp_path: Path) -> None:
    async def test(made: Pair) -> None:
        keys = made.a.keys
        with pytest.raises(NotPaired, match="hopline peer pair"):
            await asked_of(made, "nobody-1")
        keys.keep("c-3", KEY)
        with pytest.raises(PeerUnreachable, match="no address of c-3 is known"):
            await asked_of(made, "c-3")
        keys.note_addresses("c-3", [f"127.0.0.1:{made.port}"], 0, seen=False)
        with pytest.raises(PeerDenied, match=f"c-3 is not where it was: .* {B} answered instead"):
            await asked_of(made, "c-3")
        keys.keep(B, bytes(32))
        with pytest.raises(PeerDenied, match=f"{B} at 127.0.0.1:{made.port} refuses our key"):
            await asked_of(made, B)
        made.b._server.close()  # type: ignore[union-attr]  # it listens
        keys.keep(B, KEY)
        with pytest.raises(PeerUnreachable, match="nothing listens there"):
            await asked_of(made, B)

    async def asked_of(made: Pair, peer: str) -> None:
        async with made.a_links.one_shot(peer):
            pass

    told(test, tmp_path)


def test_a_request_is_answered_even_to_one_that_ends_its_stream_at_once(tmp_path: Path) -> None:
    async def test(made: Pair) -> None:
        async def slow(inbound: Inbound, envelope: Envelope) -> None:
            await asyncio.sleep(0.05)
            await echo(inbound, envelope)

        made.b_links.handle("lease_list", slow)
        async with made.a_links.one_shot(B) as shot:
            await shot.send("lease_list", {"request_id": "r"})
            await asyncio.sleep(0)
            shot.transport._flush()
            shot.transport._transport.write_eof()  # type: ignore[union-attr]  # it is open
            async with asyncio.timeout(SECONDS):
                assert (await shot.receive()).msg_type == "lease_result"

    told(test, tmp_path)


def test_a_slow_handler_holds_its_own_connection_back_and_nobody_else(tmp_path: Path) -> None:
    async def test(made: Pair) -> None:
        gate = asyncio.Event()
        taken: list[str] = []

        async def stuck(inbound: Inbound, envelope: Envelope) -> None:
            await gate.wait()
            taken.append(envelope.id)

        made.b_links.handle("lease_claim", stuck)
        made.b_links.handle("lease_list", echo)
        async with made.a_links.one_shot(B) as shot:
            flood = asyncio.ensure_future(flooded(shot.send))
            await asyncio.sleep(0.3)
            assert not flood.done()
            (end,) = [one for one in made.b._transports.values() if one._queue]
            assert sum(len(envelope.payload) for envelope in end._queue) < 8_000_000
            assert await asked(made, FEATURES) == "lease_result"
            gate.set()
            await flood
            await made.until(lambda: len(taken) == 100)
            assert taken == list(dict.fromkeys(taken))

    async def flooded(send: Callable[[str, dict[str, str]], Awaitable[None]]) -> None:
        for _ in range(100):
            await send("lease_claim", {"filler": "x" * 500_000})

    async def relaxed(made: Pair) -> None:
        made.a_links._reusing.add(B)
        await test(made)

    told(relaxed, tmp_path)


def test_a_peer_that_takes_nothing_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(made: Pair) -> None:
        async def deaf(inbound: Inbound, envelope: Envelope) -> None:
            await asyncio.sleep(SECONDS)

        made.b_links.handle("lease_claim", deaf)
        with pytest.raises(Unavailable, match="before all was sent"):
            async with made.a_links.one_shot(B) as shot:
                for _ in range(100):
                    await shot.send("lease_claim", {"filler": "x" * 500_000})
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            if "_work" in repr(task):
                task.cancel()

    monkeypatch.setattr(transport_module, "WRITE_SECONDS", 0.2)
    told(test, tmp_path)


def test_a_handler_that_fails_does_not_end_the_connection(tmp_path: Path) -> None:
    async def test(made: Pair) -> None:
        async def broken(inbound: Inbound, envelope: Envelope) -> None:
            raise ZeroDivisionError

        async def refusing(inbound: Inbound, envelope: Envelope) -> None:
            raise Unavailable("not now.")

        made.b_links.handle("lease_claim", broken)
        made.b_links.handle("lease_release", refusing)
        made.b_links.handle("lease_list", echo)
        async with made.a_links.one_shot(B) as shot:
            for msg_type in ("lease_claim", "lease_release", "knowledge_request", "lease_list"):
                await shot.send(msg_type, {"request_id": "r"})
            assert (await shot.receive()).msg_type == "lease_result"

    told(test, tmp_path)


def test_a_type_has_one_handler(tmp_path: Path) -> None:
    async def test(made: Pair) -> None:
        made.b_links.handle("lease_list", echo)
        with pytest.raises(Misuse):
            made.b_links.handle("lease_list", echo)
        assert not made.b_links.connected(A)
        assert made.b_links.peers() == {A}
        assert not await made.b_links.send(A, "lease_list", {"request_id": "r"})

    told(test, tmp_path)
