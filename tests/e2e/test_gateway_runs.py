"""`hopline web` in front of real runs: the client wire over WebSocket, and what does not get in."""

import asyncio
import json
import os
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_rig import HOPLINE, detached, hopline, wait_for_output, wait_until_over
from page_rig import Web
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

RUN = "0123456789ab"


@pytest.fixture
def web() -> Iterator[Web]:
    served = Web()
    yield served
    served.close()


@asynccontextmanager
async def dialled(web: Web, run: str) -> AsyncIterator[ClientConnection]:
    address = web.url.replace("http", "ws", 1).replace("/?", f"/runs/{run}/ws?")
    if run == "*":
        address = address.replace("/runs/*/ws", "/runs/ws")
    origin: Any = web.origin
    async with asyncio.timeout(20), connect(address, origin=origin, max_size=None, proxy=None) as peer:
        yield peer


async def said(peer: ClientConnection) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(await peer.recv())
    return parsed


async def ask(peer: ClientConnection, kind: str, **fields: Any) -> dict[str, Any]:
    await peer.send(json.dumps({"type": kind, "request_id": kind, "client_id": "me", **fields}))
    return await said(peer)


async def subscribe(peer: ClientConnection, **fields: Any) -> list[dict[str, Any]]:
    """The events up to the sequence that `subscribed` names."""
    subscribed = await ask(peer, "subscribe", **fields)
    assert subscribed["type"] == "subscribed"
    events: list[dict[str, Any]] = []
    through = -1
    while through < subscribed["latest_sequence"]:
        batch = await said(peer)
        assert batch["type"] == "event_batch"
        events += batch["events"]
        through = batch["through_sequence"]
    return events


def written(events: list[dict[str, Any]]) -> str:
    return "".join(event["data"]["content"] for event in events if event["type"] == "subprocess_output")


def test_a_run_is_watched_and_steered_over_its_socket(web: Web) -> None:
    record = detached("--", "cat")

    async def main() -> None:
        async with dialled(web, record["id"]) as watching, dialled(web, record["id"]) as asking:
            await subscribe(watching)
            accepted = await ask(asking, "command.input", text="hello\n")
            assert (accepted["ok"], accepted["client_id"], accepted["ack"]["action"]) == (True, "me", "input")
            while written((await said(watching))["events"]) != "hello\n":
                pass
            delivered = await ask(asking, "command.interrupt")
            assert delivered["ack"] == {"action": "interrupt", "status": "delivered"}
            kinds = set()
            while "run_failed" not in kinds:
                kinds |= {event["type"] for event in (await said(watching))["events"]}
            assert {"worker_signaled", "worker_retired"} <= kinds
            with pytest.raises(ConnectionClosed):
                while True:
                    await watching.recv()
            assert watching.close_code == 1000

    asyncio.run(main())


def test_what_the_wire_refuses_is_refused_alike(web: Web) -> None:
    record = detached("--", "cat")

    async def main() -> None:
        async with dialled(web, record["id"]) as peer:
            heartbeat = await ask(peer, "subscribe", heartbeat_ms=15000)
            assert (heartbeat["ok"], heartbeat["diagnostic"]["code"]) == (False, "invalid_value")
            await peer.send("[" * 100_000)
            assert (await said(peer))["ok"] is False
            await peer.send("not json")
            assert (await said(peer))["request_id"] == "unknown"
            assert (await ask(peer, "query.snapshot"))["ok"] is True

    asyncio.run(main())


def test_a_pretty_printed_request_is_one_message(web: Web) -> None:
    record = detached("--", "cat")

    async def main() -> None:
        async with dialled(web, record["id"]) as peer:
            await peer.send(json.dumps({"type": "query.snapshot", "request_id": "a"}, indent=2))
            assert (await said(peer))["request_id"] == "a"

    asyncio.run(main())


def test_an_ended_run_is_reopened_once_for_everybody_and_its_server_leaves(web: Web) -> None:
    record = detached("--", "sh", "-c", "echo was here")
    wait_until_over(record["id"])

    async def watch() -> str:
        async with dialled(web, record["id"]) as peer:
            events = await subscribe(peer, tail=5)
            refused = await ask_elsewhere()
            assert refused["diagnostic"]["code"] == "run_read_only"
            return written(events)

    async def ask_elsewhere() -> dict[str, Any]:
        async with dialled(web, record["id"]) as peer:
            return await ask(peer, "command.stop")

    async def main() -> None:
        assert await asyncio.gather(*(watch() for _ in range(5))) == ["was here\n"] * 5

    asyncio.run(main())
    # The gateway starts such servers, so it must reap them.
    deadline = 200
    while Path(record["socket_path"]).exists() and deadline:
        deadline -= 1
        asyncio.run(asyncio.sleep(0.05))
    assert not Path(record["socket_path"]).exists()


