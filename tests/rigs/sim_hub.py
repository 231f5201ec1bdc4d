"""A hub of the simulation: the real core and real keys in memory, on a simulated network, with rooms of the test's."""

import itertools
from collections.abc import Callable
from typing import Any

from sim_network import End, Network

from hopline.fleet.links.actions import Close, Deliver, Dial, DialOrder, HubOptions, Linked, Settled, Unlinked, Write
from hopline.fleet.links.channels import Role
from hopline.fleet.links.core import HubCore
from hopline.wire.peer.envelope import Envelope
from hopline.wire.peer.events import Authenticated
from hopline.wire.peer.heartbeat import SessionRow
from hopline.wire.peer.messages import decode_payload

HEARTBEAT_SECONDS = 10.0
COLLECT_SECONDS = 5.0
FRAME = b"\0"
"""How every binary frame under 16 MiB begins, and no line does."""


class Violation(AssertionError):
    """A promise was broken."""


class MemoryKeys:
    """Keys and addresses as they outlive a crash."""

    def __init__(self) -> None:
        self.shared: dict[str, bytes] = {}
        self.places: dict[str, list[str]] = {}

    def peers(self) -> frozenset[str]:
        return frozenset(self.shared)

    def key(self, peer: str) -> bytes | None:
        return self.shared.get(peer)

    def pending(self) -> bytes | None:
        return None

    def claim_pending(self, peer: str) -> None:
        raise AssertionError("nobody pairs here")

    def keep(self, peer: str, key: bytes) -> None:
        self.shared[peer] = key

    def addresses(self, peer: str) -> list[str]:
        return self.places.get(peer, [])

    def note_addresses(self, peer: str, addresses: list[str], seconds: int, *, seen: bool) -> None:
        known = self.places.setdefault(peer, [])
        known[:] = list(dict.fromkeys([*addresses, *known]))[:8]


class Errand:
    """One one-shot of a hub: who waits for it, and what it asks."""

    def __init__(self, msg_type: str, payload: Any, done: Callable[[Any], None]) -> None:
        self.msg_type = msg_type
        self.payload = payload
        self.done = done
        """Called once with the decoded answer, its envelope beside, or None."""
        self.over = False

    def finish(self, answer: Any) -> None:
        if not self.over:
            self.over = True
            self.done(answer)


