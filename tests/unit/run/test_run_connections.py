"""Connections over a real Unix socket on a real journal: roles, order, refusals, a peer that does not read.

Source: docs/wire/client.md, "Connections", "Bootstrap", "Flow control".
"""

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from hopline.errors import Corrupt, Refused
from hopline.journal.journal import Journal
from hopline.journal.port import JournalOptions
from hopline.run.answers import Answers, Controls
from hopline.run.commits import Commits
from hopline.run.connection import serve
from hopline.run.fold import RunFold
from hopline.run.history import MAX_RESPONSE_EVENTS_BYTES
from hopline.run.subscriptions import Subscriptions
from hopline.serve import unix
from hopline.serve.unix import UnixListener, bind
from hopline.wire.client.events import EventEncoder
from hopline.wire.client.responses import Ack

encoder = EventEncoder("r")


class Controlled:
    """A live run that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, object]] = []
        self.gate = asyncio.Event()

    def stop(self, grace_seconds: float | None) -> Ack:
        self.told.append(("stop", grace_seconds))
        return Ack("stop", "pending")

    async def interrupt(self) -> Ack:
        raise Refused("There is no worker: it has ended.", code="worker_ended")

    async def input(self, data: bytes, close: bool) -> Ack:
        self.told.append(("input", (data, close)))
        await self.gate.wait()
        return Ack("input", "accepted")

    def restart(self, grace_seconds: float | None) -> Ack:
        self.told.append(("restart", grace_seconds))
        return Ack("restart", "pending")


class Peer:
    """A frontend on one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, **fields: Any) -> None:
        self.writer.write(json.dumps(fields).encode() + b"\n")

    async def receive(self) -> dict[str, Any]:
        line = await asyncio.wait_for(self.reader.readline(), 5)
        assert line.endswith(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    async def ask(self, **fields: Any) -> dict[str, Any]:
        self.send(**fields)
        return await self.receive()

    async def closed(self) -> bool:
        return await asyncio.wait_for(self.reader.read(), 5) == b""


class Served:
    """A journal behind a listener."""

    def __init__(self, folder: Path, controls: Controls | None) -> None:
        self.folder = folder
        self.commits = Commits(lambda: self.journal.committed_sequence)
        self.journal = Journal.create(
            folder / "journal", "r", JournalOptions(reserve_bytes=0), on_commit=self.commits.notify
        )
        self.subscriptions = Subscriptions(self.journal, "r")
        self.commits.listen(self.subscriptions.wake)
        self.answers = Answers(self.journal, RunFold("r"), self.commits, controls)
        self.peers: list[Peer] = []

    def outputs(self, count: int, text: str = "x") -> None:
        for _ in range(count):
            self.journal.append(encoder.line(self.journal.next_sequence, "t", "output", text=text), kind="output")

    async def committed(self) -> None:
        assert await self.commits.past(self.journal.last_sequence - 1, 5)

    async def connect(self) -> Peer:
        peer = Peer(*await asyncio.open_unix_connection(str(self.folder / "s"), limit=1 << 24))
        self.peers.append(peer)
        return peer


def served(folder: Path, scenario: Callable[[Served], Coroutine[Any, Any, None]], controls: Any = None) -> None:
    async def main() -> None:
        run = Served(folder, controls() if controls else None)
        async with asyncio.TaskGroup() as tasks:
            listener = UnixListener(lambda channel: serve(channel, run.answers, run.subscriptions), tasks)
            await listener.listen(bind(folder / "s"))
            try:
                await asyncio.wait_for(scenario(run), 10)
            finally:
                listener.stop()
                listener.hang_up()
                for peer in run.peers:
                    peer.writer.close()
        for peer in run.peers:
            with contextlib.suppress(OSError):
                await peer.writer.wait_closed()
        run.journal.close()

    asyncio.run(main())


def test_requests_are_answered_in_order_one_response_each(tmp_path: Path) -> None:
    async def scenario(run: Served) -> None:
        peer = await run.connect()
        peer.send(type="query.snapshot", request_id="1", client_id="c")
        peer.send(type="nonsense", request_id="2")
        peer.send(type="query.events", request_id="3")
        answers = [await peer.receive() for _ in range(3)]
        assert [answer["request_id"] for answer in answers] == ["1", "2", "3"]
        assert [answer["ok"] for answer in answers] == [True, False, True]
        assert answers[0]["client_id"] == "c"
        assert answers[0]["snapshot"]["status"] == "starting"
        assert answers[1]["diagnostic"]["code"] == "invalid_value"

    served(tmp_path, scenario)


def test_a_request_that_is_too_large_is_refused_and_the_session_reads_on(tmp_path: Path) -> None:
    async def scenario(run: Served) -> None:
        peer = await run.connect()
        peer.writer.write(b"x" * (1 << 20) + b"x" * 5000 + b"\n")
        refused = await peer.receive()
        assert (refused["request_id"], refused["diagnostic"]["code"]) == ("unknown", "request_too_large")
        assert (await peer.ask(type="query.snapshot"))["ok"]

    served(tmp_path, scenario)


def test_a_subscriber_is_acknowledged_then_given_history_then_what_comes(tmp_path: Path) -> None:
    async def scenario(run: Served) -> None:
        run.outputs(10)
        await run.committed()
        peer = await run.connect()
        acknowledged = await peer.ask(type="subscribe", request_id="q", client_id="c")
        assert acknowledged == {
            "type": "subscribed",
            "request_id": "q",
            "client_id": "c",
            "run_id": "r",
            "latest_sequence": 10,
        }
        first = await peer.receive()
        assert [event["sequence"] for event in first["events"]] == list(range(1, 11))
        run.outputs(3)
        got: list[int] = []
        while len(got) < 3:
            got += [event["sequence"] for event in (await peer.receive())["events"]]
        assert got == [11, 12, 13]

    served(tmp_path, scenario)


def test_the_heartbeat_field_is_refused_and_the_connection_stays(tmp_path: Path) -> None:
    async def scenario(run: Served) -> None:
        peer = await run.connect()
        refused = await peer.ask(type="subscribe", after_sequence=0, heartbeat_ms=15000)
        assert refused["ok"] is False and "type" not in refused
        assert (await peer.ask(type="subscribe"))["type"] == "subscribed"

    served(tmp_path, scenario)


def test_a_replay_that_fails_is_acknowledged_then_an_error_in_band_then_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(run: Served) -> None:
        def broken(*_: object, **__: object) -> None:
            raise Corrupt("segment 1 is unreadable")

        monkeypatch.setattr(run.journal, "read", broken)
        peer = await run.connect()
        assert (await peer.ask(type="subscribe", request_id="q"))["type"] == "subscribed"
        error = await peer.receive()
        assert (error["type"], error["code"], error["request_id"]) == ("protocol_error", "stream_failed", "q")
        assert error["message"] == error["diagnostic"]["summary"]
        assert await peer.closed()

    served(tmp_path, scenario)


def test_a_bootstrap_that_fails_is_acknowledged_first_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(run: Served) -> None:
        run.outputs(5)
        await run.committed()
        monkeypatch.setattr(run.journal, "spine", lambda through: (_ for _ in ()).throw(OSError("no such file")))
        peer = await run.connect()
        assert (await peer.ask(type="subscribe", tail=2))["type"] == "subscribed"
        assert (await peer.receive())["code"] == "stream_failed"
        assert await peer.closed()

    served(tmp_path, scenario)


def test_bursts_are_coalesced_into_no_more_batches_than_bursts(tmp_path: Path) -> None:
    async def scenario(run: Served) -> None:
        peer = await run.connect()
        await peer.ask(type="subscribe")
        assert (await peer.receive())["events"] == []
        for _ in range(10):
            run.outputs(10)
            await run.committed()
        batches, got = 0, 0
        while got < 100:
            got += len((await peer.receive())["events"])
            batches += 1
        assert got == 100 and batches <= 10

    served(tmp_path, scenario)


def test_a_subscriber_that_does_not_read_holds_up_only_itself_and_loses_nothing(tmp_path: Path) -> None:
    async def scenario(run: Served) -> None:
        frozen, lively = await run.connect(), await run.connect()
        frozen.writer.transport.pause_reading()
        for peer in (frozen, lively):
            peer.send(type="subscribe")
        got = 0
        for _ in range(60):
            run.outputs(10, "y" * 10_000)
            await run.committed()
        while got < 600:
            message = await lively.receive()
            got += len(message.get("events", ()))
        held = max(channel.channel.unsent_bytes() for channel in run.subscriptions._subscribers)
        assert held <= (1 << 20) + unix.HIGH_WATER_BYTES
        frozen.writer.transport.resume_reading()
        seen: list[int] = []
        while len(seen) < 600:
            seen += [event["sequence"] for event in (await frozen.receive()).get("events", ())]
        assert seen == list(range(1, 601))

    served(tmp_path, scenario)


def test_a_subscriber_that_leaves_is_forgotten(tmp_path: Path) -> None:
    async def scenario(run: Served) -> None:
        peer = await run.connect()
        await peer.ask(type="subscribe")
        assert run.subscriptions.count == 1
        peer.writer.close()
        deadline = time.monotonic() + 5
        while run.subscriptions.count:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.005)

    served(tmp_path, scenario)


