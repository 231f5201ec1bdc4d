"""The hub's loop: carries what happens to the core, and does what the core wants done."""

import asyncio
import itertools
import logging
import socket
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, assert_never

from hopline.errors import HoplineError, Unavailable
from hopline.fleet.hub.entropy import SystemEntropy
from hopline.fleet.hub.keys import FileKeys
from hopline.fleet.hub.transport import PeerTransport
from hopline.fleet.links.actions import (
    Action,
    Close,
    Deliver,
    Dial,
    DialOrder,
    HubOptions,
    Linked,
    Lost,
    Note,
    Opened,
    Settled,
    Unlinked,
    Write,
)
from hopline.fleet.links.addresses import place_of
from hopline.fleet.links.core import HubCore
from hopline.fleet.ports import Handler, Payload
from hopline.wire.peer.events import Authenticated, Denied, WrongPeer
from hopline.wire.peer.limits import CONNECT_SECONDS

TICK_SECONDS = 1.0
BACKLOG = 128

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}

Outcome = Authenticated | Denied | WrongPeer | Lost

log = logging.getLogger("hopline.hub")


class Hub:
    """One hub's connections.

    Args:
        identity: this machine's id.
        tasks: the group that dials and handlers run in.
    """

    def __init__(self, identity: str, keys: FileKeys, options: HubOptions, tasks: asyncio.TaskGroup) -> None:
        self.keys = keys
        self.handlers: dict[str, Handler] = {}
        self.core = HubCore(
            identity, keys, options, SystemEntropy(), now=time.monotonic(), wall_millis=int(time.time() * 1000)
        )
        self._tasks = tasks
        self._numbers = itertools.count(1)
        self._transports: dict[int, PeerTransport] = {}
        self._orders: dict[int, asyncio.Future[Outcome]] = {}
        self._server: asyncio.Server | None = None
        self._pumping = False
        self.on_linked: Callable[[str], None] = lambda peer: None
        """Called when a peer has a new link."""

    async def listen(self, bound: socket.socket) -> None:
        """Accept peers on `bound`, which is owned from now on."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._accepting, sock=bound, backlog=BACKLOG)

    async def run(self) -> None:
        """Tick until cancelled; then end every connection."""
        try:
            while True:
                try:
                    self.tick()
                except OSError as error:  # no descriptors, a disk that is away: the next tick may do better
                    log.warning("cannot look after links: %s", error)
                await asyncio.sleep(TICK_SECONDS)
        finally:
            if self._server is not None:
                self._server.close()
            for transport in list(self._transports.values()):
                self.hang_up(transport, "this hub ends")

    def tick(self) -> None:
        """Let the core look at the time."""
        self.core.tick(time.monotonic(), int(time.time() * 1000))
        self.pump()

    def work(self, task: Coroutine[Any, Any, None]) -> None:
        """Run beside everything else."""
        self._tasks.create_task(task)

    async def handled(self, work: Awaitable[None], msg_type: str, peer: str) -> None:
        """Wait for a handler; what it raises is logged and hurts nobody else."""
        try:
            await work
        except (HoplineError, OSError) as error:
            log.warning("%s of %s: %s", msg_type, peer, error)
        except Exception:  # the top of a message's handling: one message fails, the hub goes on
            log.exception("%s of %s failed", msg_type, peer)

    def send(self, conn: int, msg_type: str, payload: Payload) -> bool:
        """One message by that connection; False when it is gone."""
        sent = self.core.send(conn, msg_type, payload, time.monotonic())
        self.pump()
        return sent

    def link(self, peer: str) -> PeerTransport | None:
        """The link of that peer."""
        channel = self.core.link(peer)
        return None if channel is None else self._transports.get(channel.conn)

    async def order(self, address: tuple[str, int], text: str, order: DialOrder) -> tuple[PeerTransport, Outcome]:
        """Connect, and open as `order` says. Raises OSError, TimeoutError when nobody is there.

        A connection whose opening went wrong is closed already.
        """
        conn = next(self._numbers)
        settled: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._orders[conn] = settled

        def begin(transport: PeerTransport, source: str) -> None:
            self._transports[conn] = transport
            if order.transient:
                transport.inbox = deque()
            self.core.ordered(conn, text, source, order, time.monotonic())
            self.pump()

        try:
            transport = await self._connect(PeerTransport(self, conn, begin), address)
            return transport, await settled
        except BaseException:
            self.core.closed(conn, "given up", time.monotonic())
            self.pump()
            raise
        finally:
            self._orders.pop(conn, None)

    def received(self, transport: PeerTransport, data: bytes) -> None:
        """Bytes have come."""
        try:
            self.core.received(transport.conn, data, time.monotonic())
        except OSError as error:  # a key that cannot be kept
            self._cannot_keep(transport.conn, error)
        self.pump()

    def ended(self, transport: PeerTransport) -> None:
        """The peer sends nothing more."""
        self.core.ended(transport.conn, time.monotonic())
        self.pump()

    def lost(self, transport: PeerTransport, reason: str) -> None:
        """The connection is gone, or has to go."""
        self.core.closed(transport.conn, reason, time.monotonic())
        self.pump()
        self._transports.pop(transport.conn, None)

    def hang_up(self, transport: PeerTransport, reason: str) -> None:
        """Close it once what was written is sent."""
        self.core.hang_up(transport.conn, reason, time.monotonic())
        self.pump()

    def pump(self) -> None:
        """Do what the core wants done."""
        if self._pumping:
            return
        self._pumping = True
        try:
            while actions := self.core.take():
                for action in actions:
                    self._do(action)
        finally:
            self._pumping = False

    def _do(self, action: Action) -> None:
        match action:
            case Deliver():
                if (transport := self._transports.get(action.conn)) is not None:
                    transport.deliver(action.envelopes)
            case Write():
                if (transport := self._transports.get(action.conn)) is not None:
                    transport.write(action.data)
            case Close():
                if (transport := self._transports.pop(action.conn, None)) is not None:
                    transport.close(abort=action.abort)
            case Dial():
                self.work(self._dial(action))
            case Opened():
                if (transport := self._transports.get(action.conn)) is not None:
                    transport.peer, transport.features = action.peer, action.features
                    transport.transient = action.transient
            case Settled():
                if (waiting := self._orders.get(action.conn)) is not None and not waiting.done():
                    waiting.set_result(action.outcome)
            case Linked():
                self.on_linked(action.peer)
            case Unlinked():
                pass  # its note says it
            case Note():
                log.log(LEVELS[action.level], "%s", action.text)
            case _:
                assert_never(action)

    def _cannot_keep(self, conn: int, error: OSError) -> None:
        problem = f"this machine cannot keep the key: {error.filename or self.keys.folder}: {error.strerror}"
        log.error("%s; no pairing", problem)
        if (waiting := self._orders.get(conn)) is not None and not waiting.done():
            waiting.set_exception(
                Unavailable(
                    f"{problem}. Mend that; then, on the other machine, hopline peer forget {self.core.identity}, and "
                    "pair again."
                )
            )
        self.core.closed(conn, problem, time.monotonic())

    def _accepting(self) -> PeerTransport:
        conn = next(self._numbers)

        def begin(transport: PeerTransport, source: str) -> None:
            self._transports[conn] = transport
            self.core.accept(conn, source, time.monotonic())
            self.pump()

        return PeerTransport(self, conn, begin)

    async def _dial(self, dial: Dial) -> None:
        conn = next(self._numbers)

        def begin(transport: PeerTransport, source: str) -> None:
            self._transports[conn] = transport
            self.core.connected(dial.dial, conn, source, time.monotonic())
            self.pump()

        place = place_of(dial.address)
        try:
            if place is None:
                raise ValueError(f"{dial.address} is no address")
            await self._connect(PeerTransport(self, conn, begin), place)
        except (OSError, ValueError) as error:
            problem = f"{dial.address}: {connect_problem(error)}"
            log.debug("%s: %s", dial.peer, problem)
            self.core.unreachable(dial.dial, problem, time.monotonic())
            self.pump()

    async def _connect(self, transport: PeerTransport, place: tuple[str, int]) -> PeerTransport:
        async with asyncio.timeout(CONNECT_SECONDS):
            await asyncio.get_running_loop().create_connection(lambda: transport, *place)
        return transport


def connect_problem(error: OSError | ValueError) -> str:
    """Why nobody could be connected to, in a few words."""
    match error:
        case ConnectionRefusedError():
            return "nothing listens there"
        case TimeoutError():
            return f"no answer within {CONNECT_SECONDS:g} s"
        case OSError():
            return error.strerror or str(error)
        case _:
            return str(error)
