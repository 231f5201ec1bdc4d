"""Generations whose relay or worker is killed at a random moment; each must still be accounted for."""

import asyncio
import os
import random

import psutil
from generation_rig import RUN_ID, Witness, WorkerHandle, generation, subreaper, zombies

from hopline.wire.worker.messages import WorkerExited, WorkerSignaled
from hopline.worker import runners, survivors
from hopline.worker.handle import Retirement

WORKERS = [
    "while :; do echo a line of output; done",
    "setsid sleep 60 & while :; do echo a line of output; done",
    "trap '' INT TERM HUP PIPE; (sleep 60; echo from a child) & sleep 60; :",
    "head -c 300000 /dev/urandom; cat",
    "exit 3",
]


async def storm(lives: int, seed: int) -> None:
    """Live `lives` generations; the seed is part of every failure's message."""
    chance = random.Random(seed)
    async with subreaper():
        for number in range(lives):
            try:
                await _one_life(chance)
            except AssertionError as failure:
                raise AssertionError(f"life {number} of seed {seed}: {failure}") from failure


async def _one_life(chance: random.Random) -> None:
    worker = chance.choice(WORKERS)
    runner = chance.choice(["direct", "direct", "direct", "bwrap" if runners.bwrap_refusal() is None else "direct"])
    async with generation("sh", "-c", worker, runner=runner) as (handle, witness):
        witness.keep = False
        await asyncio.sleep(chance.random() * 0.12)
        killed = _kill(chance, witness if runner == "direct" else None)
        if chance.random() < 0.3:
            handle.retire(chance.random() * 0.1)
        retirement = await _result(handle)
        _account(retirement, witness, killed)


async def _result(handle: WorkerHandle) -> Retirement:
    async with asyncio.timeout(15):
        handle_result = asyncio.create_task(handle.wait())
        done, _ = await asyncio.wait([handle_result], timeout=0.3)
        if not done:
            handle.retire(0)
        return await handle_result


def _kill(chance: random.Random, witness: Witness | None) -> str:
    """SIGKILL for the launcher or the worker, if it lives; which one it was."""
    [launcher, *_] = [*psutil.Process().children(), None]
    worker = psutil.Process(witness.pid) if witness is not None and witness.pid and not witness.outcomes else None
    victim = chance.choice([launcher, worker])
    try:
        if victim is not None:
            victim.kill()
    except psutil.NoSuchProcess:
        return "nobody"
    return "nobody" if victim is None else "launcher" if victim is launcher else "worker"


def _account(retirement: Retirement, witness: Witness, killed: str) -> None:
    said = f"{killed} killed, {retirement}, {witness.told}"
    assert len(witness.outcomes) == 1 and witness.outcomes == [retirement.outcome], said
    assert (retirement.outcome is None) == (retirement.fault is not None), said
    if killed == "worker" and isinstance(retirement.outcome, WorkerSignaled):
        assert retirement.outcome.signal == 9, said
    if retirement.clean:
        assert isinstance(retirement.outcome, WorkerExited | WorkerSignaled), said
    assert zombies() == [], said
    left = {process.pid for process in psutil.process_iter() if _of_the_run(process)}
    assert left == {survivor.pid for survivor in retirement.descendants.processes}, f"{said}, left {left}"
    assert retirement.descendants.state == ("remaining" if left else "gone"), said
    for survivor in retirement.descendants.processes:
        assert survivors.end(survivor.pid, survivor.start_time, 0).state == "ended", said


def _of_the_run(process: psutil.Process) -> bool:
    try:
        if process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE:
            return False
        return process.environ().get("HOPLINE_RUN") == RUN_ID
    except psutil.Error:
        return False
