"""A worker that does what a test says, in place of a real one."""

import asyncio
import json
from pathlib import Path
from typing import Any

from hopline.errors import Refused
from hopline.journal.journal import Journal
from hopline.journal.port import JournalOptions
from hopline.records import RunRecord
from hopline.run.controller import Controller
from hopline.run.generation import Generation, Handle
from hopline.run.recorder import Recorder
from hopline.run.status import Move
from hopline.wire.worker.messages import WorkerExited, WorkerSignaled
from hopline.worker.generation import InterruptReceipt, Retirement
from hopline.worker.survivors import Descendants


class FakeWorker:
    """One generation; `end` is what the real handle does when its relay has left."""

    def __init__(self, generation: Generation) -> None:
        self.generation = generation
        self.calls: list[tuple[str, Any]] = []
        self.receipt = InterruptReceipt(True)
        self.descendants = Descendants("gone", "test", [])
        self._ended: asyncio.Future[Retirement] = asyncio.get_running_loop().create_future()

    def hold_output(self) -> None:
        self.calls.append(("hold", None))

    def release_output(self) -> None:
        self.calls.append(("release", None))

    async def send_input(self, data: bytes) -> bool:
        if ("close", None) in self.calls:
            raise Refused("the input is closed", code="input_closed")
        self.calls.append(("input", data))
        return False

    async def close_input(self) -> None:
        self.calls.append(("close", None))

    def resize(self, columns: int, rows: int) -> None:
        self.calls.append(("resize", (columns, rows)))

    async def interrupt(self) -> InterruptReceipt:
        self.calls.append(("interrupt", None))
        return self.receipt

    def retire(self, grace_seconds: float) -> None:
        self.calls.append(("retire", grace_seconds))

    async def wait(self) -> Retirement:
        return await self._ended

    def end(self, outcome: WorkerExited | WorkerSignaled | None, fault: str | None = None) -> None:
        self.generation.worker_ended(outcome)
        self.retired(outcome, fault)

    def retired(self, outcome: WorkerExited | WorkerSignaled | None, fault: str | None = None) -> None:
        self._ended.set_result(Retirement(outcome, 0, fault is None, fault, self.descendants))


class FakeRun:
    """A controller over a real journal, with fake workers."""

    def __init__(self, folder: Path) -> None:
        self.journal = Journal.create(folder / "journal", "run-1", JournalOptions(reserve_bytes=0))
        record = RunRecord(
            id="run-1",  # type: ignore[arg-type]  # a test's id
            run_id="run-1",
            name="n",
            status="starting",
            pid=1,
            socket_path="s",
            started_at="t",
            command=["cmd", "arg"],
            cwd="/",
            journal="j",
        )
        self.recorder = Recorder(self.journal, record)
        self.controller = Controller(self.recorder, self._launch, 5.0)
        self.workers: list[FakeWorker] = []
        self.refuse_next: Exception | None = None
        self.task: asyncio.Task[None] | None = None

    async def start(self) -> FakeWorker:
        self.recorder.move(Move.ATTACH)
        generation = await self.controller.start()
        self.task = asyncio.create_task(self.controller.run(generation))
        await asyncio.sleep(0)
        self.workers[-1].generation.worker_started(100, "direct")
        return self.workers[-1]

    async def over(self) -> None:
        assert self.task is not None
        await asyncio.wait_for(self.task, 5)

    async def turns(self, count: int = 5) -> None:
        for _ in range(count):
            await asyncio.sleep(0)

    def told(self) -> list[tuple[Any, ...]]:
        """(type, and what matters of it) of every event."""
        self.journal.close()
        segments = sorted((self.journal.folder / "segments").iterdir())
        lines = [line for path in segments for line in path.read_bytes().splitlines()]
        found: list[tuple[Any, ...]] = []
        for line in lines:
            event = json.loads(line)
            data = event["data"] or {}
            match event["type"]:
                case "control":
                    found.append((event["text"], event["status"]))
                case "run_status_changed":
                    found.append((event["type"], data["status"]))
                case "worker_started" | "worker_retired":
                    found.append((event["type"], data["generation"]))
                case "worker_exited":
                    found.append((event["type"], data["generation"], data["code"]))
                case "worker_signaled":
                    found.append((event["type"], data["generation"], data["signal"]))
                case "run_interrupted":
                    found.append((event["type"], data["reason"], data["signal"]))
                case "run_failed":
                    found.append((event["type"], event["diagnostic"]["summary"]))
                case other:
                    found.append((other,))
        return found

    async def _launch(self, generation: Generation) -> Handle:
        if self.refuse_next is not None:
            raise self.refuse_next
        self.workers.append(FakeWorker(generation))
        return self.workers[-1]
