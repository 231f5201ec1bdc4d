"""Two hubs' transfer rooms with a wire between them that can be watched and cut; frames really are encoded."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hopline.errors import Unavailable
from hopline.fleet.errors import PeerUnreachable
from hopline.fleet.ports import Handler, OneShot, Payload, PeerSessions
from hopline.wire.peer import envelope
from hopline.wire.peer.envelope import Envelope
from hopline.wire.peer.limits import CHUNK_BYTES
from hopline.wire.peer.messages import decode_payload
from hopline.wire.peer.negotiation import FEATURES, SESSION_LZ4, SESSION_OFFER
from hopline.wire.peer.transfer import SessionTransfer

PLAIN = FEATURES - {SESSION_OFFER, SESSION_LZ4}
"""What a peer agrees to that has none of our features for conversations."""


def frame(msg_type: str, payload: Payload, sender: str = "a-00000000") -> Envelope:
    """What arrives when `payload` is sent."""
    return envelope.decode(envelope.encode(msg_type, payload, from_peer=sender, message_id="msg_1_2", timestamp=1))


@dataclass
class Side:
    """The receiver's end of a connection."""

    peer: str = "a-00000000"
    features: frozenset[str] = FEATURES
    transient: bool = True
    answers: "asyncio.Queue[Envelope | None]" = field(default_factory=asyncio.Queue)
    gone: bool = False

    async def send(self, msg_type: str, payload: Payload) -> bool:
        if self.gone:
            return False
        self.answers.put_nowait(frame(msg_type, payload, "b-00000000"))
        return True

    def said(self) -> list[tuple[str, Mapping[str, object]]]:
        """Type and payload of every answer so far."""
        import msgspec

        found = []
        while not self.answers.empty():
            answer = self.answers.get_nowait()
            assert answer is not None
            found.append((answer.msg_type, msgspec.json.decode(answer.payload)))
        return found


class Wire:
    """Both hubs' Links: what a sends by one-shot is handled by b.

    Args:
        features: that b agrees to.
    """

    def __init__(self, features: frozenset[str] = FEATURES) -> None:
        self.features = features
        self.handlers: dict[str, Handler] = {}
        self.by_link: list[tuple[str, str, Payload]] = []
        self.sent: list[Envelope] = []
        """Every frame that a sent."""
        self.cut_after: list[int] = []
        """For each dial in turn: after so many frames the connection is cut. Beyond the list: never."""
        self.unreachable: set[int] = set()
        """Which dials find nobody."""
        self.mute = False
        """Answers are lost."""
        self.dials = 0

    @property
    def identity(self) -> str:
        return "a-00000000"

    def peers(self) -> frozenset[str]:
        return frozenset({"b-00000000"})

    def connected(self, peer: str) -> bool:
        return False

    def sessions(self, peer: str) -> PeerSessions | None:
        return None

    def handle(self, msg_type: str, handler: Handler) -> None:
        self.handlers[msg_type] = handler

    async def send(self, peer: str, msg_type: str, payload: Payload) -> bool:
        self.by_link.append((peer, msg_type, payload))
        return True

    def one_shot(self, peer: str, *, offer: frozenset[str] | None = None) -> AbstractAsyncContextManager[OneShot]:
        return self._dialled(offer or frozenset())

    @asynccontextmanager
    async def _dialled(self, offer: frozenset[str]) -> AsyncIterator[OneShot]:
        number, self.dials = self.dials, self.dials + 1
        if number in self.unreachable:
            raise PeerUnreachable("nobody answers.")
        left = self.cut_after[number] if number < len(self.cut_after) else 1 << 30
        shot = _Shot(self, Side(features=self.features & offer), left)
        handling = asyncio.create_task(shot.handle())
        try:
            yield shot
        finally:
            shot.side.gone = True
            await shot.frames.put(None)
            await handling

    def chunks(self) -> list[int]:
        """The numbers of the chunks that a sent, in order."""
        payloads = [decode_payload(one) for one in self.sent]
        return [payload.seq for payload in payloads if isinstance(payload, SessionTransfer)]


class _Shot:
    def __init__(self, wire: Wire, side: Side, left: int) -> None:
        self.wire = wire
        self.side = side
        self.left = left
        self.frames: asyncio.Queue[Envelope | None] = asyncio.Queue(4)

    @property
    def peer(self) -> str:
        return "b-00000000"

    @property
    def features(self) -> frozenset[str]:
        return self.side.features

    async def send(self, msg_type: str, payload: Payload) -> None:
        if self.left <= 0:
            self.side.answers.put_nowait(None)
            raise Unavailable("the connection was cut.")
        self.left -= 1
        arrived = frame(msg_type, payload)
        self.wire.sent.append(arrived)
        await self.frames.put(arrived)

    async def receive(self) -> Envelope:
        answer = await self.side.answers.get()
        while answer is not None and self.wire.mute:
            answer = await self.side.answers.get()
        if answer is None:
            raise Unavailable("the connection was cut.")
        return answer

    async def handle(self) -> None:
        """b's end: one frame after the other, until the connection is gone."""
        while (arrived := await self.frames.get()) is not None:
            if (handler := self.wire.handlers.get(arrived.msg_type)) is not None:
                await handler(self.side, arrived)


def transcript(path: Path, size: int) -> bytes:
    """A file of exactly `size` bytes that looks like a conversation. Returns what is in it."""
    line = b'{"type":"user","cwd":"/home/x/app","message":{"role":"user","content":"turn %d"}}\n'
    data = b"".join(line % number for number in range(size // len(line) + 1))[:size]
    path.write_bytes(data)
    return data


def pieces(data: bytes) -> list[bytes]:
    """The chunks of a transcript."""
    return [data[at : at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES)] or [b""]
