"""What the parts of the hub's core share: open connections, links, times, and the actions that are due. Pure."""

from collections.abc import Callable

from hopline.fleet.links.actions import Action, Close, HubOptions, Lost, Note, Settled, Unlinked, Write
from hopline.fleet.links.admission import Failures, Handshakes, bucket
from hopline.fleet.links.channels import DEAD_INTERVALS, MAX_HELD, Channel, Keys, Role
from hopline.fleet.links.dialplan import DialPlan
from hopline.fleet.links.neighbours import Neighbours
from hopline.fleet.ports import Payload
from hopline.wire.peer.events import Authenticated, Denied, WrongPeer


class CoreState:
    """One hub's. The parts change it; nobody else does.

    Args:
        identity: this machine's id.
        entropy: random bytes, as many as asked for.
        wall_ahead: milliseconds since the epoch at monotonic 0.
    """

    def __init__(
        self, identity: str, keys: Keys, options: HubOptions, entropy: Callable[[int], bytes], wall_ahead: float
    ) -> None:
        self.identity = identity
        self.options = options
        self.keys = keys
        self.entropy = entropy
        self.neighbours = Neighbours(identity)
        self.plan = DialPlan(keys.addresses)
        self.failures = Failures()
        self.handshakes = Handshakes()
        self.nonces: set[str] = set()
        """Of our challenges that are not answered yet."""
        self.channels: dict[int, Channel] = {}
        self.links: dict[str, Channel] = {}
        self.actions: list[Action] = []
        self.wall_ahead = wall_ahead

    @property
    def dead_seconds(self) -> float:
        """A link without a heartbeat for longer is dead."""
        return DEAD_INTERVALS * self.options.heartbeat_seconds

    def wall(self, now: float) -> int:
        """Milliseconds since the epoch."""
        return int(self.wall_ahead + now * 1000)

    def note(self, level: str, text: str) -> None:
        """For the log."""
        self.actions.append(Note(level, text))

    def send(self, channel: Channel, msg_type: str, payload: Payload, now: float) -> bool:
        """One message; it waits while the connection may not be written to. False when too many wait already."""
        entropy = self.entropy(8).hex()
        data = channel.machine.encode(msg_type, payload, now_millis=self.wall(now), entropy=entropy)
        if channel.machine.may_send:
            self.actions.append(Write(channel.conn, data))
        elif len(channel.held) < MAX_HELD:
            channel.held.append(data)
        else:
            return False
        return True

    def release(self, channel: Channel) -> None:
        """Send what waited, once it may go."""
        if channel.held and channel.machine.may_send:
            self.actions += [Write(channel.conn, data) for data in channel.held]
            channel.held.clear()

    def flush(self, channel: Channel) -> None:
        """Send what the opening has to say."""
        if data := channel.machine.data_to_send():
            self.actions.append(Write(channel.conn, data))

    def count_failure(self, channel: Channel, now: float) -> None:
        """An inbound opening failed."""
        if channel.door is None:
            return
        name = bucket(channel.source, channel.door.claimed)
        if name is not None and self.failures.count(name, now):
            self.note("warning", f"{name}: too many failed handshakes; shut out for a minute")

    def settle(self, channel: Channel, outcome: Authenticated | Denied | WrongPeer | Lost) -> None:
        """Tell whoever waits for it how the opening ended; once."""
        if channel.wanted:
            channel.wanted = False
            self.actions.append(Settled(channel.conn, outcome))

    def end(self, channel: Channel, reason: str, now: float, *, abort: bool = False) -> None:
        """The connection is over."""
        del self.channels[channel.conn]
        self.handshakes.end(channel.conn)
        self.nonces.discard(channel.nonce)
        self.settle(channel, Lost(reason))
        if channel.dial is not None and channel.role is Role.OPENING:
            self.plan.failed(channel.dial, reason, now)
        peer = channel.peer
        if peer and self.links.get(peer) is channel:
            del self.links[peer]
            self.plan.lost(peer, now, dialled=not channel.inbound, problem=reason)
            self.actions.append(Unlinked(peer, reason))
            self.note("info", f"{peer} is disconnected: {reason}")
        elif channel.inbound or channel.role is not Role.OPENING:
            self.note("debug", f"a connection of {peer or channel.source} ended: {reason}")
        self.actions.append(Close(channel.conn, reason, abort))
