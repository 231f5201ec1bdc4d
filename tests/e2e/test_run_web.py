"""`hopline run --web`: one run's page and its wire over WebSocket, from the run's own server."""

import asyncio
import json
import signal
import socket
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from cli_rig import Terminal, detached, hopline, one_sentence, wait_until_over
from page_rig import Watched, chromium
from run_servers import ENDS, Reopened, RunningServer, eventually
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from hopline.client import open as hopline_open


def dial(url: str, path: str = "/ws", token: str | None = None, origin: Any = None) -> connect:
    """A WebSocket to the gateway whose page is at `url`, with its own token and origin unless others are given."""
    place, own = urlsplit(url).netloc, parse_qs(urlsplit(url).query)["token"][0]
    query = f"?token={own if token is None else token}" if token != "" else ""
    return connect(f"ws://{place}{path}{query}", origin=origin or f"http://{place}", max_size=None, proxy=None)


async def said(peer: ClientConnection) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(await peer.recv())
    return parsed


async def ask(peer: ClientConnection, kind: str, **fields: Any) -> dict[str, Any]:
    await peer.send(json.dumps({"type": kind, "request_id": kind, **fields}))
    return await said(peer)


async def events_until(peer: ClientConnection, *kinds: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while not any(event["type"] in kinds for event in found):
        found += (await said(peer))["events"]
    return found


def status_of(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code


def test_a_run_is_followed_through_its_gateway_and_its_socket_at_once_and_each_is_told_apart() -> None:
    served = RunningServer("cat", web=True)

    async def main() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        url = served.record["url"]
        async with asyncio.timeout(20), dial(url) as watching, dial(url) as asking:
            assert (await ask(watching, "subscribe", client_id="page"))["client_id"] == "page"
            with served.dial() as beside, served.dial() as typing:
                assert beside.subscribe(client_id="shell")["client_id"] == "shell"
                sent = await ask(asking, "command.input", client_id="page", text="from the page\n")
                assert (sent["ok"], sent["client_id"]) == (True, "page")
                typed = typing.ask(type="command.input", client_id="shell", text="from the shell\n")
                assert (typed["ok"], typed["client_id"]) == (True, "shell")
                assert typing.ask(type="command.input", client_id="shell", close=True)["ok"]
                over_socket = beside.events_until(*ENDS)
                return await events_until(watching, *ENDS), over_socket

    over_gateway, over_socket = asyncio.run(main())
    assert over_gateway == over_socket
    text = "".join(event["data"]["content"] for event in over_gateway if event["type"] == "subprocess_output")
    assert text == "from the page\nfrom the shell\n"
    assert served.leaves() == 0


def test_a_detached_run_tells_the_url_of_its_page_in_its_record_and_nowhere_after_its_end() -> None:
    record = detached("--web", "--", "cat")
    url = record["url"]
    assert urlsplit(url).fragment == f"/runs/{record['id']}"
    assert status_of(url.partition("#")[0]) == 200
    assert json.loads(hopline("ls", "--json").stdout)["instances"][0]["url"] == url
    file = Path(record["journal"]).parent / "record.json"
    assert file.stat().st_mode & 0o777 == 0o600
    hopline("send", record["id"], "--eof")
    wait_until_over(record["id"])
    eventually(lambda: json.loads(file.read_bytes())["url"] is None)


def test_without_its_token_the_gateway_of_a_run_gives_nothing() -> None:
    url = detached("--web", "--", "cat")["url"]
    bare = url.partition("?")[0]
    assert [status_of(f"{bare}{path}") for path in ("", "health", "ws", "nowhere")] == [403, 403, 403, 404]

    async def main() -> None:
        for token in ("", "wrong"):
            with pytest.raises(InvalidStatus) as refusal:
                await dial(url, token=token)
            assert refusal.value.response.status_code == 403

    asyncio.run(main())


def test_the_page_finds_its_one_run_in_the_listing_and_no_other() -> None:
    other = detached("--", "cat")
    record = detached("--web", "--", "cat")

    async def main() -> None:
        async with asyncio.timeout(20):
            async with dial(record["url"], "/runs/ws") as peer:
                rows: list[dict[str, Any]] = []
                while not rows:
                    rows += (await said(peer))["rows"]
                assert [row["id"] for row in rows] == [record["id"]]
            async with dial(record["url"], f"/runs/{record['id']}/ws") as peer:
                assert (await ask(peer, "query.snapshot"))["snapshot"]["run_id"] == record["id"]
            with pytest.raises(InvalidStatus) as refusal:
                await dial(record["url"], f"/runs/{other['id']}/ws")
            assert refusal.value.response.status_code == 404

    asyncio.run(main())


def test_a_run_that_is_over_stays_until_a_page_has_everything_and_then_leaves() -> None:
    served = RunningServer("sh", "-c", "read -r go; seq 1000000", web=True)

    async def main() -> None:
        async with asyncio.timeout(30), dial(served.record["url"]) as peer:
            await ask(peer, "subscribe")
            with served.dial() as steering:
                steering.ask(type="command.input", text="go\n")
            peer.transport.pause_reading()
            await asyncio.to_thread(eventually, lambda: served.record_now()["ended_at"] is not None)
            await asyncio.sleep(3.5)  # longer than one that has everything may stay, and a gateway may close
            assert served.process.poll() is None
            peer.transport.resume_reading()
            events = await events_until(peer, *ENDS)
            with pytest.raises(ConnectionClosed):
                while True:
                    await peer.recv()
            assert peer.close_code == 1001
            lines = "".join(event["data"]["content"] for event in events if event["type"] == "subprocess_output")
            assert lines.split() == [str(number) for number in range(1, 1_000_001)]

    asyncio.run(main())
    assert served.leaves() == 0


def test_a_page_that_does_not_answer_holds_up_a_signalled_server_for_its_bound_only() -> None:
    served = RunningServer("cat", web=True)

    async def main() -> None:
        async with asyncio.timeout(20), dial(served.record["url"]) as peer:
            await ask(peer, "subscribe")
            peer.transport.pause_reading()
            served.process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(served.leaves) == 0
            peer.transport.abort()

    asyncio.run(main())


def test_a_port_that_is_taken_is_one_sentence_and_leaves_nothing(private_place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = hopline("run", "--web", "--port", port, "--", "touch", str(private_place / "mark"))
    assert "choose another port" in one_sentence(refused, 1)
    assert not (private_place / "mark").exists()
    assert list((private_place / "home" / "runs").iterdir()) == []
    assert json.loads(hopline("ls", "--json").stdout)["instances"] == []


@pytest.mark.parametrize("option", [("--port", "0"), ("--origin", "http://localhost:9000")])
def test_what_is_for_a_page_is_a_usage_error_without_one(option: tuple[str, str]) -> None:
    assert "--web" in one_sentence(hopline("run", *option, "--", "true"), 2)


def test_an_origin_that_is_none_is_a_usage_error_and_starts_nothing(private_place: Path) -> None:
    refused = hopline("run", "--web", "--origin", "localhost", "--", "touch", str(private_place / "mark"))
    assert "no web origin" in one_sentence(refused, 2)
    assert not (private_place / "mark").exists()


def test_an_origin_that_was_added_may_reach_the_run_and_no_other_may() -> None:
    url = detached("--web", "--origin", "HTTP://Localhost:9000", "--", "cat")["url"]

    async def main() -> None:
        async with asyncio.timeout(20), dial(url, origin="http://localhost:9000") as peer:
            assert (await ask(peer, "query.snapshot"))["ok"]
        with pytest.raises(InvalidStatus) as refusal:
            await dial(url, origin="http://localhost:9001")
        assert refusal.value.response.status_code == 403

    asyncio.run(main())


def test_a_run_that_is_over_and_reopened_has_no_page_of_its_own() -> None:
    record = detached("--web", "--", "true")
    wait_until_over(record["id"])
    eventually(lambda: not Path(record["socket_path"]).exists())
    view = Reopened(record["id"])
    assert view.report["record"]["url"] is None
    with view.dial() as peer:
        assert peer.ask(type="query.snapshot")["ok"]
    assert view.process.wait(10) == 0


def test_an_attached_run_prints_the_url_of_its_page_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ran = hopline("run", "--web", "--port", str(port), "--", "echo", "hello")
    assert (ran.returncode, ran.stdout) == (0, b"hello\n")
    assert ran.stderr.count(f"http://127.0.0.1:{port}/?token=".encode()) == 1
    with Terminal("run", "--web", "--", "cat") as terminal:
        terminal.read_until(b"http://127.0.0.1:")
        terminal.type(b"\x04")
        terminal.finish()
    assert terminal.received.count(b"?token=") == 1


def test_a_rotated_token_is_the_one_in_the_record() -> None:
    record = detached("--web", "--", "cat")
    place, _, token = record["url"].partition("#")[0].partition("?token=")
    asked = urllib.request.Request(
        f"{place}_hopline/rotate-capability?token={token}", headers={"X-Hopline-Rotate-Capability": "1"}
    )
    with urllib.request.urlopen(asked, timeout=10) as answer:
        assert answer.read() == b"hopline-capability-rotated\n"
    fresh = json.loads(hopline("ls", "--json").stdout)["instances"][0]["url"]
    assert (status_of(record["url"].partition("#")[0]), status_of(fresh.partition("#")[0])) == (403, 200)


def test_a_run_without_a_page_loads_no_library_for_one() -> None:
    for web in (False, True):
        served = RunningServer("cat", web=web)
        assert (served.record["url"] is not None) == web
        loaded = Path(f"/proc/{served.process.pid}/maps").read_text()
        assert ("/websockets/" in loaded) == web
        with served.dial() as peer:
            peer.ask(type="command.stop")
        assert served.leaves() == 0


@pytest.mark.timeout(120)
def test_the_url_opens_the_run_itself_live_and_steered_in_a_browser() -> None:
    record = detached("--web", "--", "sh", "-c", "echo ready; read -r line; echo got $line; cat")
    with chromium() as browser:
        watched = Watched(browser.new_page())
        watched.page.goto(record["url"])
        watched.page.wait_for_selector(".run-bar")
        watched.wait_for_output("ready")
        assert "token" not in watched.page.url
        hopline("send", record["id"], "hello")
        watched.wait_for_output("got hello")
        watched.page.goto(watched.page.url.partition("#")[0])
        watched.page.wait_for_selector("a.run")
        assert watched.locator("a.run").count() == 1
        assert watched.complaints == []


def test_the_url_is_a_target_of_the_python_client() -> None:
    record = detached("--web", "--", "cat")

    async def main() -> str:
        async with asyncio.timeout(20), hopline_open(record["url"]) as run:
            return (await run.snapshot()).run_id

    assert asyncio.run(main()) == record["id"]
