"""A run's events in memory first and in the journal later, while people watch (docs/wire/client.md, "Stores")."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hopline.errors import Misuse, Refused, Unavailable
from hopline.ids import RunId
from hopline.journal.journal import Journal
from hopline.journal.port import JournalOptions
from hopline.records import RunSpec
from hopline.run import scratch
from hopline.run.answers import Answers
from hopline.run.commits import Commits
from hopline.run.connection import serve
from hopline.run.folder import made_aside
from hopline.run.places import RunPlaces
from hopline.run.recorder import Recorder, first_record
from hopline.run.scratch import ScratchStore
from hopline.run.server import RunServer
from hopline.run.status import Move
from hopline.run.store import RunStore
from hopline.run.subscriptions import Subscriptions
from hopline.serve.memory import MemoryClient, MemoryListener
from hopline.wire.client.events import EventEncoder, renumbered, sequence_of
from hopline.wire.client.payloads import RunStarted

encoder = EventEncoder("r")
OPTIONS = JournalOptions(reserve_bytes=0)


class Watched:
    """A run that is served from memory, with watchers."""

    def __init__(self, folder: Path, tasks: asyncio.TaskGroup) -> None:
        self.folder = folder
        self.commits = Commits(lambda: self.store.committed_sequence)
        self.store = RunStore("r", self.commits.notify)
        spec = RunSpec(id=RunId("r"), name="n", command=["c"], cwd="/")
        self.recorder = Recorder(self.store, first_record(spec, folder, "s"))
        self.subscriptions = Subscriptions(self.store, "r", self.recorder.fold)
        self.commits.listen(self.subscriptions.wake)
        self.answers = Answers(self.store, self.recorder.fold, self.commits, None)
        self.listener = MemoryListener(lambda channel: serve(channel, self.answers, self.subscriptions), tasks)
        self.journal: Journal | None = None

    def attach(self, store_id: str = "", earlier: int = 0) -> Journal:
        journal = Journal.create(self.folder / "journal", "r", OPTIONS, self.commits.notify, store_id=store_id)
        self.journal = journal
        for _ in range(earlier):
            data = RunStarted(input="before", outer_loop="search")
            journal.append(encoder.line(journal.next_sequence, "t", "run_started", data=data), kind="run_started")
        while journal.committed_sequence < earlier:
            pass
        self.recorder.attach(self.store, journal)
        return journal

    async def watch(self, **fields: Any) -> "Watcher":
        client = self.listener.connect()
        await client.send(json.dumps({"type": "subscribe", **fields}).encode())
        watcher = Watcher(client)
        watcher.subscribed = await watcher.message()
        return watcher


class Watcher:
    """A frontend that folds what it is given."""

    def __init__(self, client: MemoryClient) -> None:
        self.client = client
        self.subscribed: dict[str, Any] = {}
        self.batches: list[dict[str, Any]] = []
        self.seen: list[int] = []

    async def message(self) -> dict[str, Any]:
        found = await asyncio.wait_for(self.client.receive(), 5)
        assert found is not None
        told: dict[str, Any] = json.loads(found)
        return told

    async def until(self, sequence: int) -> None:
        while not self.batches or self.batches[-1]["through_sequence"] < sequence:
            batch = await self.message()
            assert batch["type"] == "event_batch"
            if batch["rebootstrap"]:
                self.seen = []
            self.batches.append(batch)
            self.seen += [event["sequence"] for event in batch["events"]]


def watched(folder: Path, scenario: Callable[[Watched], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.TaskGroup() as tasks:
            run = Watched(folder, tasks)
            try:
                await scenario(run)
            finally:
                run.listener.stop()
                run.listener.hang_up()
                if run.journal is not None:
                    run.journal.close()

    asyncio.run(main())


def test_an_empty_journal_goes_on_with_the_store_and_nobody_notices(tmp_path: Path) -> None:
    async def scenario(run: Watched) -> None:
        run.recorder.event("server_started")
        watcher = await run.watch()
        await watcher.until(1)
        store_id = watcher.batches[0]["store_id"]
        assert store_id == run.store.store_id
        journal = run.attach(store_id)
        assert run.store.committed_sequence >= 1
        run.recorder.move(Move.ATTACH)
        await watcher.until(2)
        assert watcher.seen == [1, 2]
        assert not any(batch["rebootstrap"] for batch in watcher.batches)
        assert {batch["store_id"] for batch in watcher.batches} == {store_id}
        again = await run.watch(after_sequence=1, store_id=store_id)
        await again.until(2)
        assert again.seen == [2] and journal.read(0).count == 2
        assert run.store.size_bytes == journal.size_bytes
        assert run.store.damage == [] and run.store.room()

    watched(tmp_path, scenario)


@pytest.mark.parametrize("asked", [{}, {"tail": 10}, {"after_sequence": 0, "store_id": "elsewhere"}])
def test_a_journal_that_holds_events_gets_them_behind_its_own_and_watchers_start_over(
    tmp_path: Path, asked: dict[str, Any]
) -> None:
    async def scenario(run: Watched) -> None:
        run.recorder.event("server_started")
        watcher = await run.watch(**asked)
        await watcher.until(1)
        journal = run.attach(earlier=3)
        run.recorder.move(Move.ATTACH)
        await watcher.until(5)
        assert watcher.seen == [1, 2, 3, 4, 5]
        marked = [batch for batch in watcher.batches if batch["rebootstrap"]]
        assert len(marked) == 1 and marked[0]["store_id"] == journal.store_id
        assert watcher.batches[-1]["store_id"] == journal.store_id
        kinds = [json.loads(line)["type"] for line in journal.read(0).data.splitlines()]
        assert kinds == ["run_started"] * 3 + ["server_started", "run_status_changed"]
        snapshot = run.recorder.fold.snapshot(5)
        assert snapshot.status == "running"
        assert run.recorder.fold.facts.command == "before"

    watched(tmp_path, scenario)


def test_a_waiter_is_woken_by_the_swap(tmp_path: Path) -> None:
    async def scenario(run: Watched) -> None:
        run.recorder.event("server_started")
        waiting = asyncio.ensure_future(run.commits.past(2, 5))
        await asyncio.sleep(0)
        run.attach(earlier=3)
        assert await waiting

    watched(tmp_path, scenario)


def test_memory_reads_as_a_journal_does() -> None:
    store = ScratchStore("r")
    assert store.read(0).count == 0
    for kind in ("server_started", "run_started", "control"):
        store.append(encoder.line(store.next_sequence, "t", kind), kind=kind)
    assert (store.first_sequence, store.last_sequence, store.committed_sequence) == (1, 3, 3)
    found = store.read(0)
    assert (found.first, found.last, found.count) == (1, 3, 3)
    assert store.size_bytes == len(found.data)
    assert store.read(0, max_bytes=1).last == 1
    assert store.read(1, before=3).last == 2
    assert [sequence_of(line) for line in store.spine(3)] == [2]


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "MAX_SCRATCH_BYTES", 300)
    store = ScratchStore("r")
    store.append(encoder.line(1, "t", "control"), kind="control")
    with pytest.raises(Refused, match="memory is full"):
        store.append(encoder.line(2, "t", "control"), kind="control")


def test_a_line_keeps_everything_but_its_number() -> None:
    line = encoder.line(9, "t", "control", text='"sequence":9')
    assert renumbered(line, 9) is line
    assert renumbered(line, 12345) == encoder.line(12345, "t", "control", text='"sequence":9')


def test_what_is_made_aside_comes_back_or_raises() -> None:
    async def main() -> None:
        assert await made_aside(lambda: 7) == 7
        with pytest.raises(Unavailable):
            await made_aside(_refuse)
        gate = threading.Event()
        waiting = asyncio.ensure_future(made_aside(gate.wait))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        gate.set()
        await asyncio.sleep(0.05)

    asyncio.run(main())


def _refuse() -> None:
    raise Unavailable("no")


class SlowPlaces(RunPlaces):
    """A state folder that answers when it is let."""

    def __init__(self, run_id: str) -> None:
        super().__init__(run_id)
        self.gate = threading.Event()

    def claim_folder(self) -> None:
        self.gate.wait(10)
        super().claim_folder()


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SlowPlaces:
    (tmp_path / "r").mkdir(mode=0o700)
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "r"))
    return SlowPlaces("bbbbbbbbbbbb")


SPEC = RunSpec(id=RunId("bbbbbbbbbbbb"), name="n", command=["true"], cwd="/", journal_reserve=0)


def test_a_run_is_served_before_its_state_folder_answers(places: SlowPlaces) -> None:
    async def main() -> None:
        server = RunServer(SPEC, places)
        with pytest.raises(Unavailable):
            server.connect()
        started: list[str] = []
        running = asyncio.ensure_future(server.run(lambda record: started.append(record.status)))
        await asyncio.sleep(0)
        assert places.socket_path is not None
        reader, writer = await asyncio.open_unix_connection(str(places.socket_path))
        writer.write(b'{"type":"subscribe"}\n')
        assert json.loads(await reader.readline())["latest_sequence"] == 1
        first = json.loads(await reader.readline())
        assert [event["type"] for event in first["events"]] == ["server_started"]
        inside = server.connect()
        await inside.send(b'{"type":"query.snapshot"}')
        assert json.loads(await inside.receive() or b"")["snapshot"]["status"] == "starting"
        assert not started and not places.folder.exists()
        places.gate.set()
        kinds: list[str] = []
        while "run_finished" not in kinds:
            batch = json.loads(await reader.readline())
            assert batch["store_id"] == first["store_id"] and not batch["rebootstrap"]
            kinds += [event["type"] for event in batch["events"]]
        writer.close()
        await running
        assert started == ["running"]
        assert kinds[:2] == ["run_started", "run_status_changed"]
        stored = json.loads((places.folder / "journal" / "store.json").read_bytes())
        assert stored["store_id"] == first["store_id"]

    asyncio.run(main())


def test_a_run_that_is_ended_before_its_folder_answers_leaves_nothing(places: SlowPlaces) -> None:
    import os
    import signal

    async def main() -> None:
        server = RunServer(SPEC, places)
        running = asyncio.ensure_future(server.run(lambda record: None))
        await asyncio.sleep(0.02)
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(Unavailable, match="before its state folder"):
            await running
        assert places.socket_path is not None and not places.socket_path.exists()

    asyncio.run(main())
    places.undo()


def test_a_folder_that_refuses_ends_the_start(places: SlowPlaces) -> None:
    places.folder.mkdir(parents=True)
    places.gate.set()

    async def main() -> None:
        with pytest.raises(Refused, match="there is a run"):
            await RunServer(SPEC, places).run(lambda record: None)

    asyncio.run(main())
    places.undo()


def test_an_event_goes_to_the_journal_once_it_is_attached(tmp_path: Path) -> None:
    async def scenario(run: Watched) -> None:
        journal = run.attach(run.store.store_id)
        with pytest.raises(Misuse):
            journal.append(encoder.line(9, "t", "control"), kind="control")
        assert run.recorder.event("control") == 1 == run.store.last_sequence
        assert run.store.next_sequence == 2 and run.store.first_sequence == 1
        assert run.store.spine(1) == []

    watched(tmp_path, scenario)
