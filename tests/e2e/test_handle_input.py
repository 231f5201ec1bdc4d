"""Input, interrupts and held output of a generation, against the real relay."""

import asyncio
import os
import time

import psutil
import pytest
from generation_rig import PYTHON, generation, run, scripted_relay

from hopline.errors import Refused
from hopline.wire.worker.controller import MAX_INTERRUPTS
from hopline.wire.worker.input_window import INPUT_WINDOW_BYTES
from hopline.wire.worker.messages import WorkerExited, WorkerSignaled

FLOOD = (
    "import os, signal\n"
    "signal.signal(signal.SIGINT, lambda *_: os.write(2, b'interrupted'))\n"
    "while True: os.write(1, b'x' * 65536)\n"
)


def test_input_reaches_the_worker_byte_for_byte_and_then_its_end() -> None:
    data = os.urandom(3_000_000) + "é€😀\r\n\0".encode() * 1000

    async def test() -> None:
        async with generation("cat") as (handle, witness):
            await handle.send_input(data[:1])
            await handle.send_input(data[1:])
            await handle.close_input()
            assert (await handle.wait()).outcome == WorkerExited(code=0)
            assert witness.stdout == data

    run(test())


def test_input_of_several_senders_is_never_mixed() -> None:
    async def test() -> None:
        async with generation("cat") as (handle, witness):
            senders = [handle.send_input(bytes([letter]) * 400_000) for letter in b"abc"]
            await asyncio.gather(*senders)
            await handle.close_input()
            await handle.wait()
            assert witness.stdout == b"a" * 400_000 + b"b" * 400_000 + b"c" * 400_000

    run(test())


def test_nothing_is_sent_after_the_end_of_input() -> None:
    async def test() -> None:
        async with generation("sleep", "60") as (handle, _):
            await handle.close_input()
            for attempt in (handle.send_input(b"x"), handle.send_input(b""), handle.close_input()):
                with pytest.raises(Refused) as refusal:
                    await attempt
                assert refusal.value.code == "input_closed"

    run(test())


def test_a_worker_that_closed_its_input_refuses_more_and_lives_on() -> None:
    """WW-STDIN-RECEIPT"""

    async def test() -> None:
        async with generation("sh", "-c", "exec 0<&-; echo closed; exec sleep 60") as (handle, witness):
            await witness.until(lambda: witness.stdout)
            with pytest.raises(Refused) as refusal:
                for _ in range(500):
                    await handle.send_input(b"x")
                    await asyncio.sleep(0.01)
            assert refusal.value.code == "input_closed"
            assert (await handle.interrupt()).delivered
            retirement = await handle.wait()
            assert retirement.outcome == WorkerSignaled(signal=2) and retirement.fault is None

    run(test())


def test_a_sender_waits_for_room_while_interrupts_and_retirement_do_not() -> None:
    async def test() -> None:
        async with generation("sh", "-c", "trap '' INT; echo up; while :; do sleep 0.05; done") as (handle, witness):
            await witness.until(lambda: witness.stdout)
            sender = asyncio.create_task(handle.send_input(b"x" * (INPUT_WINDOW_BYTES * 20)))
            await asyncio.sleep(0.3)
            assert not sender.done()
            begun = time.monotonic()
            assert (await handle.interrupt()).delivered
            assert time.monotonic() - begun < 0.5
            handle.retire(0.1)
            with pytest.raises(Refused) as refusal:
                await sender
            assert refusal.value.code == "input_closed"
            assert (await handle.wait()).outcome == WorkerSignaled(signal=9)

    run(test())


def test_a_sender_is_released_when_the_worker_dies() -> None:
    async def test() -> None:
        async with generation("sh", "-c", "read x; kill -9 $$") as (handle, _):
            with pytest.raises(Refused):
                await handle.send_input(b"\n" * (INPUT_WINDOW_BYTES * 20))
            assert (await handle.wait()).outcome == WorkerSignaled(signal=9)

    run(test())


def test_an_interrupt_is_delivered_and_says_nothing_of_what_the_worker_makes_of_it() -> None:
    """WW-INTERRUPT"""

    async def test() -> None:
        async with generation("sh", "-c", "trap '' INT; echo up; while :; do sleep 0.05; done") as (handle, witness):
            await witness.until(lambda: witness.stdout)
            receipt = await handle.interrupt()
            assert receipt.delivered and receipt.error is None
            assert witness.outcomes == []

    run(test())


def test_an_interrupt_before_the_worker_started_is_delivered() -> None:
    async def test() -> None:
        async with generation("sleep", "60") as (handle, _):
            assert (await handle.interrupt(10)).delivered
            assert (await handle.wait()).outcome == WorkerSignaled(signal=2)

    run(test())