class SimHub:
    """One machine. `rooms` answers what is delivered to it; it may crash and come back.

    Args:
        skew: how wrong its wall clock is, in seconds.
    """

    def __init__(self, network: Network, number: int, skew: float) -> None:
        self.network = network
        self.name = f"host{number}-{network.random.randrange(1 << 32):08x}"
        self.address = f"10.0.0.{number + 1}"
        self.up = False
        self.life = 0
        self.keys = MemoryKeys()
        self.skew = skew
        self.ahead = network.random.uniform(0, 1000)
        self.others: dict[str, SimHub] = {}
        self.core: HubCore
        self.applied: set[str] = set()
        self.session_ids: tuple[str, ...] = ()
        self.answers: Callable[[str, Envelope, Any], tuple[str, Any, float] | None] = lambda peer, frame, payload: None
        """(type, payload, seconds until it is durable) of the answer to a request by one-shot."""
        self.dials = 0
        """How often it has dialled somebody for a link."""
        self.repeats = 0.0
        """How likely what it sends by a link is sent again."""
        self._ends: dict[int, End] = {}
        self._errands: dict[int, Errand] = {}
        self._linked: dict[str, int] = {}
        self._said: dict[str, list[tuple[int, bytes]]] = {}
        self._counter = itertools.count()

    # Time.

    @property
    def now(self) -> float:
        """Its monotonic clock."""
        return self.network.now + self.ahead

    @property
    def wall_millis(self) -> int:
        """Its wall clock."""
        return int((1_800_000_000 + self.network.now + self.skew) * 1000)

    def start(self, first_tick: float | None = None) -> None:
        """The hub comes up, knowing what was durable."""
        self.up = True
        self.life += 1
        options = HubOptions("sim", heartbeat_seconds=HEARTBEAT_SECONDS)
        chance = self.network.random.randbytes
        self.core = HubCore(self.name, self.keys, options, chance, now=self.now, wall_millis=self.wall_millis)
        self._repeat(first_tick or self.network.random.random(), 1.0, self._tick)
        self._repeat(self.network.random.random(), COLLECT_SECONDS, self._collect)

    def crash(self, *, silently: bool) -> None:
        """The process ends wherever it is."""
        self.up = False
        self.network.vanish(self, silently=silently)
        self._ends.clear()
        self._linked.clear()
        errands, self._errands = self._errands, {}
        for errand in errands.values():
            errand.over = True

    def _repeat(self, first: float, every: float, step: Callable[[], None]) -> None:
        life = self.life

        def again() -> None:
            if self.up and self.life == life:
                step()
                self.network.at(every, again)

        self.network.at(first, again)

    def _tick(self) -> None:
        self.core.tick(self.now, self.wall_millis)
        self._act()

    def _collect(self) -> None:
        rows = [SessionRow(pid=1, project="p", session_id=name) for name in self.session_ids]
        self.core.neighbours.collected(rows, self.now)

    # The network's side.

    def accepted(self, end: End) -> None:
        self._ends[end.number] = end
        self.core.accept(end.number, end.other.host.address, self.now)  # type: ignore[attr-defined]  # all are hubs
        self._act()

    def received(self, end: End, data: bytes) -> None:
        self.core.received(end.number, data, self.now)
        self._act()

    def ended(self, end: End) -> None:
        self.core.ended(end.number, self.now)
        self._act()

    def reset(self, end: End, reason: str) -> None:
        self.core.closed(end.number, reason, self.now)
        self._act()

    # What the core wants done.

    def _act(self) -> None:
        while self.up and (actions := self.core.take()):
            for action in actions:
                self._do(action)

    def _do(self, action: object) -> None:
        match action:
            case Write():
                self._write(action.conn, action.data)
            case Close():
                if (end := self._ends.pop(action.conn, None)) is not None:
                    self.network.shut(end, abort=action.abort)
                if (errand := self._errands.pop(action.conn, None)) is not None:
                    errand.finish(None)
            case Dial():
                self._dial(action)
            case Deliver():
                for frame in action.envelopes:
                    self._deliver(action.conn, action.peer, frame)
            case Linked():
                if self.core.link(action.peer) is None and action.peer in self._linked:
                    raise Violation(f"{self.name}: two links to {action.peer}")
                self._linked[action.peer] = action.conn
            case Unlinked():
                if self._linked.pop(action.peer, None) is None:
                    raise Violation(f"{self.name}: {action.peer} was unlinked without a link")
            case Settled():
                if isinstance(action.outcome, Authenticated) and (errand := self._errands.get(action.conn)):
                    self.core.send(action.conn, errand.msg_type, errand.payload, self.now)

    def _write(self, conn: int, data: bytes) -> None:
        end = self._ends.get(conn)
        if end is None:
            return
        self.network.send(end, data)
        other: SimHub = end.other.host  # type: ignore[assignment]  # all are hubs
        if not data.startswith(FRAME) or self._linked.get(other.name) != conn:
            return
        said = self._said.setdefault(other.name, [])
        said.append((other.life, data))
        del said[:-20]
        if self.network.random.random() < self.repeats:
            life, old = self.network.random.choice(said)
            if life == other.life:  # a hub that was restarted has no memory of it
                self.network.send(end, old)

    def _dial(self, order: Dial) -> None:
        host, life = self.others[order.address], self.life
        self.dials += 1

        def made(end: End) -> None:
            if not self.up or self.life != life:
                self.network.shut(end, abort=True)
                return
            self._ends[end.number] = end
            self.core.connected(order.dial, end.number, host.address, self.now)
            self._act()

        def failed(reason: str) -> None:
            if self.up and self.life == life:
                self.core.unreachable(order.dial, reason, self.now)
                self._act()

        self.network.dial(self, host, made, failed)

    # Messages and errands.

    def _deliver(self, conn: int, peer: str, frame: Envelope) -> None:
        payload = decode_payload(frame)
        if (errand := self._errands.pop(conn, None)) is not None:
            errand.finish((payload, frame))
            self.core.closed(conn, "answered", self.now)
        elif frame.msg_type == "task_status":
            task: str = payload.task_id  # type: ignore[union-attr]  # its own type
            if task in self.applied:
                raise Violation(f"{self.name} applied {task} of {peer} twice")
            if not task.startswith(peer):
                raise Violation(f"{self.name} took {task} for one of {peer}'s")
            self.applied.add(task)
        elif (answer := self.answers(peer, frame, payload)) is not None:
            life = self.life

            def reply() -> None:
                if self.up and self.life == life:
                    self.core.send(conn, answer[0], answer[1], self.now)
                    self._act()

            self.network.at(answer[2], reply)

    def tell(self, peer: "SimHub") -> None:
        """One numbered message by the link, if there is one."""
        link = self.core.link(peer.name)
        if link is not None and link.role is Role.LINK:
            self.core.send(link.conn, "task_status", {"task_id": f"{self.name}-{next(self._counter)}"}, self.now)
            self._act()

    def ask(self, peer: "SimHub", msg_type: str, payload: Any, done: Callable[[Any], None], seconds: float) -> None:
        """One request by a one-shot; `done` gets (payload, envelope) or None, unless this hub crashes."""
        errand, life = Errand(msg_type, payload, done), self.life

        def alive() -> bool:
            return self.up and self.life == life and not errand.over

        def made(end: End) -> None:
            if not alive():
                self.network.shut(end, abort=True)
                return
            self._ends[end.number] = end
            self._errands[end.number] = errand
            order = DialOrder(self.keys.shared[peer.name], peer.name, transient=True)
            self.core.ordered(end.number, f"{peer.address}:9847", peer.address, order, self.now)
            self._act()
            self.network.at(seconds, lambda: expire(end.number))

        def expire(conn: int) -> None:
            if alive():
                self.core.closed(conn, "no answer in time", self.now)
                self._act()

        self.network.dial(self, peer, made, lambda reason: errand.finish(None) if alive() else None)
