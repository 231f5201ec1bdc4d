"""The examples of docs/guide/python-client.md, as functions that tests run."""

import sys

import hopline.client
from hopline.client import (
    Connected,
    Disconnected,
    Finished,
    Position,
    Rebootstrapped,
    Reconnected,
    RunEvent,
    output_of,
    payload_of,
)
from hopline.wire.client.payloads import WorkerExited


async def watch(target: str) -> None:
    """Show a run's output as it comes, and say on stderr what becomes of the connection."""
    async with hopline.client.open(target) as run:
        async for item in run.events(tail=1000):
            match item:
                case RunEvent():
                    if output := output_of(item):
                        sys.stdout.write(output.content)
                case Connected():
                    print(f"connected, {item.floor} events above", file=sys.stderr)
                case Disconnected():
                    print(f"{item.reason} Trying again in {item.retry_seconds} s", file=sys.stderr)
                case Reconnected(missed_nothing=True):
                    print("reconnected, missed nothing", file=sys.stderr)
                case Rebootstrapped():
                    print(f"restarted because {item.reason}", file=sys.stderr)
                case Finished():
                    print("ended" if item.complete else "interrupted", file=sys.stderr)


async def keep_a_copy(target: str, copy: dict[int, str], saved: Position) -> Position:
    """Bring a copy of a run's event texts up to date, from exactly where it was left."""
    async with hopline.client.open(target) as run, run.events(after=saved, follow=False) as events:
        async for item in events:
            match item:
                case RunEvent():
                    copy[item.sequence] = item.type
                case Rebootstrapped():
                    copy.clear()
        return events.position


async def answer(target: str) -> int:
    """Talk to a worker: send a line, wait for the answer, end its input, wait for its exit status."""
    async with hopline.client.open(target) as run:
        await run.send("what is the answer?\n")
        async for item in run.events():
            if not isinstance(item, RunEvent):
                continue
            if (output := output_of(item)) and "42" in output.content:
                await run.close_input()
            if isinstance(payload := payload_of(item), WorkerExited):
                return payload.code
    return -1


async def stop(target: str) -> str:
    """Interrupt the worker, then stop the run, and tell what is proven."""
    async with hopline.client.open(target) as run:
        receipt = await run.interrupt()
        told = f"interrupt {receipt.status}; "
        await run.stop(grace_seconds=0.5)
        facts = await run.until_over(seconds=30)
    assert facts.worker is not None
    assert facts.worker.retired is not None
    return told + f"run {facts.status}, descendants {facts.worker.retired.descendants.state}"


async def page_back(target: str) -> list[RunEvent]:
    """Read a run's last ten events, and the ten before them."""
    async with hopline.client.open(target) as run:
        latest = (await run.snapshot()).sequence
        newest = await run.history(after=latest - 10)
        before = await run.history(after=max(0, latest - 20), before=newest[0].sequence)
    return before + newest
