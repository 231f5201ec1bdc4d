"""The Python client against real run servers: the examples, every way to a run, connections that are cut."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cli_rig
import psutil
import pytest
import python_client_examples as examples
from cli_rig import HOPLINE, detached, wait_for_output, wait_until_over
from cutting_dialler import read_cut
from loopback_sshd import LoopbackSshd
from ssh_places import ssh_here

import hopline.client
from hopline.client import Disconnected, Finished, Item, Position, Rebootstrapped, Reconnected, RunEvent, output_of
from hopline.errors import ConnectDenied, Refused, RunGone, Unavailable, UsageError

COUNTING = "i=0; while [ $i -lt {lines} ]; do echo line $i; i=$((i+1)); done"


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackSshd]:
    made = LoopbackSshd(tmp_path_factory.mktemp("sshd"))
    yield made
    made.close()


@pytest.fixture
def gateway(private_place: Path) -> Iterator[dict[str, Any]]:
    """`hopline web` for every run of this place."""
    command = [HOPLINE, "web", "--no-open", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as web:
        assert web.stdout is not None
        try:
            told: dict[str, Any] = json.loads(web.stdout.readline())
            yield told
        finally:
            web.terminate()


def run_socket_url(gateway: dict[str, Any], run_id: str) -> str:
    """The URL of one run's socket behind the gateway."""
    page, _, query = str(gateway["url"]).partition("?")
    return f"{page.rstrip('/')}/runs/{run_id}/ws?{query}"


async def all_items(target: str, **options: Any) -> list[Item]:
    async with hopline.client.open(target) as run:
        return [item async for item in run.events(**options)]


def outputs(items: list[Item]) -> str:
    return "".join(found.content for item in items if isinstance(item, RunEvent) and (found := output_of(item)))


def recorded(run: str) -> list[int]:
    return [json.loads(line)["sequence"] for line in cli_rig.hopline("logs", run, "--json").stdout.splitlines()]


def given(items: list[Item]) -> list[int]:
    return [item.sequence for item in items if isinstance(item, RunEvent)]


def test_watching_shows_the_output_and_the_connection(capsys: pytest.CaptureFixture[str]) -> None:
    record = detached("--", "sh", "-c", "echo one; echo two >&2; exit 3")
    wait_until_over(record["id"])
    asyncio.run(examples.watch(record["id"]))
    told = capsys.readouterr()
    assert sorted(told.out.split()) == ["one", "two"]
    assert told.err.splitlines() == ["connected, 0 events above", "ended"]


def test_a_copy_is_brought_up_to_date_from_where_it_was_left() -> None:
    record = detached("--", "sh", "-c", "echo a; read x; echo b")
    wait_for_output(record["id"], b"a")
    copy: dict[int, str] = {}
    position = asyncio.run(examples.keep_a_copy(record["id"], copy, Position()))
    before = len(copy)
    assert 0 < before == position.sequence
    cli_rig.hopline("send", record["id"], "go")
    wait_until_over(record["id"])
    position = asyncio.run(examples.keep_a_copy(record["id"], copy, position))
    assert list(copy) == recorded(record["id"])
    assert position.sequence == len(copy) > before


def test_a_worker_is_talked_to() -> None:
    worker = "read question; echo the answer is 42; cat > /dev/null; exit 7"
    record = detached("--", "sh", "-c", worker)
    assert asyncio.run(examples.answer(record["id"])) == 7


def test_stopping_tells_what_is_proven() -> None:
    record = detached("--", "sh", "-c", "trap '' INT; echo up; while :; do sleep 0.05; done")
    wait_for_output(record["id"], b"up")
    told = asyncio.run(examples.stop(record["id"]))
    assert told == "interrupt delivered; run stopped, descendants gone"


def test_history_is_paged_back() -> None:
    record = detached("--", "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.01; done")
    last = wait_until_over(record["id"])["last_sequence"]
    events = asyncio.run(examples.page_back(record["id"]))
    assert [event.sequence for event in events] == list(range(max(1, last - 19), last + 1))


