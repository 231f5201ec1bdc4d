"""Runs one generation in a test: an observer that remembers, and a loop that knows how long it may take."""

import asyncio
import base64
import ctypes
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from hopline.ids import new_run_id
from hopline.wire.worker.messages import SemanticEvent, WorkerExited, WorkerSignaled
from hopline.wire.worker.output import OutputChunk
from hopline.worker import runners, survivors
from hopline.worker.handle import WorkerHandle, WorkerLaunch

RUN_ID = new_run_id()
needs_bwrap = pytest.mark.skipif(
    runners.bwrap_refusal() is not None and not os.environ.get("CI"), reason=f"bwrap: {runners.bwrap_refusal()}"
)
"""For tests of the bwrap runner: where bubblewrap does not work they are left out, but never in CI."""

PYTHON = [sys.executable, "-S", "-E", "-c"]


class Witness:
    """Remembers what a handle told, and wakes whoever waits for it."""

    def __init__(self) -> None:
        self.told: list[str] = []
        """Kinds in order, a run of output told once."""
        self.written = {"stdout": b"", "stderr": b""}
        self.chunks = 0
        self.pid = 0
        self.runner = ""
        self.events: list[SemanticEvent] = []
        self.outcomes: list[WorkerExited | WorkerSignaled | None] = []
        self.fatal: list[str] = []
        self.keep = True
        self.size = 0
        self.on_output: Callable[[], None] = lambda: None
        self._changed = asyncio.Event()

    def worker_started(self, pid: int, runner: str) -> None:
        self.pid, self.runner = pid, runner
        self._note("started")

    def worker_output(self, chunk: OutputChunk) -> None:
        self.chunks += 1
        self.size += chunk.size
        if self.keep:
            assert chunk.offset == len(self.written[chunk.stream])
            if chunk.raw is None:
                self.written[chunk.stream] += json.loads(b'"' + chunk.content_json + b'"').encode()
            else:
                self.written[chunk.stream] += base64.b64decode(chunk.raw, validate=True)
            assert chunk.offset + chunk.size == len(self.written[chunk.stream])
        self._note("output")
        self.on_output()

    def worker_event(self, event: SemanticEvent) -> None:
        self.events.append(event)
        self._note("event")

    def worker_ended(self, outcome: WorkerExited | WorkerSignaled | None) -> None:
        self.outcomes.append(outcome)
        self._note("ended")

    def worker_fatal(self, message: str) -> None:
        self.fatal.append(message)
        self._note("fatal")

    @property
    def stdout(self) -> bytes:
        return self.written["stdout"]

    @property
    def stderr(self) -> bytes:
        return self.written["stderr"]

    async def until(self, come: Callable[[], object], seconds: float = 10.0) -> None:
        """Wait until `come()` is true after something was told."""
        async with asyncio.timeout(seconds):
            while not come():
                self._changed.clear()
                await self._changed.wait()

    def _note(self, kind: str) -> None:
        if self.told[-1:] != [kind]:
            self.told.append(kind)
        self._changed.set()


@asynccontextmanager
async def generation(
    *argv: str,
    runner: str = "direct",
    sideband: bool = False,
    relay: list[str] | None = None,
    cwd: str = "/",
    run_id: str = RUN_ID,
    env: dict[str, str] | None = None,
    terminal: tuple[int, int] | None = None,
) -> AsyncIterator[tuple[WorkerHandle, Witness]]:
    """A running generation, retired without grace at the end if it still runs."""
    witness = Witness()
    complete = {**os.environ, "HOPLINE_RUN": run_id, "HOPLINE_SESSION": "s", "HOPLINE_GENERATION": "1", **(env or {})}
    launch = WorkerLaunch(run_id, 1, list(argv), cwd, complete, runner, sideband, terminal)
    handle = await WorkerHandle.launch(launch, witness, relay=relay)
    try:
        yield handle, witness
    finally:
        handle.retire(0)
        async with asyncio.timeout(15):
            await handle.wait()


def scripted_relay(script: str) -> list[str]:
    """A relay that does what `script` says; it has `say(**frame)`, `hear()` and the modules it needs."""
    prelude = (
        "import json, os, signal, subprocess, sys, time\n"
        "def say(kind, **fields): os.write(1, json.dumps({'kind': kind, **fields}).encode() + b'\\n')\n"
        "def hear(): return json.loads(sys.stdin.buffer.readline() or b'null')\n"
        "def close(): [say(k) for k in ('stdout_closed', 'stderr_closed', 'worker_sideband_closed')]\n"
    )
    return [sys.executable, "-S", "-E", "-c", prelude + script]


def run(test: Coroutine[Any, Any, None], seconds: float = 20.0) -> None:
    """Run a test's coroutine to its end within a bound."""

    async def bounded() -> None:
        async with asyncio.timeout(seconds):
            await test

    asyncio.run(bounded())


@asynccontextmanager
async def subreaper() -> AsyncIterator[None]:
    """This process as a run server is: the parent of orphans, which it reaps as they end."""
    survivors.become_subreaper()
    survivors.reap_as_they_end()
    try:
        yield
    finally:
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                child.kill()
        await asyncio.sleep(0)
        async with asyncio.timeout(5):
            while psutil.Process().children():
                survivors.reap_adopted()
                await asyncio.sleep(0.01)
        ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)


def zombies() -> list[psutil.Process]:
    """Children of this process that ended and were not reaped."""
    return [child for child in psutil.Process().children() if child.status() == psutil.STATUS_ZOMBIE]


def open_descriptors() -> int:
    """How many descriptors this process has."""
    return len(list(Path("/proc/self/fd").iterdir()))
