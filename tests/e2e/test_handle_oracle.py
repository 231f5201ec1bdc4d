"""The server's end against an independent relay, `mcp-console worker-relay`, which speaks only what the seed has."""

import asyncio
import sys
from pathlib import Path

import pytest
from generation_rig import generation, run

from hopline.wire.worker.messages import WorkerExited, WorkerSignaled

ORACLE = [str(Path(sys.executable).with_name("mcp-console")), "worker-relay"]


def test_output_outcome_and_a_clean_end() -> None:
    async def test() -> None:
        worker = ["sh", "-c", r"printf 'caf\303\251 \377'; head -c 100000 /dev/zero >&2; exit 7"]
        async with generation(relay=[*ORACLE, *worker], sideband=True) as (handle, witness):
            retirement = await handle.wait()
            assert retirement.outcome == WorkerExited(code=7)
            assert retirement.clean and retirement.fault is None
            assert witness.stdout == b"caf\xc3\xa9 \xff" and witness.stderr == bytes(100_000)

    run(test())


@pytest.mark.parametrize("grace", [0.0, 0.3])
def test_interrupt_and_retirement(grace: float) -> None:
    async def test() -> None:
        worker = ["sh", "-c", "trap 'echo got it' INT; trap '' TERM; echo up; while :; do sleep 0.02; done"]
        async with generation(relay=[*ORACLE, *worker], sideband=True) as (handle, witness):
            await witness.until(lambda: witness.stdout)
            assert (await handle.interrupt()).delivered
            await witness.until(lambda: b"got it" in witness.stdout)
            handle.retire(grace)
            retirement = await handle.wait()
            assert retirement.outcome == WorkerSignaled(signal=9) and retirement.clean

    run(test())


def test_a_program_that_is_not_there() -> None:
    async def test() -> None:
        async with generation(relay=[*ORACLE, "no-such-program"], sideband=True) as (handle, witness):
            retirement = await handle.wait()
            assert witness.told == ["fatal", "ended"] and retirement.outcome is None

    run(test())


def test_a_flood_held_back_and_let_go() -> None:
    async def test() -> None:
        worker = ["sh", "-c", "head -c 5000000 /dev/zero"]
        async with generation(relay=[*ORACLE, *worker], sideband=True) as (handle, witness):
            witness.on_output = lambda: handle.hold_output() if witness.chunks == 1 else None
            await witness.until(lambda: witness.stdout)
            await asyncio.sleep(0.3)
            handle.release_output()
            assert (await handle.wait()).outcome == WorkerExited(code=0)
            assert witness.stdout == bytes(5_000_000)

    run(test())
