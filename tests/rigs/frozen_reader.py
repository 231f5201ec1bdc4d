"""Twenty readers that read and one that does not: what the healthy ones wait for, with and without it."""

import asyncio
import gc
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
from conformance_carriers import Carriers
from conformance_format import Setup
from conformance_peers import Peer
from conformance_run import ScenarioRun
from cut_connections import FoldedJournal

HEALTHY = 20
EVENTS_A_SECOND = 300
FREEZE_BYTES = 8 << 20
"""What a frozen reader is given to choke on: more than every buffer on the way holds."""

NARROW_BYTES = 64 << 10
"""The frozen reader's TCP window; the system's own would take megabytes for it."""

MAX_HELD_BYTES = (256 << 10) + (1 << 20)
"""What one frozen reader may cost the run: its high water and one frame."""


MAX_RATIO = 1.5
SLACK_SECONDS = 0.005
"""The bar of 1.1 is for an idle machine, where the benchmarks measure it; a shared one must not fail by chance."""


class _Batch(msgspec.Struct, tag_field="type", tag="event_batch"):
    through_sequence: int


class _Subscribed(msgspec.Struct, tag_field="type", tag="subscribed"):
    latest_sequence: int


_messages = msgspec.json.Decoder(_Batch | _Subscribed)


class Reader:
    """A healthy one: notes how long each event took to reach it."""

    def __init__(self, peer: Peer, published: list[float]) -> None:
        self._peer, self._published = peer, published
        self.seen = 0
        self.waits: list[float] = []

    async def run(self) -> None:
        await self._peer.send(b'{"type":"subscribe"}')
        while (message := await self._peer.receive()) is not None:
            found = _messages.decode(message)
            if isinstance(found, _Batch):
                now = time.perf_counter()
                self.waits += [now - at for at in self._published[self.seen : found.through_sequence] if at]
                self.seen = found.through_sequence


class FrozenRig:
    """One run, its healthy readers, and one that comes, freezes and thaws.

    Args:
        carrier: of all of them.
        seconds: how long each phase lasts.
    """

    def __init__(self, carrier: str, seconds: float) -> None:
        self._carrier, self._seconds = carrier, seconds
        self.without: list[float] = []
        self.beside: list[float] = []
        """p99 of the healthy readers' waits in each phase, in seconds."""
        self.held_bytes = 0
        self.caught_up_frames: list[int] = []

    def run(self, phases: int, at_most: int | None = None) -> None:
        """So many pairs of phases, or on to `at_most` while the readers seem to be held up: others use this machine.

        Raises AssertionError when the frozen reader lost anything.
        """
        with tempfile.TemporaryDirectory(prefix="hc") as place:
            asyncio.run(self._run(Path(place), phases, at_most or phases))

    @property
    def held_up(self) -> bool:
        """Whether the healthy readers waited longer beside the frozen one; the best phase of each counts."""
        return not self.without or min(self.beside) > min(self.without) * MAX_RATIO + SLACK_SECONDS

    async def _run(self, place: Path, phases: int, at_most: int) -> None:
        self._run_ = run = ScenarioRun(place, Setup())
        self._published: list[float] = []
        async with run.served(), AsyncExitStack() as stack:
            carriers = Carriers(run, stack, "whole")
            self._narrow = Carriers(run, stack, "whole", window=NARROW_BYTES)
            self._readers = [Reader(await carriers.connect(self._carrier), self._published) for _ in range(HEALTHY)]
            reading = [asyncio.ensure_future(reader.run()) for reader in self._readers]
            gc.freeze()
            try:
                await self._phase()
                while len(self.beside) < phases or (self.held_up and len(self.beside) < at_most):
                    self.without.append(await self._phase())
                    self.beside.append(await self._beside_a_frozen_one())
            finally:
                gc.unfreeze()
                for task in reading:
                    task.cancel()
                await asyncio.gather(*reading, return_exceptions=True)

    async def _beside_a_frozen_one(self) -> float:
        run = self._run_
        frozen = await self._narrow.connect(self._carrier)
        begun = run.journal.last_sequence
        folded = FoldedJournal(lines=[b""] * begun)
        await frozen.send(folded.request())
        folded.fold(_not_none(await frozen.receive()))
        folded.fold(_not_none(await frozen.receive()))
        for _ in range(FREEZE_BYTES // 100_000):
            self._publish(100_000)
            await asyncio.sleep(0.002)
        await self._settled()
        p99 = await self._phase()
        self.held_bytes = max(self.held_bytes, *(one.channel.unsent_bytes() for one in run.subscriptions._subscribers))
        before = folded.batches
        async with asyncio.timeout(10):
            while folded.cursor < run.journal.last_sequence:
                folded.fold(_not_none(await frozen.receive()))
        self.caught_up_frames.append(folded.batches - before)
        for number, line in enumerate(folded.lines[begun:], begun + 1):
            assert line == run.stored(number)
        await frozen.close()
        return p99

    async def _phase(self) -> float:
        """Publish at an even pace. Returns the p99 of what the readers waited."""
        await self._settled()
        for reader in self._readers:
            reader.waits.clear()
        begun = time.perf_counter()
        for number in range(int(EVENTS_A_SECOND * self._seconds)):
            await asyncio.sleep(max(0.0, begun + number / EVENTS_A_SECOND - time.perf_counter()))
            self._publish(500)
        await self._settled()
        waits = sorted(wait for reader in self._readers for wait in reader.waits)
        return waits[int(len(waits) * 0.99)]

    def _publish(self, size: int) -> None:
        run = self._run_
        sequence = run.journal.next_sequence
        self._published += [0.0] * (sequence - 1 - len(self._published)) + [time.perf_counter()]
        run.output(size)

    async def _settled(self) -> None:
        async with asyncio.timeout(10):
            while any(reader.seen < self._run_.journal.last_sequence for reader in self._readers):  # noqa: ASYNC110  # nothing announces it
                await asyncio.sleep(0.005)


def _not_none(message: bytes | None) -> bytes:
    assert message is not None, "the run closed a connection"
    return message