def test_every_way_leads_to_the_same_events(
    gateway: dict[str, Any], sshd: LoopbackSshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOPLINE_SSH", ssh_here(sshd))
    record = detached("--name", "four-ways", "--", "sh", "-c", "echo begun; read x; echo done; exit 1")
    wait_for_output(record["id"], b"begun")
    targets = [
        "four-ways",
        record["socket_path"],
        run_socket_url(gateway, record["id"]),
        "ssh://127.0.0.1/four-ways",
    ]

    async def watch_all() -> list[list[Item]]:
        watching = [asyncio.create_task(all_items(target)) for target in targets]
        await asyncio.sleep(0.5)
        async with hopline.client.open(targets[3]) as run:
            assert run.record is not None
            assert run.record.name == "four-ways"
            assert (await run.send("x\n")).status == "delivered"
        return await asyncio.gather(*watching)

    found = asyncio.run(watch_all())
    expected = recorded(record["id"])
    for items in found:
        assert given(items) == expected
        assert outputs(items) == "begun\ndone\n"
        assert isinstance(items[-1], Finished)
        assert items[-1].complete


def test_an_ended_run_is_replayed_from_everywhere(
    gateway: dict[str, Any], sshd: LoopbackSshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOPLINE_SSH", ssh_here(sshd))
    record = detached("--", "echo", "once")
    wait_until_over(record["id"])
    for target in ("@last", run_socket_url(gateway, record["id"]), f"ssh://127.0.0.1/{record['id'][:6]}"):
        assert outputs(asyncio.run(all_items(target, tail=5))) == "once\n"


def test_what_is_not_there_or_not_ours_is_said_by_its_kind(
    gateway: dict[str, Any], sshd: LoopbackSshd, monkeypatch: pytest.MonkeyPatch, private_place: Path
) -> None:
    monkeypatch.setenv("HOPLINE_SSH", ssh_here(sshd))
    url = str(gateway["url"])
    wrong = {
        "nosuch": RunGone,
        "ssh://127.0.0.1/nosuch": RunGone,
        str(private_place / "nosuch.sock"): RunGone,
        run_socket_url(gateway, "0" * 12): RunGone,
        run_socket_url({"url": url.partition("?")[0] + "?token=wrong"}, "0" * 12): ConnectDenied,
        "ws://127.0.0.1:1/ws?token=x": Unavailable,
    }
    for target, kind in wrong.items():
        with pytest.raises(kind) as caught:
            asyncio.run(all_items(target))
        assert type(caught.value) is kind, target
    with pytest.raises(UsageError):
        hopline.client.open("ssh://-oProxyCommand=touch/x")


def test_an_ended_run_takes_no_commands() -> None:
    record = detached("--", "true")
    wait_until_over(record["id"])

    async def interrupt() -> None:
        async with hopline.client.open(record["id"]) as run:
            await run.interrupt()

    with pytest.raises(Refused) as caught:
        asyncio.run(interrupt())
    assert caught.value.code == "run_read_only"


def test_a_run_whose_server_is_killed_is_told_from_one_that_ended() -> None:
    record = detached("--", "sh", "-c", "echo up; sleep 60")
    wait_for_output(record["id"], b"up")

    async def watch() -> list[Item]:
        items: list[Item] = []
        async with hopline.client.open(record["id"]) as run:
            async for item in run.events():
                items.append(item)
                if isinstance(item, RunEvent) and output_of(item):
                    psutil.Process(record["pid"]).kill()
        return items

    items = asyncio.run(watch())
    assert given(items) == recorded(record["id"])
    assert any(isinstance(item, Disconnected) for item in items)
    reconnected = next(item for item in items if isinstance(item, Reconnected))
    assert reconnected.missed_nothing
    assert items[-1] == Finished(Position(len(given(items)), items[-1].position.store_id), complete=False)  # type: ignore[union-attr]  # the last item is Finished


@pytest.mark.parametrize("way", ["gateway", "socket"])
def test_without_its_record_a_run_whose_server_is_killed_is_told_from_a_quiet_one_too(
    way: str, gateway: dict[str, Any]
) -> None:
    record = detached("--", "sh", "-c", "echo up; sleep 60")
    wait_for_output(record["id"], b"up")
    target = run_socket_url(gateway, record["id"]) if way == "gateway" else record["socket_path"]

    async def watch() -> list[Item]:
        items: list[Item] = []
        async with hopline.client.open(target, backoff_seconds=[0.5] * 5) as run, asyncio.timeout(30):
            async for item in run.events():
                items.append(item)
                if isinstance(item, RunEvent) and output_of(item):
                    psutil.Process(record["pid"]).kill()
                if isinstance(item, Disconnected) and way == "socket":
                    await asyncio.to_thread(cli_rig.hopline, "logs", record["id"])  # which reopens it there
        return items

    items = asyncio.run(watch())
    assert given(items) == recorded(record["id"])
    assert any(isinstance(item, Reconnected) and item.missed_nothing for item in items)
    assert isinstance(items[-1], Finished)
    assert not items[-1].complete


def test_a_socket_that_nobody_serves_any_more_is_said_to_be_unreachable() -> None:
    record = detached("--", "sh", "-c", "echo up; sleep 60")
    wait_for_output(record["id"], b"up")

    async def watch() -> None:
        async with hopline.client.open(record["socket_path"], backoff_seconds=[0.1] * 5) as run:
            async for item in run.events():
                if isinstance(item, RunEvent) and output_of(item):
                    psutil.Process(record["pid"]).kill()

    with pytest.raises(Unavailable, match="5 attempts"):
        asyncio.run(watch())


@pytest.mark.parametrize(
    ("way", "cuts", "most_seconds"), [("unix", 150, 0.02), ("websocket", 100, 0.03), ("ssh", 5, 0.3)]
)
def test_however_a_connection_is_cut_each_event_is_given_exactly_once(
    way: str,
    cuts: int,
    most_seconds: float,
    gateway: dict[str, Any],
    sshd: LoopbackSshd,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOPLINE_SSH", ssh_here(sshd))
    lines = 4000
    record = detached("--", "sh", "-c", COUNTING.format(lines=lines) + "; cat")
    targets = {
        "unix": record["id"],
        "websocket": run_socket_url(gateway, record["id"]),
        "ssh": f"ssh://127.0.0.1/{record['id']}",
    }
    items, seed = asyncio.run(read_cut(record["id"], targets[way], cuts, most_seconds))
    assert given(items) == recorded(record["id"]), f"seed {seed}"
    assert outputs(items) == "".join(f"line {number}\n" for number in range(lines))
    assert all(item.missed_nothing for item in items if isinstance(item, Reconnected))
    assert not any(isinstance(item, Rebootstrapped) for item in items)


def test_a_slow_reader_with_a_tail_is_told_what_it_skipped_and_can_fetch_it() -> None:
    record = detached("--", "sh", "-c", "echo up; read x; yes flood | head -c 40000000; sleep 60")
    wait_for_output(record["id"], b"up")

    async def read() -> tuple[Rebootstrapped, list[RunEvent]]:
        async with hopline.client.open(record["id"]) as run, run.events(tail=20) as stream:
            while not isinstance(await anext(stream), RunEvent):
                pass
            await run.send("go\n")
            await asyncio.sleep(1.0)
            async for item in stream:
                if isinstance(item, Rebootstrapped):
                    first = item.before.sequence
                    return item, await run.history(after=first, before=min(item.floor, first + 20) + 1)
        raise AssertionError

    restarted, skipped = asyncio.run(asyncio.wait_for(read(), 30))
    before = restarted.before
    assert restarted.store_id == before.store_id
    assert [event.sequence for event in skipped] == list(range(before.sequence + 1, skipped[-1].sequence + 1))
    assert before.sequence < skipped[-1].sequence <= restarted.floor


def test_importing_the_client_imports_no_asyncio() -> None:
    probe = "import sys, hopline.client; print(sorted({'asyncio', 'websockets', 'textual'} & set(sys.modules)))"
    told = subprocess.run(
        [str(Path(HOPLINE).with_name("python")), "-c", probe], capture_output=True, text=True, timeout=20, check=True
    )
    assert told.stdout == "[]\n"
