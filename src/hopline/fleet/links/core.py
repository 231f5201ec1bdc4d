"""The hub's core: connections, links, dialling, heartbeats. Pure: bytes and times in, actions out (docs/wire/peer.md).

Whoever owns it calls in as things happen, then does what `take` gives, in order. A connection is named by a number
that the owner chooses and never uses twice. After a Close of it nothing of it is taken any more.
"""

from collections.abc import Callable

from hopline.fleet.links import linking, openings
from hopline.fleet.links.actions import Action, Close, Deliver, Dial, DialOrder, HubOptions
from hopline.fleet.links.channels import Channel, Keys, Role
from hopline.fleet.links.dedup import Seen
from hopline.fleet.links.dialplan import DialPlan
from hopline.fleet.links.neighbours import Neighbours
from hopline.fleet.links.state import CoreState
from hopline.fleet.ports import Payload
from hopline.wire.peer.envelope import Envelope
from hopline.wire.peer.events import Authenticated, Denied, Ended, Event, Faulted, Received, UnknownType, WrongPeer
from hopline.wire.peer.limits import DEAD_SECONDS

MAX_UNKNOWN = 1024
"""Pairs of peer and unknown type that are logged, each once."""

EMPTY = "it closed the connection before the handshake was over"


class HubCore:
    """One hub.

    Args:
        identity: this machine's id.
        entropy: random bytes, as many as asked for.
        now: monotonic seconds, as in every call.
        wall_millis: milliseconds since the epoch at `now`.
    """

    def __init__(
        self,
        identity: str,
        keys: Keys,
        options: HubOptions,
        entropy: Callable[[int], bytes],
        *,
        now: float,
        wall_millis: int,
    ) -> None:
        self._state = CoreState(identity, keys, options, entropy, wall_millis - now * 1000)
        self._seen = Seen()
        self._unknown: set[tuple[str, str]] = set()

    @property
    def identity(self) -> str:
        """This machine's id."""
        return self._state.identity

    @property
    def options(self) -> HubOptions:
        """How it behaves."""
        return self._state.options

    @property
    def neighbours(self) -> Neighbours:
        """What peers told of themselves, and what this machine tells."""
        return self._state.neighbours

    @property
    def plan(self) -> DialPlan:
        """Where the dialling of peers stands."""
        return self._state.plan

    @property
    def handshakes(self) -> int:
        """Inbound ones under way."""
        return len(self._state.handshakes)

    @property
    def linked(self) -> frozenset[str]:
        """The peers with a link."""
        return frozenset(self._state.links)

    def link(self, peer: str) -> Channel | None:
        """The link of that peer."""
        return self._state.links.get(peer)

    def channel(self, conn: int) -> Channel | None:
        """An open connection; None after its Close."""
        return self._state.channels.get(conn)

    def take(self) -> list[Action]:
        """What is to be done, each once."""
        actions, self._state.actions = self._state.actions, []
        return actions

    def accept(self, conn: int, source: str, now: float) -> None:
        """Somebody has connected.

        Args:
            source: its IP address, in one form (`addresses.source_of`).
        """
        openings.accept(self._state, conn, source, now)

    def connected(self, dial: int, conn: int, source: str, now: float) -> None:
        """A Dial has a connection."""
        peer = self.plan.peer_of(dial)
        course = self.plan.course(peer) if peer is not None else None
        key = self._state.keys.key(peer) if peer is not None else None
        if peer is None or course is None or key is None:
            self._state.actions.append(Close(conn, "no longer wanted"))
            return
        openings.dialled(self._state, conn, course.address, source, DialOrder(key, peer), now, dial=dial)

    def unreachable(self, dial: int, problem: str, now: float) -> None:
        """A Dial found nobody."""
        self.plan.failed(dial, problem, now)

    def ordered(self, conn: int, address: str, source: str, order: DialOrder, now: float) -> None:
        """A connection to `address` that was asked for is there. A Settled says how its opening ends."""
        openings.dialled(self._state, conn, address, source, order, now).wanted = True

    def received(self, conn: int, data: bytes, now: float) -> None:
        """Bytes have come."""
        channel = self.channel(conn)
        if channel is not None:
            self._handle(channel, channel.machine.receive(data), now)

    def ended(self, conn: int, now: float) -> None:
        """The peer sends nothing more; for us that is its leaving."""
        channel = self.channel(conn)
        if channel is not None:
            self._handle(channel, channel.machine.receive_eof(), now)

    def closed(self, conn: int, reason: str, now: float) -> None:
        """The connection is gone."""
        channel = self.channel(conn)
        if channel is not None:
            self._state.end(channel, reason, now, abort=True)

    def hang_up(self, conn: int, reason: str, now: float) -> None:
        """The owner has no more use for the connection; what was written is sent first."""
        channel = self.channel(conn)
        if channel is not None:
            self._state.end(channel, reason, now)

    def send(self, conn: int, msg_type: str, payload: Payload, now: float) -> bool:
        """One message. False when that connection is not open, or holds too many already.

        Raises Misuse when it is longer than a frame may be.
        """
        channel = self.channel(conn)
        return (
            channel is not None
            and channel.role is not Role.OPENING
            and self._state.send(channel, msg_type, payload, now)
        )

    def forget(self, peer: str, now: float) -> None:
        """It is not paired any more: every connection with it ends."""
        self.neighbours.forget(peer)
        for channel in [one for one in self._state.channels.values() if one.peer == peer]:
            self._state.end(channel, "the pairing was ended here", now)
        self.plan.drop(peer)

    def tell(self, now: float) -> None:
        """What this machine tells of itself has changed: every link carries it at the next tick."""
        for conn in self._state.links.values():
            conn.beat_at = now

    def tick(self, now: float, wall_millis: int) -> None:
        """Time has passed; call it about once a second."""
        state = self._state
        state.wall_ahead = wall_millis - now * 1000
        for channel in list(state.channels.values()):
            if channel.conn in state.channels:
                self._overdue(channel, now)
        if state.options.dials:
            self.plan.set_peers(state.keys.peers() - {self.identity}, self.linked, now)
            room = state.options.max_peers - len(state.links)
            state.actions += [Dial(*due) for due in self.plan.due(now, room)]

    def _overdue(self, channel: Channel, now: float) -> None:
        match channel.role:
            case Role.OPENING:
                openings.overdue(self._state, channel, now)
            case Role.LINK:
                linking.overdue(self._state, channel, now)
            case Role.ONE_SHOT:
                if now - channel.frame_at > DEAD_SECONDS:
                    self._state.end(channel, f"a one-shot without a frame for {DEAD_SECONDS:g} s", now)
            case Role.ERRAND:
                pass  # whoever ordered it watches the time

    def _handle(self, channel: Channel, events: list[Event], now: float) -> None:
        state = self._state
        envelopes: list[Envelope] = []
        for event in events:
            if type(event) is Received:
                frame = event.envelope
                if not self._seen.again(channel.peer, frame.id):
                    if frame.msg_type == "heartbeat":
                        linking.heard(state, channel, frame, now)
                    else:
                        envelopes.append(frame)
                continue
            if envelopes:
                state.actions.append(Deliver(channel.conn, channel.peer, envelopes))
                envelopes = []
            self._on(channel, event, now)
            if channel.conn not in state.channels:
                return
        if envelopes:
            state.actions.append(Deliver(channel.conn, channel.peer, envelopes))
        if channel.role is Role.OPENING:
            state.flush(channel)
        elif events:
            channel.frame_at = now
            state.release(channel)
            if channel.role is Role.LINK:
                linking.beat(state, channel, now)

    def _on(self, channel: Channel, event: Event, now: float) -> None:
        match event:
            case Authenticated():
                openings.authenticated(self._state, channel, event, now)
            case Denied() | WrongPeer():
                openings.refused(self._state, channel, event, now)
            case UnknownType():
                key = (channel.peer, event.msg_type)
                if key not in self._unknown and len(self._unknown) < MAX_UNKNOWN:
                    self._unknown.add(key)
                    text = f"{channel.peer} sent {event.msg_type}, which is not known here; such frames are skipped"
                    self._state.note("info", text)
            case Faulted():
                if channel.role is Role.OPENING:
                    self._state.count_failure(channel, now)
                self._state.note("warning", f"{channel.peer or channel.source}: {event.reason}; closed")
                self._state.end(channel, event.reason, now)
            case Ended():
                self._state.end(channel, EMPTY if channel.role is Role.OPENING else "the peer closed it", now)
