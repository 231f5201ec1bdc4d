"""Hubs' cores on one clock: what one writes the other receives, what is dialled is connected, nothing else happens."""

from itertools import count

from hopline.fleet.links.actions import Action, Close, Deliver, Dial, DialOrder, HubOptions, Note, Settled, Write
from hopline.fleet.links.channels import Role
from hopline.fleet.links.core import HubCore
from hopline.wire.peer.envelope import Envelope, Payload

START_MILLIS = 1_800_000_000_000
KEY = bytes(range(32))


class MemoryKeys:
    """Keys and addresses of one hub."""

    def __init__(self) -> None:
        self.known: dict[str, bytes] = {}
        self.waiting: bytes | None = None
        self.places: dict[str, list[str]] = {}

    def peers(self) -> frozenset[str]:
        return frozenset(self.known)

    def key(self, peer: str) -> bytes | None:
        return self.known.get(peer)

    def pending(self) -> bytes | None:
        return self.waiting

    def claim_pending(self, peer: str) -> None:
        assert self.waiting is not None
        self.known[peer], self.waiting = self.waiting, None

    def keep(self, peer: str, key: bytes) -> None:
        self.known[peer] = key

    def addresses(self, peer: str) -> list[str]:
        return list(self.places.get(peer, []))

    def note_addresses(self, peer: str, addresses: list[str], seconds: int, *, seen: bool) -> None:
        self.places[peer] = list(dict.fromkeys([*addresses, *self.places.get(peer, [])]))


class Node:
    """One core, its keys, and what it has done. `listens` is where others find it."""

    def __init__(self, world: "World", name: str, listens: str, options: HubOptions) -> None:
        self.world = world
        self.name = name
        self.listens = listens
        self.keys = MemoryKeys()
        self.core = HubCore(name, self.keys, options, world.random, now=world.now, wall_millis=world.wall)
        self.dials: list[Dial] = []
        """Those that were not connected yet, while `automatic` is off."""
        self.automatic = True
        self.delivered: list[tuple[int, str, Envelope]] = []
        self.notes: list[Note] = []
        self.closed: dict[int, str] = {}
        self.settled: dict[int, object] = {}

    def know(self, other: "Node", *, address: bool = False, key: bytes = KEY) -> None:
        """Both share `key`; with `address` this one knows where the other is."""
        self.keys.known[other.name] = other.keys.known[self.name] = key
        if address:
            self.keys.places[other.name] = [other.listens]

    def send(self, conn: int, msg_type: str, payload: Payload) -> bool:
        sent = self.core.send(conn, msg_type, payload, self.world.now)
        self.world.settle()
        return sent

    def link(self, other: "Node") -> int | None:
        channel = self.core.link(other.name)
        return None if channel is None else channel.conn


class World:
    """The nodes, the wires between them, and the time."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.nodes: list[Node] = []
        self._numbers = count(1)
        self._chance = count(1)
        self._ends: dict[tuple[str, int], tuple[Node, int] | None] = {}
        self.said: dict[int, bytes] = {}
        """By connection, what was written to somebody who is no node."""
        self.mute: set[str] = set()
        """Nodes whose frames after the opening get lost."""
        self.cut: set[str] = set()
        """Nodes that nothing reaches and that reach nobody."""

    @property
    def wall(self) -> int:
        return START_MILLIS + int((self.now - 1000.0) * 1000)

    def random(self, size: int) -> bytes:
        return next(self._chance).to_bytes(8, "big").rjust(size, b"\x5a")[:size]

    def node(self, name: str, listens: str = "", **options: object) -> Node:
        node = Node(self, name, listens, HubOptions("1.2.3", **options))  # type: ignore[arg-type]  # as given by the test
        self.nodes.append(node)
        return node

    def wire(self, dialler: Node, listener: Node) -> tuple[int, int]:
        """Both ends' numbers of a new connection."""
        left, right = next(self._numbers), next(self._numbers)
        self._ends[dialler.name, left] = (listener, right)
        self._ends[listener.name, right] = (dialler, left)
        return left, right

    def order(self, dialler: Node, listener: Node, order: DialOrder, source: str = "10.0.0.9") -> tuple[int, int]:
        """Dial as ordered. Returns both ends' numbers."""
        left, right = self.wire(dialler, listener)
        dialler.core.ordered(left, listener.listens, "10.0.0.1", order, self.now)
        listener.core.accept(right, source, self.now)
        self.settle()
        return left, right

    def knock(self, listener: Node, source: str) -> int:
        """Somebody connects who is no node; what is written to it is in `said`."""
        conn = next(self._numbers)
        self._ends[listener.name, conn] = None
        listener.core.accept(conn, source, self.now)
        self.settle()
        return conn

    def pass_time(self, seconds: float, *, step: float = 1.0) -> None:
        """Tick every node each `step`."""
        end = self.now + seconds
        while self.now < end - 1e-9:
            self.now = min(end, self.now + step)
            for node in self.nodes:
                node.core.tick(self.now, self.wall)
            self.settle()

    def settle(self) -> None:
        """Carry out every action until there is none."""
        busy = True
        while busy:
            busy = False
            for node in self.nodes:
                for action in node.core.take():
                    busy = True
                    self._do(node, action)

    def _do(self, node: Node, action: Action) -> None:
        match action:
            case Write():
                end = self._ends.get((node.name, action.conn))
                if end is None:
                    self.written(node, action.conn, action.data)
                elif not ({node.name, end[0].name} & self.cut or self._muted(node, action.conn)):
                    end[0].core.received(end[1], action.data, self.now)
            case Close():
                node.closed[action.conn] = action.reason
                end = self._ends.pop((node.name, action.conn), None)
                if end is not None and not {node.name, end[0].name} & self.cut:
                    end[0].core.ended(end[1], self.now)
            case Dial():
                node.dials.append(action)
                if node.automatic:
                    self.connect(node, node.dials.pop())
            case Deliver():
                node.delivered += [(action.conn, action.peer, envelope) for envelope in action.envelopes]
            case Settled():
                node.settled[action.conn] = action.outcome
            case Note():
                node.notes.append(action)
            case _:
                pass

    def _muted(self, node: Node, conn: int) -> bool:
        channel = node.core.channel(conn)
        return node.name in self.mute and channel is not None and channel.role is not Role.OPENING

    def connect(self, node: Node, dial: Dial) -> tuple[int, int] | None:
        """Whoever listens at the address takes the connection; otherwise nobody is there."""
        target = next((each for each in self.nodes if each.listens == dial.address), None)
        if target is None or {node.name, target.name} & self.cut:
            node.core.unreachable(dial.dial, "nothing listens there", self.now)
            return None
        left, right = self.wire(node, target)
        node.core.connected(dial.dial, left, dial.address.rpartition(":")[0], self.now)
        target.core.accept(right, node.listens.rpartition(":")[0] or "10.0.0.9", self.now)
        return left, right

    def written(self, node: Node, conn: int, data: bytes) -> None:
        """Bytes for somebody who is no node."""
        self.said[conn] = self.said.get(conn, b"") + data
