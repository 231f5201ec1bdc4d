"""Connections that are cut at moments which chance picks, on any carrier, and what a reader makes of them."""

import asyncio
import random

import hopline.client
from hopline.client import Item
from hopline.client.channels import Channel
from hopline.client.dialling import Dialler, dialler_for
from hopline.client.resume import Resume
from hopline.client.stream import EventStream
from hopline.client.targets import parse_target


class CutChannel:
    """Ends at a moment that chance picks, also in the middle of a message."""

    def __init__(self, channel: Channel, chance: random.Random, most_seconds: float) -> None:
        self._channel = channel
        self._ends_at = asyncio.get_running_loop().time() + chance.random() * most_seconds

    @property
    def ended(self) -> bool:
        return self._channel.ended

    async def send(self, message: bytes) -> None:
        await self._channel.send(message)

    async def receive(self) -> bytes | None:
        try:
            async with asyncio.timeout_at(self._ends_at):
                return await self._channel.receive()
        except TimeoutError:
            return None

    async def explain(self) -> None:
        return None

    async def close(self) -> None:
        await self._channel.close()


class CuttingDialler:
    """Dials the real thing and cuts every connection but the last ones.

    Args:
        dialler: the real one.
        chance: picks the moments.
        cuts: how many connections are cut.
        most_seconds: the longest a cut connection lives.
    """

    def __init__(self, dialler: Dialler, chance: random.Random, cuts: int, most_seconds: float) -> None:
        self._dialler = dialler
        self._chance = chance
        self.cuts = cuts
        self._most = most_seconds
        self.record = None
        self.live = None

    async def find(self) -> None:
        await self._dialler.find()

    async def dial(self) -> Channel:
        channel = await self._dialler.dial()
        if self.cuts == 0:
            return channel
        self.cuts -= 1
        return CutChannel(channel, self._chance, self._most)

    def forget(self) -> None:
        """The run stays where it is."""

    async def close(self) -> None:
        await self._dialler.close()


async def read_cut(run: str, target: str, cuts: int, most_seconds: float) -> tuple[list[Item], int]:
    """Every item of the run behind `target`, over connections of which `cuts` are cut; and chance's seed.

    The run reads its input to the end; that is ended once all cuts were made. Args:
        run: the same run, as this machine knows it.
        most_seconds: the longest a connection lives that is cut.
    """
    seed = random.randrange(1 << 30)
    dialler = CuttingDialler(dialler_for(parse_target(target)), random.Random(seed), cuts, most_seconds)
    items: list[Item] = []
    waiting = True
    resume = Resume(backoff_seconds=[0.0] * (cuts + 5))
    async with hopline.client.open(run) as here, EventStream(dialler, resume, "cut") as stream:
        async for item in stream:
            items.append(item)
            if waiting and dialler.cuts == 0:
                waiting = False
                await here.close_input()
    assert dialler.cuts == 0
    return items, seed
