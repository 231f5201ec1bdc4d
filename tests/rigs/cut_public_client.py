"""The public client while its server hangs up at random: every event once, byte for byte, and nothing missed."""

import asyncio
import random
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
from conformance_carriers import Carriers
from conformance_format import Setup
from conformance_run import ScenarioRun

from hopline.client.items import Disconnected, Rebootstrapped, Reconnected
from hopline.client.session import open_run
from hopline.wire.client.events import RunEvent


class PublicStorm:
    """One follower, hung up on `cuts` times while `events` flow.

    Args:
        carrier: unix or websocket.
        seed: of everything random.
    """

    def __init__(self, carrier: str, cuts: int, events: int, seed: int) -> None:
        self._carrier, self._cuts, self._events, self._seed = carrier, cuts, events, seed
        self._rng = random.Random(seed)
        self._lines: list[bytes] = []
        self.reconnected = 0

    def run(self) -> None:
        """Raises AssertionError, with the seed, unless what was given is the server's journal."""
        try:
            with tempfile.TemporaryDirectory(prefix="hc") as place:
                asyncio.run(self._run(Path(place)))
        except BaseException as error:
            error.add_note(f"{self._carrier}, seed {self._seed}, at event {len(self._lines)}")
            raise

    async def _run(self, place: Path) -> None:
        run = ScenarioRun(place, Setup())
        async with run.served(), AsyncExitStack() as stack:
            carriers = Carriers(run, stack, "whole")
            target = str(run.path) if self._carrier == "unix" else await carriers.url()
            publishing = asyncio.ensure_future(self._publish(run))
            try:
                async with asyncio.timeout(60):
                    await self._follow(run, target)
            finally:
                publishing.cancel()
            for number, line in enumerate(self._lines, 1):
                assert line == run.stored(number)

    async def _follow(self, run: ScenarioRun, target: str) -> None:
        cuts = sorted(self._rng.sample(range(1, self._events), self._cuts), reverse=True)
        async with (
            open_run(target, backoff_seconds=[0.0, 0.0, 0.01, 0.1, 1.0]) as followed,
            followed.events() as stream,
        ):
            async for item in stream:
                match item:
                    case RunEvent():
                        self._lines.append(msgspec.json.encode(item))
                        assert item.sequence == len(self._lines)
                    case Reconnected():
                        assert item.missed_nothing
                        assert item.position.sequence == len(self._lines)
                        self.reconnected += 1
                    case Disconnected():
                        assert item.position.sequence == len(self._lines)
                    case Rebootstrapped():
                        raise AssertionError(f"it started over: {item}")
                if cuts and len(self._lines) >= cuts[-1]:
                    cuts.pop()
                    run.listener.hang_up()
                if len(self._lines) >= self._events:
                    return

    async def _publish(self, run: ScenarioRun) -> None:
        rng = random.Random(self._seed + 1)
        ahead = 2 * self._events // self._cuts
        while run.journal.last_sequence < self._events:
            if run.journal.last_sequence > len(self._lines) + ahead:
                await asyncio.sleep(0.001)
                continue
            for _ in range(rng.randint(1, 20)):
                run.output(rng.choice((0, 10, 100, 900)))
            await asyncio.sleep(0)