def test_the_client_journal_over_the_gateway_is_the_servers_byte_for_byte(web: Web) -> None:
    record = detached("--", "sh", "-c", "seq 20000; printf '\\377\\000'; seq 20000 >&2")
    wait_until_over(record["id"])
    stored = hopline("logs", record["id"], "--json").stdout.decode().splitlines()

    async def main() -> list[Any]:
        events: list[Any] = []
        store, cursor = "", 0
        while True:  # a new connection every few frames
            async with dialled(web, record["id"]) as peer:
                subscribed = await ask(peer, "subscribe", after_sequence=cursor, store_id=store)
                for _ in range(2):
                    batch = await said(peer)
                    events += batch["events"]
                    store, cursor = batch["store_id"], batch["through_sequence"]
                    if cursor >= subscribed["latest_sequence"]:
                        return events

    assert asyncio.run(main()) == [json.loads(line) for line in stored]


def test_a_run_nobody_has_is_said_in_band(web: Web) -> None:
    async def main() -> None:
        async with dialled(web, RUN) as peer:
            error = await said(peer)
            assert (error["type"], error["code"]) == ("protocol_error", "not_found")

    asyncio.run(main())


def test_the_listing_tells_of_runs_as_they_come_and_go(web: Web) -> None:
    """WG-LISTING"""

    async def main() -> None:
        async with dialled(web, "*") as peer:
            assert (await said(peer))["full"] is True
            record = await asyncio.to_thread(detached, "--name", "listed", "--", "sh", "-c", "echo x; exit 3")
            rows: dict[str, Any] = {}
            while rows.get(record["id"], {}).get("status") != "failed" or rows[record["id"]]["descendants"] is None:
                frame = await said(peer)
                rows |= {row["id"]: row for row in frame["rows"]}
            row = rows[record["id"]]
            assert (row["name"], row["exit_code"], row["live"]) == ("listed", 3, False)
            assert row["descendants"] == "gone"
            await asyncio.to_thread(hopline, "prune", "--keep", "0", "--yes")
            while record["id"] not in frame["removed"]:
                frame = await said(peer)

    asyncio.run(main())


def test_two_of_a_users_gateways_are_one(web: Web) -> None:
    again = hopline("web", "--json", "--port", "0")
    assert again.returncode == 0
    assert json.loads(again.stdout) == web.record
    spoken = hopline("web", "--no-open")
    assert b"running already" in spoken.stdout
    assert web.url.encode() in spoken.stdout


def test_a_port_that_is_taken_is_said_with_the_next_step() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = hopline("web", "--port", str(taken.getsockname()[1]))
    assert refused.returncode == 1
    assert b"choose another port" in refused.stderr


def test_an_origin_that_is_none_is_a_usage_error() -> None:
    refused = hopline("web", "--port", "0", "--origin", "http://box/path")
    assert refused.returncode == 2
    assert b"--origin" in refused.stderr


def test_the_gateway_listens_on_loopback_only(web: Web) -> None:
    """WG-LOOPBACK"""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        address = probe.getsockname()[0]
    if address.startswith("127."):
        pytest.skip("this machine has no other address")
    with socket.socket() as outside, pytest.raises(OSError, match="refused"):
        outside.connect((address, web.port))


def test_ending_the_gateway_leaves_no_record_and_no_run_hurt(web: Web, private_place: Path) -> None:
    record = detached("--", "sh", "-c", "echo here; cat")
    wait_for_output(record["id"], b"here")
    folder = private_place / "run" / "hopline"
    assert (folder / "web.json").exists()
    assert (folder / "web.key").stat().st_mode & 0o777 == 0o600
    assert web.close() == 0
    assert not (folder / "web.json").exists()
    assert b"running" in hopline("ls").stdout
    web.start()


@pytest.mark.skipif(os.getuid() != 0, reason="needs another user")
def test_another_user_of_the_machine_gets_nothing_with_the_right_token(web: Web) -> None:
    """WG-OWNER"""
    get = f"GET /?token={web.record['token']} HTTP/1.1\\r\\nHost: 127.0.0.1:{web.port}\\r\\n\\r\\n"
    script = (
        "use IO::Socket::INET; my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => "
        f'{web.port}) or die; print $s "{get}"; print while <$s>;'
    )
    answer = subprocess.run(
        ["setpriv", "--reuid=65534", "--clear-groups", "perl", "-e", script],
        capture_output=True,
        timeout=20,
        check=True,
    ).stdout
    assert b"403" in answer.splitlines()[0]
    assert b"you are user 65534" in answer
    assert b"Set-Cookie" not in answer


def test_the_command_line_says_what_web_does() -> None:
    shown = subprocess.run([HOPLINE, "web", "--help"], capture_output=True, text=True, timeout=20, check=True).stdout
    assert "127.0.0.1 only" in shown
