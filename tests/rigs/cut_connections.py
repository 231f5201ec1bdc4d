"""A raw client that is cut at random while events flow: what it folded is the server's journal, byte for byte."""

import asyncio
import contextlib
import random
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from conformance_carriers import Carriers
from conformance_format import Setup
from conformance_peers import LinePeer, Peer, WebSocketPeer
from conformance_run import ScenarioRun

AHEAD_SLICES = 2
"""How far the run may be ahead of the next cut, counted in the events between two, so that events flow at each."""

SECONDS = 20.0
"""How long nothing may come."""


class _Batch(msgspec.Struct, tag_field="type", tag="event_batch"):
    events: list[msgspec.Raw]
    through_sequence: int
    store_id: str
    rebootstrap: bool


class _Subscribed(msgspec.Struct, tag_field="type", tag="subscribed"):
    latest_sequence: int


class _Sequence(msgspec.Struct):
    sequence: int


_messages = msgspec.json.Decoder(_Batch | _Subscribed)
_sequences = msgspec.json.Decoder(_Sequence)


@dataclass
class FoldedJournal:
    """What a client has: every event once, in order, as the bytes that came."""

    lines: list[bytes] = field(default_factory=list)
    store_id: str = ""
    batches: int = 0

    @property
    def cursor(self) -> int:
        return len(self.lines)

    def request(self) -> bytes:
        """The subscription that goes on from here."""
        return b'{"type":"subscribe","after_sequence":%d,"store_id":"%b"}' % (self.cursor, self.store_id.encode())

    def fold(self, message: bytes) -> None:
        """One frame. Raises AssertionError at an event that is missing, doubled, or of another store."""
        found = _messages.decode(message)
        if isinstance(found, _Subscribed):
            assert found.latest_sequence >= self.cursor
            return
        assert not found.rebootstrap
        assert self.store_id in ("", found.store_id)
        self.store_id = found.store_id
        self.batches += 1
        for event in found.events:
            sequence = _sequences.decode(event).sequence
            assert sequence == self.cursor + 1, f"event {sequence} came after {self.cursor}"
            self.lines.append(bytes(event))
        assert found.through_sequence == self.cursor


class CutStorm:
    """One reader, cut `cuts` times while `events` flow.

    Args:
        carrier: unix, websocket, bridge, or ssh.
        seed: of everything random.
        ssh: what stands before a command that runs behind an sshd, for ssh.
    """

    def __init__(self, carrier: str, cuts: int, events: int, seed: int, ssh: list[str] | None = None) -> None:
        self._ssh = ssh
        self.carrier, self.cuts, self.events, self.seed = carrier, cuts, events, seed
        self.folded = FoldedJournal()
        self.ways: dict[str, int] = {}
        self._rng = random.Random(seed)
        self._allowed = 0
        self._next: asyncio.Future[Peer] | None = None

    def run(self) -> None:
        """Raises AssertionError, with the seed, unless the folded journal is the server's, byte for byte."""
        try:
            with tempfile.TemporaryDirectory(prefix="hc") as place:
                asyncio.run(self._run(Path(place)))
        except BaseException as error:
            error.add_note(f"{self.carrier}, seed {self.seed}, at event {self.folded.cursor}, after {self.ways}")
            raise

    async def _run(self, place: Path) -> None:
        run = ScenarioRun(place, Setup())
        async with run.served():
            async with AsyncExitStack() as stack:
                carriers = Carriers(run, stack, "whole", ssh=self._ssh)
                publishing = asyncio.ensure_future(self._publish(run))
                try:
                    for number in range(1, self.cuts + 1):
                        await self._until_cut(run, carriers, self.events * number // (self.cuts + 1))
                    await self._to_the_end(run, carriers, publishing)
                finally:
                    publishing.cancel()
            await asyncio.sleep(0)
        kept = b"".join(path.read_bytes() for path in sorted((place / "journal" / "segments").glob("[0-9]*.jsonl")))
        folded = b"".join(line + b"\n" for line in self.folded.lines)
        assert folded == kept, f"{len(folded)} bytes folded, {len(kept)} kept"
        assert self.folded.cursor >= self.events

    async def _publish(self, run: ScenarioRun) -> None:
        rng = random.Random(self.seed + 1)
        while run.journal.last_sequence < self.events:
            if run.journal.last_sequence >= self._allowed:
                await asyncio.sleep(0.001)
                continue
            for _ in range(rng.randint(1, 40)):
                run.output(rng.choice((0, 10, 100, 900)))
            await asyncio.sleep(0)

    async def _until_cut(self, run: ScenarioRun, carriers: Carriers, at: int) -> None:
        """Follow up to event `at` on one connection, then cut it somewhere, mostly inside a frame."""
        peer = await self._subscribe(carriers)
        self._allowed = at + AHEAD_SLICES * self.events // self.cuts
        more = self._rng.choice((0, 1, 2, 4))
        if self.carrier == "ssh" and not await self._take(peer):  # or it would be cut before sshd knows who it is
            self._count("early")
            return
        while self.folded.cursor < at or (run.journal.last_sequence > self.folded.cursor and (more := more - 1) >= 0):
            if not await self._take(peer):
                self._count("early")  # begun ahead, it was cut together with the one before
                return
        if self._rng.random() < 0.7:
            await self._part_of_a_frame(peer)
        way = self._rng.choice(("client", "server", "orderly"))
        self._count(way)
        if way == "server":
            run.listener.hang_up()
        elif way == "client":
            self._lose(peer)
        await self._leave(peer)

    async def _to_the_end(self, run: ScenarioRun, carriers: Carriers, publishing: "asyncio.Future[None]") -> None:
        self._allowed = self.events
        peer = await self._subscribe(carriers)
        begun_ahead = self._next is not None
        while not publishing.done() or self.folded.cursor < run.journal.last_sequence:
            if not await self._take(peer):
                assert begun_ahead, "the server left"
                begun_ahead = False  # cut together with the one before: this once
                self._count("early")
                peer = await self._subscribe(carriers)
        publishing.result()

    async def _subscribe(self, carriers: Carriers) -> Peer:
        """On a connection that was begun while the one before was read; a process takes its time to start."""
        peer = await (self._next or asyncio.ensure_future(carriers.connect(self.carrier)))
        self._next = (
            asyncio.ensure_future(carriers.connect(self.carrier)) if self.carrier in ("bridge", "ssh") else None
        )
        await peer.send(self.folded.request())
        return peer

    async def _take(self, peer: Peer) -> bool:
        async with asyncio.timeout(SECONDS):
            message = await peer.receive()
        if message is None:
            return False
        self.folded.fold(message)
        return True

    async def _part_of_a_frame(self, peer: Peer) -> None:
        """Read a little more and forget it: whatever it was, it was not folded."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.02):
                if isinstance(peer, LinePeer):
                    await peer.read_some(self._rng.randint(1, 3000))
                else:
                    await peer.receive()

    def _count(self, way: str) -> None:
        self.ways[way] = self.ways.get(way, 0) + 1

    def _lose(self, peer: Peer) -> None:
        match peer:
            case LinePeer():
                peer.abort()
            case WebSocketPeer():
                peer.connection.transport.abort()

    async def _leave(self, peer: Peer) -> None:
        with contextlib.suppress(AssertionError, OSError):  # how a cut connection ends is not the point here
            await peer.close()
