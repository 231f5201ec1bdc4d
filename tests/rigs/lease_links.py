"""Links between lease rooms in one process, which lose, delay and misdirect what they are told to."""

import asyncio
from contextlib import asynccontextmanager

import msgspec

from hopline.errors import Unavailable
from hopline.fleet.errors import NotPaired, PeerUnreachable
from hopline.fleet.ports import PeerSessions
from hopline.wire.peer.envelope import Envelope, decode, encode
from hopline.wire.peer.negotiation import FEATURES

WALL = 1_800_000_000_000


class FakeLinks:
    """One machine's links; `wire` holds every machine's by id. Frames are really encoded and decoded."""

    def __init__(self, identity, wire):
        self.identity = identity
        self.wire = wire
        wire[identity] = self
        self.handlers = {}
        self.heard = {}
        self.features = FEATURES
        self.unreachable = False
        self.lose_requests = 0
        self.lose_answers = 0
        self.repeat = False
        self.stray = []
        self.requests = []

    def peers(self):
        return frozenset(self.wire) - {self.identity}

    def connected(self, peer):
        return True

    def sessions(self, peer):
        return self.heard.get(peer)

    def says(self, peer, *session_ids, at):
        self.heard[peer] = PeerSessions(frozenset(session_ids), at)

    def handle(self, msg_type, handler):
        assert msg_type not in self.handlers
        self.handlers[msg_type] = handler

    async def send(self, peer, msg_type, payload):
        raise AssertionError("leases are asked for by one-shots")

    @asynccontextmanager
    async def one_shot(self, peer, *, offer=None):
        if peer not in self.wire:
            raise NotPaired(f"{peer} is not paired.")
        if self.unreachable:
            raise PeerUnreachable(f"{peer} cannot be reached.")
        yield FakeOneShot(self, self.wire[peer])


def frame(sender, msg_type, payload):
    data = encode(msg_type, payload, from_peer=sender, message_id="msg_1_ab", timestamp=WALL)
    return decode(data)


class FakeOneShot:
    """A connection of `mine` to `theirs`; it is its own inbound at the other end."""

    def __init__(self, mine, theirs):
        self.mine, self.theirs = mine, theirs
        self.peer, self.transient = theirs.identity, True
        self.features = mine.features & theirs.features
        self.inbox = asyncio.Queue()

    async def send(self, msg_type, payload):
        self.mine.requests.append((msg_type, msgspec.to_builtins(payload)))
        if self.mine.lose_requests:
            self.mine.lose_requests -= 1
            self.inbox.put_nowait(None)
            return
        for _ in range(2 if self.mine.repeat else 1):
            await self.theirs.handlers[msg_type](FakeInbound(self), frame("somebody-else", msg_type, payload))

    async def receive(self) -> Envelope:
        envelope = await self.inbox.get()
        if envelope is None:
            raise Unavailable("the connection ended.")
        return envelope


class FakeInbound:
    """The listener's side."""

    transient = True

    def __init__(self, one_shot):
        self.one_shot = one_shot
        self.peer = one_shot.mine.identity
        self.features = one_shot.features

    async def send(self, msg_type, payload):
        mine = self.one_shot.mine
        for stray in mine.stray:
            self.one_shot.inbox.put_nowait(frame(self.one_shot.peer, *stray))
        if mine.lose_answers:
            mine.lose_answers -= 1
            self.one_shot.inbox.put_nowait(None)
        else:
            self.one_shot.inbox.put_nowait(frame(self.one_shot.peer, msg_type, payload))
        return True
