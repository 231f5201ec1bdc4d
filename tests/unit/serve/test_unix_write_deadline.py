"""The Unix carrier's write deadline: off unless set, and only for a peer that takes nothing at all."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

from hopline.serve.channel import HIGH_WATER_BYTES
from hopline.serve.unix import UnixChannel, UnixListener, bind

SIZE = 4 << 20


async def flood(channel: UnixChannel) -> None:
    channel.push(b"x" * SIZE)
    await channel.gone()


def listening(folder: Path, seconds: float, scenario: Callable[[socket.socket], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.TaskGroup() as tasks:
            listener = UnixListener(flood, tasks, seconds)
            await listener.listen(bind(folder / "s"))
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
                end.setblocking(False)
                await asyncio.get_running_loop().sock_connect(end, str(folder / "s"))
                await asyncio.wait_for(scenario(end), 10)
            listener.stop()
            listener.hang_up()

    asyncio.run(main())


async def taken(end: socket.socket, pause: float = 0.0) -> int:
    """How much comes until the end or a cut."""
    size = 0
    while True:
        try:
            data = await asyncio.get_running_loop().sock_recv(end, 1 << 17)
        except ConnectionError:
            return size
        if not data:
            return size
        size += len(data)
        if size > SIZE:
            return size
        await asyncio.sleep(pause)


def test_a_peer_that_takes_nothing_is_cut(tmp_path: Path) -> None:
    async def scenario(end: socket.socket) -> None:
        await asyncio.sleep(0.3)
        assert await taken(end) < SIZE - HIGH_WATER_BYTES

    listening(tmp_path, 0.05, scenario)


def test_a_peer_that_takes_a_little_at_a_time_is_not(tmp_path: Path) -> None:
    async def scenario(end: socket.socket) -> None:
        assert await taken(end, 0.01) == SIZE + 1

    listening(tmp_path, 0.2, scenario)


def test_without_a_deadline_it_may_stay(tmp_path: Path) -> None:
    async def scenario(end: socket.socket) -> None:
        await asyncio.sleep(0.2)
        assert await taken(end) == SIZE + 1

    listening(tmp_path, 0.0, scenario)
