"""`peer_frames.py take FRAMES` and `peer_frames.py give FRAMES PORT`: frames of 2 KiB by a link between two hubs.

Each is a hub of its own, with keys in the folder HOPLINE_HOME. The taker says its port, and at the end one JSON line.
"""

import asyncio
import json
import logging
import os
import random
import resource
import socket
import sys
import time
from pathlib import Path

from hopline.fleet.hub.hub import Hub
from hopline.fleet.hub.keys import FileKeys
from hopline.fleet.hub.links import HubLinks
from hopline.fleet.links.actions import HubOptions
from hopline.fleet.ports import Inbound
from hopline.wire.peer.envelope import Envelope
from hopline.wire.peer.messages import decode_payload

FRAME_BYTES = 2048
TAKER, GIVER = "taker-00000001", "giver-00000002"
KEY = bytes(range(32))
DIFFERENT = 1000
"""How many different frames are sent in turn."""


def texts() -> list[str]:
    """Prose-like texts of which LZ4 makes about half, as it does of what agents write."""
    dice = random.Random(1)
    letters = "eeeeaaaiiooutttnnnrrssllddhcmpgfbvkwy"
    words = ["".join(dice.choices(letters, k=dice.randint(2, 9))) for _ in range(300)]
    phrases = [" ".join(dice.choices(words, k=dice.randint(1, 4))) for _ in range(80)]
    chosen = (dice.choices(phrases, k=300) for _ in range(DIFFERENT))
    return [f"{number}: {' '.join(each)}"[: FRAME_BYTES - 220] for number, each in enumerate(chosen)]


async def hub(name: str, other: str, tasks: asyncio.TaskGroup) -> Hub:
    keys = FileKeys(Path(os.environ["HOPLINE_HOME"]) / name)
    keys.keep(other, KEY)
    made = Hub(name, keys, HubOptions("bench"), tasks)
    bound = socket.create_server(("127.0.0.1", 0))
    bound.setblocking(False)
    await made.listen(bound)
    if name == TAKER:
        print(bound.getsockname()[1], flush=True)
    return made


async def take(frames: int) -> None:
    """Dispatch every frame to a handler that decodes its payload and counts."""
    finished = asyncio.Event()
    taken = 0
    began = 0.0
    spent = 0.0

    async def handler(inbound: Inbound, envelope: Envelope) -> None:
        nonlocal taken, began, spent
        if not taken:
            began, spent = time.monotonic(), cpu()
        payload = decode_payload(envelope)
        if payload is None or not payload.summary.startswith(f"{taken % DIFFERENT}:"):
            raise SystemExit(f"frame {taken} is not what was sent")
        taken += 1
        if taken == frames:
            finished.set()

    async with asyncio.TaskGroup() as tasks:
        taker = await hub(TAKER, GIVER, tasks)
        HubLinks(taker).handle("task_handoff", handler)
        ticking = tasks.create_task(taker.run())
        await finished.wait()
        seconds = time.monotonic() - began
        print(json.dumps({"seconds": seconds, "cpu_seconds": cpu() - spent}), flush=True)
        ticking.cancel()


async def give(frames: int, port: int) -> None:
    """Send them as fast as the link takes them."""
    summaries = texts()
    async with asyncio.TaskGroup() as tasks:
        giver = await hub(GIVER, TAKER, tasks)
        giver.keys.note_addresses(TAKER, [f"127.0.0.1:{port}"], 0, seen=False)
        linked = asyncio.Event()
        giver.on_linked = lambda peer: linked.set()
        links = HubLinks(giver)
        ticking = tasks.create_task(giver.run())
        await linked.wait()
        await asyncio.sleep(0.2)  # the first heartbeats are through
        for number in range(frames):
            payload = {
                "task_id": "task_1_1",
                "state": "completed",
                "summary": summaries[number % DIFFERENT],
                "artifacts": [],
            }
            if not await links.send(TAKER, "task_handoff", payload):
                raise SystemExit("the link was lost")
        while giver.core.link(TAKER) is not None:  # noqa: ASYNC110  # a hub tells nobody of a link that ends
            await asyncio.sleep(0.05)
        ticking.cancel()


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    words = sys.argv[1:]
    asyncio.run(take(int(words[1])) if words[0] == "take" else give(int(words[1]), int(words[2])))
