"""The hub's links and one-shots as its rooms use them (ports.Links)."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from hopline.errors import Misuse, Unavailable
from hopline.fleet.errors import NotPaired, PeerDenied, PeerUnreachable
from hopline.fleet.hub.hub import Hub, connect_problem
from hopline.fleet.hub.transport import PeerTransport
from hopline.fleet.links.actions import DialOrder
from hopline.fleet.links.addresses import place_of
from hopline.fleet.ports import Handler, Payload, PeerSessions
from hopline.wire.peer.envelope import Envelope
from hopline.wire.peer.events import Authenticated, Denied, WrongPeer
from hopline.wire.peer.limits import LINGER_SECONDS
from hopline.wire.peer.negotiation import ONE_SHOT_FEATURES, ONE_SHOT_REUSE

KEPT_SECONDS = 30.0
"""How long a one-shot that may be used again is kept for the next errand."""

PARALLEL = 4
"""One-shots at a time to a peer that agreed to reuse; to any other it is one, for it may answer only the latest."""


class Errand:
    """A OneShot (ports): a dialled connection in the hands of one errand.

    Args:
        transport: authenticated; its inbox is ours.
    """

    def __init__(self, transport: PeerTransport) -> None:
        self.transport = transport
        self.peer = transport.peer
        self.features = transport.features

    async def send(self, msg_type: str, payload: Payload) -> None:
        """See OneShot."""
        if not await self.transport.send(msg_type, payload):
            raise Unavailable(f"{self.peer} closed the connection before all was sent; try again.")

    async def receive(self) -> Envelope:
        """See OneShot."""
        inbox = self.transport.inbox
        if inbox is None:
            raise Misuse("this connection belongs to no errand")
        while not inbox:
            if self.transport.gone:
                raise Unavailable(f"{self.peer} closed the connection before it answered; try again.")
            self.transport.news.clear()
            await self.transport.news.wait()
        envelope = inbox.popleft()
        self.transport.taken()
        return envelope


class HubLinks:
    """See ports.Links.

    Args:
        hub: whose connections they are.
    """

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._gates: dict[tuple[str, bool], asyncio.Semaphore] = {}
        self._kept: dict[tuple[str, frozenset[str]], list[tuple[Errand, asyncio.TimerHandle]]] = {}
        self._reusing: set[str] = set()

    @property
    def identity(self) -> str:
        """See Links."""
        return self._hub.core.identity

    def peers(self) -> frozenset[str]:
        """See Links."""
        return self._hub.keys.peers() - {self.identity}

    def connected(self, peer: str) -> bool:
        """See Links."""
        return self._hub.core.link(peer) is not None

    def sessions(self, peer: str) -> PeerSessions | None:
        """See Links."""
        return self._hub.core.neighbours.of(peer).sessions

    def handle(self, msg_type: str, handler: Handler) -> None:
        """See Links."""
        if msg_type in self._hub.handlers:
            raise Misuse(f"{msg_type} is handled already")
        self._hub.handlers[msg_type] = handler

    async def send(self, peer: str, msg_type: str, payload: Payload) -> bool:
        """See Links."""
        transport = self._hub.link(peer)
        return transport is not None and await transport.send(msg_type, payload)

    @asynccontextmanager
    async def one_shot(self, peer: str, *, offer: frozenset[str] | None = None) -> AsyncIterator[Errand]:
        """See Links."""
        offered = ONE_SHOT_FEATURES if offer is None else offer
        async with self._gate(peer):
            errand = self._take_kept(peer, offered) or await self._dialled(peer, offered)
            try:
                yield errand
            except BaseException:
                self._hub.hang_up(errand.transport, "the errand was given up")
                raise
            self._put_back(errand, offered)

    def forget(self, peer: str) -> None:
        """It is not paired any more."""
        self._reusing.discard(peer)
        for key in [key for key in self._gates if key[0] == peer]:
            del self._gates[key]

    def _gate(self, peer: str) -> asyncio.Semaphore:
        link = self._hub.link(peer)
        several = peer in self._reusing or (link is not None and ONE_SHOT_REUSE in link.features)
        return self._gates.setdefault((peer, several), asyncio.Semaphore(PARALLEL if several else 1))

    async def _dialled(self, peer: str, offer: frozenset[str]) -> Errand:
        key = self._hub.keys.key(peer)
        if key is None or peer == self.identity:
            raise NotPaired(f"{peer} is not paired with this machine; pair: hopline peer pair")
        addresses = self._hub.keys.addresses(peer)
        link = self._hub.core.link(peer)
        if link is not None and link.address:
            addresses = [link.address, *(address for address in addresses if address != link.address)]
        problems: list[str] = []
        stranger = ""
        for address in addresses:
            place = place_of(address)
            if place is None:
                continue
            try:
                order = DialOrder(key, peer, transient=True, offer=offer)
                transport, outcome = await self._hub.order(place, address, order)
            except OSError as error:
                problems.append(f"{address}: {connect_problem(error)}")
                continue
            match outcome:
                case Authenticated():
                    if ONE_SHOT_REUSE in outcome.features:
                        self._reusing.add(peer)
                    return Errand(transport)
                case Denied():
                    if outcome.peer in (peer, ""):
                        raise PeerDenied(
                            f"{peer} at {address} refuses our key; pair again: hopline peer forget {peer} here, "
                            f"hopline peer forget {self.identity} there, then hopline peer pair"
                        )
                    stranger = outcome.peer
                case WrongPeer():
                    stranger = outcome.peer
                case _:
                    problems.append(f"{address}: {outcome.reason}")
                    continue
            problems.append(f"{address}: {stranger} answered instead")
        if stranger and len(problems) == len(addresses):
            raise PeerDenied(
                f"{peer} is not where it was: {'; '.join(problems)}. Connect: hopline peer connect IP:PORT"
            )
        if problems:
            raise PeerUnreachable(f"{peer} cannot be reached: {'; '.join(problems)}. Is its hub running?")
        raise PeerUnreachable(f"no address of {peer} is known; say where it is: hopline peer connect IP:PORT")

    def _take_kept(self, peer: str, offer: frozenset[str]) -> Errand | None:
        waiting = self._kept.get((peer, offer), [])
        while waiting:
            errand, timer = waiting.pop()
            timer.cancel()
            if not errand.transport.gone and not errand.transport.inbox:
                return errand
            self._hub.hang_up(errand.transport, "of no use any more")
        return None

    def _put_back(self, errand: Errand, offer: frozenset[str]) -> None:
        loop = asyncio.get_running_loop()
        if errand.transport.gone:
            return
        if ONE_SHOT_REUSE not in errand.features:
            loop.call_later(LINGER_SECONDS, self._hub.hang_up, errand.transport, "the errand is done")
            return
        waiting = self._kept.setdefault((errand.peer, offer), [])

        def expired() -> None:
            with contextlib.suppress(ValueError):
                waiting.remove((errand, timer))
            self._hub.hang_up(errand.transport, "nobody has used it for a while")

        timer = loop.call_later(KEPT_SECONDS, expired)
        waiting.append((errand, timer))
