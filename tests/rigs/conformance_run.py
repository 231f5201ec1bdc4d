"""The run behind a scenario: a real journal, real answers and streams, a real listener; only the worker is not one.

What a scenario can do to it is here: publish one by one or atomically, name its store, make its replay fail, be a
server that does not know a field.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from conformance_corpus import corpus
from conformance_format import Executions, Setup
from run_fakes import FakeWorker

from hopline.errors import Corrupt
from hopline.journal.journal import Journal
from hopline.journal.port import JournalOptions, Slice
from hopline.records import RunRecord
from hopline.run.answers import Answers
from hopline.run.channel import Channel
from hopline.run.commits import Commits
from hopline.run.connection import serve
from hopline.run.controller import Controller
from hopline.run.fold import FOLDED
from hopline.run.generation import Generation, Handle
from hopline.run.recorder import Recorder
from hopline.run.status import Move
from hopline.run.store import RunStore
from hopline.run.subscriptions import Subscriptions
from hopline.serve.memory import MemoryListener
from hopline.serve.unix import UnixListener, bind
from hopline.wire.client import requests, session
from hopline.wire.client.events import EventEncoder, RunEvent, sequence_of
from hopline.wire.worker.messages import WorkerExited

RUN_ID = "0123456789ab"
STAMP = "2026-01-01T00:00:00Z"


class ScenarioStore:
    """A run's store that does as a scenario says; what it does not say is the store's own."""

    def __init__(self, store: Journal | RunStore) -> None:
        self.store = store
        self.name = ""
        self.failing = False
        self._held_at: int | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    @property
    def store_id(self) -> str:
        return self.name or self.store.store_id

    @property
    def committed_sequence(self) -> int:
        return self.store.committed_sequence if self._held_at is None else self._held_at

    def read(self, after: int, *, before: int | None = None, max_bytes: int = 1 << 20) -> Slice:
        if self.failing:
            raise Corrupt("segment 1 cannot be read")
        end = self.committed_sequence + 1
        return self.store.read(after, before=min(before or end, end), max_bytes=max_bytes)

    @contextmanager
    def held(self) -> Iterator[None]:
        """What is committed meanwhile is seen at once at the end."""
        self._held_at = self.store.committed_sequence
        try:
            yield
        finally:
            self._held_at = None


class ScriptedWorker(FakeWorker):
    """A worker whose input can be kept waiting for room."""

    def __init__(self, generation: Generation) -> None:
        super().__init__(generation)
        self.room = asyncio.Event()
        self.room.set()

    async def send_input(self, data: bytes) -> bool:
        await self.room.wait()
        return await super().send_input(data)

    async def close_input(self) -> None:
        await self.room.wait()
        await super().close_input()

    def retire(self, grace_seconds: float) -> None:
        super().retire(grace_seconds)
        asyncio.get_running_loop().call_soon(self.exit, 0)

    def exit(self, code: int) -> None:
        """Leave, once."""
        if not self._ended.done():
            self.end(WorkerExited(code))


class ScenarioRun:
    """One run in this process, listening at `folder`/s.

    Args:
        folder: short and private.
        setup: what has happened before the first step.
    """

    def __init__(self, folder: Path, setup: Setup) -> None:
        self.path = folder / "s"
        self.workers: list[ScriptedWorker] = []
        self._lines: dict[int, bytes] = {}
        self._setup = setup
        self._following: asyncio.Future[None] | None = None
        self.commits = Commits(lambda: self.store.committed_sequence)
        kept = RunStore(RUN_ID, self.commits.notify) if setup.scratch else self._new_journal("journal")
        self.store = ScenarioStore(kept)
        self.store.name = setup.store_id
        self.recorder = Recorder(kept, _record(self.path, folder, setup.terminal))
        self.controller = Controller(self.recorder, self._launch, 5.0)
        self.subscriptions = Subscriptions(self.store, RUN_ID, self.recorder.fold)
        self.commits.listen(self.subscriptions.wake)
        controls = None if setup.read_only else self.controller
        self.answers = Answers(self.store, self.recorder.fold, self.commits, controls)

    @property
    def journal(self) -> Any:
        """Where events are recorded at present."""
        return self.recorder.journal

    async def begin(self) -> None:
        """The preamble of every run, and what the setup asks for."""
        setup = self._setup
        self.recorder.event("server_started")
        self.recorder.move(Move.ATTACH)
        if setup.worker:
            self._following = asyncio.ensure_future(self.controller.run(await self.controller.start()))
        for kind in setup.kinds:
            self.record(kind, corpus().payloads[kind][0])
        for kind, form in every_form() if setup.every_kind else ():
            self.record(kind, form)
        if setup.executions is not None:
            self.start_executions(setup.executions)
        for _ in range(setup.outputs):
            self.output(setup.output_bytes)
        await self.committed()
        self.store.failing = setup.replay_fails

    def record(self, kind: str, form: Any, **envelope: Any) -> None:
        """One event of the corpus, with the payload `form`."""
        fields = corpus().events[kind] | envelope | {"run_id": RUN_ID, "sequence": self.journal.next_sequence}
        event = msgspec.convert(fields, RunEvent)
        line = msgspec.json.encode(msgspec.structs.replace(event, data=msgspec.Raw(msgspec.json.encode(form))))
        if kind in FOLDED:
            self.recorder.fold.add(self.journal.next_sequence, line)
        self.journal.append(line, kind=kind)

    def start_executions(self, wanted: Executions) -> None:
        """So many agents begin, each with an assignment of this size."""
        form = dict(corpus().payloads["agent_execution_started"][0])
        for number in range(wanted.count):
            form["user_prompt"] = chr(ord("a") + number % 26) * wanted.assignment_bytes
            self.record("agent_execution_started", form, execution_id=f"exec-{number}")

    def output(self, size: int = 1) -> None:
        """One `output` event whose text has `size` characters."""
        self.recorder.event("output", text="x" * size)

    def stored(self, sequence: int) -> bytes:
        """The journal's line of an event."""
        if sequence not in self._lines:
            for line in self.store.store.read(sequence - 1, max_bytes=1 << 22).data.splitlines():
                self._lines[sequence_of(line)] = line
        return self._lines[sequence]

    async def committed(self) -> None:
        """Wait until everything recorded is in the journal."""
        await _committed(self.journal)

    async def publish(self, outputs: int, size: int) -> None:
        """One event after another, each seen before the next."""
        for _ in range(outputs):
            self.output(size)
            await self.committed()
            await asyncio.sleep(0)

    async def burst(self, outputs: int, size: int, bursts: int = 1) -> None:
        """All events of a burst are seen at once, however the journal's writer took them."""
        for _ in range(bursts):
            with self.store.held():
                for _ in range(outputs):
                    self.output(size)
                await self.committed()
            self.commits.notify()
            await asyncio.sleep(0.004 if bursts > 1 else 0)

    async def attach(self, name: str, outputs: int) -> None:
        """The state folder answers: it is empty and nothing changes, or it holds outputs of another store."""
        kept = self.store.store
        assert isinstance(kept, RunStore)
        journal = self._new_journal("durable", "" if outputs else kept.store_id)
        for _ in range(outputs):
            sequence = journal.next_sequence
            journal.append(EventEncoder(RUN_ID).line(sequence, STAMP, "output", text="before"), kind="output")
        await _committed(journal)
        self._lines.clear()
        self.recorder.attach(kept, journal)
        self.store.name = name or self.store.name
        while journal.committed_sequence < journal.last_sequence:
            time.sleep(0.001)  # noqa: ASYNC251  # nobody is to see the half of it, which would be right but not one answer

    @asynccontextmanager
    async def served(self) -> AsyncIterator[None]:
        """Listen until the end of the block."""
        async with asyncio.TaskGroup() as tasks:
            self.listener = UnixListener(self._serve, tasks)
            self.inside = MemoryListener(self._serve, tasks)
            await self.listener.listen(bind(self.path))
            await self.begin()
            try:
                yield
            finally:
                for listener in (self.listener, self.inside):
                    listener.stop()
                    listener.hang_up()
                await self._end()
        if isinstance(self.journal, Journal):
            self.journal.close()

    def _new_journal(self, name: str, store_id: str = "") -> Journal:
        options = JournalOptions(reserve_bytes=0)
        return Journal.create(
            self.path.parent / name, RUN_ID, options, on_commit=self.commits.notify, store_id=store_id
        )

    async def _serve(self, channel: Channel) -> None:
        await serve(channel, self.answers, self.subscriptions)

    async def _end(self) -> None:
        if self._following is not None:
            self._following.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._following

    async def _launch(self, generation: Generation) -> Handle:
        self.workers.append(ScriptedWorker(generation))
        generation.worker_started(100, "direct")
        return self.workers[-1]