def test_an_interrupt_overtakes_a_flood_that_is_held_back() -> None:
    async def test() -> None:
        async with generation(*PYTHON, FLOOD) as (handle, witness):
            witness.keep = False
            await witness.until(lambda: witness.size > 1_000_000)
            handle.hold_output()
            await asyncio.sleep(0.3)
            taken = witness.size
            for _ in range(2):
                begun = time.monotonic()
                assert (await handle.interrupt()).delivered
                assert time.monotonic() - begun < 1.9
            assert witness.size == taken
            handle.release_output()
            await witness.until(lambda: witness.size > taken + 1_000_000)

    run(test())


def test_held_output_stops_the_worker_within_a_bound_and_is_told_whole_afterwards() -> None:
    worker = "import os\nfor number in range(500): os.write(1, (b'%d\\n' % number) * 5000)\n"

    async def test() -> None:
        async with generation(*PYTHON, worker) as (handle, witness):
            witness.on_output = lambda: handle.hold_output() if witness.chunks == 1 else None
            await witness.until(lambda: witness.stdout)
            first = len(witness.stdout)
            process = psutil.Process(witness.pid)
            await asyncio.sleep(0.5)
            assert process.status() == psutil.STATUS_SLEEPING
            assert len(witness.stdout) == first
            handle.release_output()
            assert (await handle.wait()).outcome == WorkerExited(code=0)
            assert witness.stdout == b"".join((b"%d\n" % number) * 5000 for number in range(500))

    run(test())


def test_a_worker_that_ends_while_its_output_is_held_loses_nothing() -> None:
    """WW-PATIENT: longer than the relay waits for a consumer that nobody answers for."""

    async def test() -> None:
        async with generation(*PYTHON, "import os; os.write(1, b'x' * 3_000_000); os._exit(3)") as (handle, witness):
            handle.hold_output()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1.5):
                    await handle.wait()
            assert witness.told == []
            handle.release_output()
            retirement = await handle.wait()
            assert retirement.outcome == WorkerExited(code=3) and retirement.clean
            assert witness.stdout == b"x" * 3_000_000

    run(test())


def test_retirement_lifts_a_hold_for_good() -> None:
    async def test() -> None:
        async with generation(*PYTHON, FLOOD) as (handle, witness):
            witness.keep = False
            await witness.until(lambda: witness.size)
            handle.hold_output()
            handle.retire(0.2)
            handle.hold_output()
            retirement = await handle.wait()
            assert retirement.outcome == WorkerSignaled(signal=9) and retirement.clean
            assert witness.outcomes == [WorkerSignaled(signal=9)]

    run(test())


def test_an_interrupt_without_a_receipt_is_said_so_within_its_time() -> None:
    relay = scripted_relay("say('worker_started', pid=1)\nwhile hear(): pass\n")

    async def test() -> None:
        async with generation(relay=relay) as (handle, _):
            begun = time.monotonic()
            receipt = await handle.interrupt(0.2)
            assert (receipt.delivered, receipt.error) == (None, "no receipt within 0.2 s")
            assert 0.15 < time.monotonic() - begun < 1.5
            await asyncio.gather(*(handle.interrupt(0.01) for _ in range(MAX_INTERRUPTS - 1)))
            refused = await handle.interrupt(10)
            assert not refused.delivered and "earlier interrupts" in (refused.error or "")

    run(test())


def test_an_interrupt_that_could_not_be_delivered_says_why() -> None:
    relay = scripted_relay(
        "say('worker_started', pid=1)\nsay('interrupt_result', request_id=hear()['request_id'], error='no')\nhear()\n"
    )

    async def test() -> None:
        async with generation(relay=relay) as (handle, _):
            receipt = await handle.interrupt()
            assert (receipt.delivered, receipt.error) == (False, "no")

    run(test())


def test_an_interrupt_of_an_ended_worker_is_not_delivered() -> None:
    async def test() -> None:
        async with generation("true") as (handle, _):
            await handle.wait()
            receipt = await handle.interrupt()
            assert not receipt.delivered and receipt.error

    run(test())


def test_an_interrupt_that_the_end_overtakes_is_answered() -> None:
    relay = scripted_relay("say('worker_started', pid=1)\nhear()\nclose()\nsay('worker_exited', code=0)\n")

    async def test() -> None:
        async with generation(relay=relay) as (handle, _):
            receipt = await handle.interrupt(10)
            assert (receipt.delivered, receipt.error) == (False, "the worker has ended")

    run(test())