def test_a_peer_that_hangs_up_before_its_response_ends_only_its_own_session(tmp_path: Path) -> None:
    async def scenario(run: Served) -> None:
        for _ in range(5):
            peer = await run.connect()
            for _ in range(20):
                peer.send(type="query.snapshot")
            await peer.writer.drain()
            peer.writer.transport.abort()
        assert (await (await run.connect()).ask(type="query.snapshot"))["ok"]

    served(tmp_path, scenario)


def test_what_was_asked_before_a_half_close_is_answered(tmp_path: Path) -> None:
    async def scenario(run: Served) -> None:
        peer = await run.connect()
        peer.send(type="query.snapshot", request_id="1")
        peer.writer.write_eof()
        assert (await peer.receive())["request_id"] == "1"
        assert await peer.closed()

    served(tmp_path, scenario)


def test_events_are_bounded_by_both_cursors(tmp_path: Path) -> None:
    async def scenario(run: Served) -> None:
        run.outputs(20)
        await run.committed()
        peer = await run.connect()
        found = await peer.ask(type="query.events", after_sequence=5, before_sequence=9)
        assert [event["sequence"] for event in found["events"]] == [6, 7, 8]
        assert (await peer.ask(type="query.events", after_sequence=20))["events"] == []
        assert (await peer.ask(type="query.events", after_sequence=8, before_sequence=9))["events"] == []

    served(tmp_path, scenario)