async def _committed(journal: Any) -> None:
    async with asyncio.timeout(10):
        while journal.committed_sequence < journal.last_sequence:  # noqa: ASYNC110  # a thread commits
            await asyncio.sleep(0.001)


def every_form() -> list[tuple[str, Any]]:
    """(type, payload) of every fixture but the legacy ones, which do not come as they are stored."""
    forms = sorted(corpus().payloads.items())
    return [(kind, form) for kind, each in forms if not kind.startswith("invocation_") for form in each]


def _record(path: Path, folder: Path, terminal: bool) -> RunRecord:
    return RunRecord(
        id=RUN_ID,  # type: ignore[arg-type]  # a test's id
        run_id=RUN_ID,
        name="conformance",
        status="starting",
        pid=1,
        socket_path=str(path),
        started_at=STAMP,
        command=["cmd", "arg"],
        cwd="/",
        journal=str(folder / "journal"),
        pty=terminal,
        columns=80 if terminal else None,
        rows=24 if terminal else None,
    )


@contextmanager
def server_without(fields: list[str]) -> Iterator[None]:
    """A server from before these fields of subscribe, as its own decoder has it."""
    if not fields:
        yield
        return
    kept = [
        (field.encode_name, field.type, msgspec.field(default=field.default))
        for field in msgspec.structs.fields(requests.Subscribe)
        if field.encode_name not in fields
    ]
    older = msgspec.defstruct(
        "Subscribe", kept, tag_field="type", tag="subscribe", forbid_unknown_fields=True, kw_only=True, frozen=True
    )
    decode: Callable[[bytes], Any] = session.decode_request

    def decode_as_before(line: bytes) -> Any:
        request = decode(line)
        if isinstance(request, requests.Subscribe):
            try:
                msgspec.json.decode(line, type=older)
            except msgspec.MsgspecError as error:
                raise requests.RequestRefused(str(error)) from error
        return request

    session.decode_request = decode_as_before
    try:
        yield
    finally:
        session.decode_request = decode
