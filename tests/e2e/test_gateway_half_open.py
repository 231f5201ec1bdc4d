"""Ten thousand connections that never become anything, from one client: the gateway's process and everybody else."""

import asyncio
import json
import resource
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from cli_rig import detached
from page_rig import Web
from websockets.asyncio.client import ClientConnection, connect

from hopline.serve.gateway.limits import GatewayLimits

CONNECTIONS = 10_000
PLACES = GatewayLimits().half_open_connections
FLOOD = str(Path(__file__).with_name("half_open_flood.py"))

OTHERS_DESCRIPTORS = 64
"""What the gateway has open beside connections that wait: its own files, and the honest ones."""

ACCEPTED_AT_ONCE = GatewayLimits().backlog
"""So many are accepted in one turn of the loop, before those that they end are closed."""

MAX_GROWTH_BYTES = 48 << 20
SERVED_SECONDS = 2.0


@pytest.fixture
def web() -> Iterator[Web]:
    served = Web()
    yield served
    served.close()


@asynccontextmanager
async def half_open(port: int, count: int) -> AsyncIterator["asyncio.Future[list[bytes]]"]:
    """So many connections, held until the end of the block; the future is done when all are open.

    One process, or as many as the limit of descriptors asks for.
    """
    room = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    each = count if room == resource.RLIM_INFINITY else min(count, room - 50)
    shares = [min(each, count - at) for at in range(0, count, each)]
    assert sum(shares) == count
    floods = [
        await asyncio.create_subprocess_exec(
            sys.executable, FLOOD, str(port), str(share), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for share in shares
    ]
    told = asyncio.gather(*(flood.stdout.readline() for flood in floods if flood.stdout is not None))
    try:
        yield told
    finally:
        told.cancel()
        for flood in floods:
            flood.kill()
            await flood.wait()


def dial(web: Web, run: str) -> connect:
    origin: Any = web.origin
    address = web.url.replace("http", "ws", 1).replace("/?", f"/runs/{run}/ws?")
    return connect(address, origin=origin, max_size=None, proxy=None)


async def echoed(typing: ClientConnection, watching: ClientConnection, text: str) -> float:
    """How long what is typed takes to be shown, in seconds."""
    begun = time.perf_counter()
    await typing.send(json.dumps({"type": "command.input", "request_id": text, "text": text + "\n"}))
    while text not in await watching.recv(decode=True):
        pass
    assert json.loads(await typing.recv())["ok"]
    return time.perf_counter() - begun


def page_seconds(url: str) -> float:
    begun = time.perf_counter()
    with urllib.request.urlopen(url, timeout=10) as answer:
        assert answer.status == 200
        answer.read()
    return time.perf_counter() - begun


def test_ten_thousand_half_open_connections_cost_a_bound_and_nobody_else_waits(web: Web) -> None:
    """WG-ROOM"""
    record = detached("--", "cat")
    gateway = psutil.Process(web.process.pid)

    async def main() -> None:
        async with asyncio.timeout(60), dial(web, record["id"]) as typing, dial(web, record["id"]) as watching:
            await watching.send('{"type":"subscribe"}')
            await echoed(typing, watching, "before")
            await asyncio.to_thread(page_seconds, web.url)
            memory, most_files, waits = gateway.memory_info().rss, 0, []
            async with half_open(web.port, CONNECTIONS) as told:
                while not told.done():
                    waits.append(await echoed(typing, watching, f"line {len(waits)}"))
                    waits.append(await asyncio.to_thread(page_seconds, web.url))
                    most_files = max(most_files, gateway.num_fds())
                assert set(await told) == {b"open\n"}
                async with dial(web, record["id"]) as late:
                    await late.send('{"type":"query.snapshot","request_id":"late"}')
                    assert json.loads(await late.recv())["ok"]
                assert gateway.num_fds() <= PLACES + OTHERS_DESCRIPTORS
            assert len(waits) > 20, "the flood was over before anybody could be held up by it"
            assert max(waits) < SERVED_SECONDS, sorted(waits)[-5:]
            assert most_files <= PLACES + ACCEPTED_AT_ONCE + OTHERS_DESCRIPTORS
            assert gateway.memory_info().rss - memory < MAX_GROWTH_BYTES

    asyncio.run(main())