def test_a_response_holds_a_bounded_part_of_the_events_oldest_first(tmp_path: Path) -> None:
    async def scenario(run: Served) -> None:
        run.outputs(60, "z" * 100_000)
        await run.committed()
        peer = await run.connect()
        after, asked = 0, 0
        while after < 60:
            found = (await peer.ask(type="query.events", after_sequence=after))["events"]
            assert len(json.dumps(found)) < MAX_RESPONSE_EVENTS_BYTES + 100_000
            assert [event["sequence"] for event in found] == list(range(after + 1, after + 1 + len(found)))
            after, asked = found[-1]["sequence"], asked + 1
        assert asked > 1

    served(tmp_path, scenario)


def test_a_long_poll_waits_for_the_first_event_past_its_cursor(tmp_path: Path) -> None:
    async def scenario(run: Served) -> None:
        run.outputs(2)
        await run.committed()
        peer = await run.connect()
        peer.send(type="query.events", after_sequence=2, timeout_ms=30_000)
        await asyncio.sleep(0)
        run.outputs(1)
        assert [event["sequence"] for event in (await peer.receive())["events"]] == [3]
        assert (await peer.ask(type="query.events", after_sequence=3, timeout_ms=20))["events"] == []
        bounded = await peer.ask(type="query.events", after_sequence=3, before_sequence=4, timeout_ms=30_000)
        assert bounded["events"] == []

    served(tmp_path, scenario)


def test_commands_reach_the_run(tmp_path: Path) -> None:
    controlled: list[Controlled] = []

    def controls() -> Controlled:
        controlled.append(Controlled())
        return controlled[0]

    async def scenario(run: Served) -> None:
        peer = await run.connect()
        assert (await peer.ask(type="command.stop", grace_ms=1500))["ack"] == {"action": "stop", "status": "pending"}
        assert (await peer.ask(type="command.restart"))["ack"] == {"action": "restart", "status": "pending"}
        assert controlled[0].told == [("stop", 1.5), ("restart", None)]

    served(tmp_path, scenario, controls)


def test_a_command_that_is_not_possible_says_why_with_its_code(tmp_path: Path) -> None:
    async def scenario(run: Served) -> None:
        refused = await (await run.connect()).ask(type="command.interrupt", request_id="q")
        assert (refused["ok"], refused["request_id"]) == (False, "q")
        assert refused["diagnostic"]["code"] == "worker_ended"
        assert refused["error"] == "There is no worker: it has ended."

    served(tmp_path, scenario, Controlled)


def test_input_that_waits_for_room_holds_up_only_its_own_connection(tmp_path: Path) -> None:
    controlled: list[Controlled] = []

    def controls() -> Controlled:
        controlled.append(Controlled())
        return controlled[0]

    async def scenario(run: Served) -> None:
        feeding, steering = await run.connect(), await run.connect()
        feeding.send(type="command.input", text="hi", request_id="slow")
        feeding.send(type="query.snapshot", request_id="behind")
        assert (await steering.ask(type="command.stop"))["ok"]
        assert controlled[0].told == [("input", (b"hi", False)), ("stop", None)]
        controlled[0].gate.set()
        assert [(await feeding.receive())["request_id"] for _ in range(2)] == ["slow", "behind"]

    served(tmp_path, scenario, controls)


@pytest.mark.parametrize("kind", ["stop", "interrupt", "restart"])
def test_a_run_that_only_serves_its_record_refuses_commands(tmp_path: Path, kind: str) -> None:
    async def scenario(run: Served) -> None:
        peer = await run.connect()
        refused = await peer.ask(type=f"command.{kind}")
        assert refused["diagnostic"]["code"] == "run_read_only"
        assert (await peer.ask(type="query.snapshot"))["ok"]

    served(tmp_path, scenario)


def test_one_connection_too_many_is_told_so_and_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unix, "MAX_CONNECTIONS", 2)

    async def scenario(run: Served) -> None:
        for _ in range(2):
            assert (await (await run.connect()).ask(type="query.snapshot"))["ok"]
        refused = await run.connect()
        assert (await refused.receive())["diagnostic"]["code"] == "too_many_connections"
        assert await refused.closed()

    served(tmp_path, scenario)


def test_the_socket_is_for_its_owner_only_and_replaces_a_stale_one(tmp_path: Path) -> None:
    (tmp_path / "s").touch()
    bound = bind(tmp_path / "s")
    assert (tmp_path / "s").stat().st_mode & 0o777 == 0o600
    bound.close()
