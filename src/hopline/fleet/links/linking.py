"""Links, pure: one a peer, kept alive by heartbeats and by nothing else."""

from hopline.fleet.links.actions import Linked
from hopline.fleet.links.channels import Channel, Role, newer_stays
from hopline.fleet.links.state import CoreState
from hopline.wire.peer.envelope import Envelope
from hopline.wire.peer.heartbeat import Heartbeat
from hopline.wire.peer.messages import decode_payload


def register(state: CoreState, channel: Channel, now: float) -> None:
    """The connection is the peer's link from now on, or ends because another one stays."""
    peer, old = channel.peer, state.links.get(channel.peer)
    channel.role = Role.LINK
    if old is not None:
        alive = now - old.heard_at <= state.dead_seconds
        newer = newer_stays(state.identity, peer, old_inbound=old.inbound, new_inbound=channel.inbound, old_alive=alive)
        if not newer:
            old.beat_at = now
            beat(state, old, now)  # if nobody is there any more, this finds it out
            state.end(channel, f"{peer} has a link already", now)
            return
    state.links[peer] = channel
    if old is not None:
        state.end(old, "replaced by a newer connection", now)
    state.plan.linked(peer)
    state.actions.append(Linked(peer, channel.conn))
    way = f"by {channel.address}" if channel.address else f"from {channel.source}"
    state.note("info", f"{peer} is connected {way}, proto {channel.machine.proto}, {channel.machine.framing}")


def heard(state: CoreState, channel: Channel, frame: Envelope, now: float) -> None:
    """A heartbeat has come."""
    channel.heard_at = now
    told = decode_payload(frame)
    if channel.role is not Role.LINK or not isinstance(told, Heartbeat):
        return
    ahead = frame.timestamp - state.wall(now)
    addresses = state.neighbours.heard(channel.peer, told, channel.source, now, ahead)
    if addresses:
        proven = [channel.address] if channel.address else []
        fresh = proven + [address for address in addresses if address not in proven]
        state.keys.note_addresses(channel.peer, fresh, state.wall(now) // 1000, seen=False)


def beat(state: CoreState, channel: Channel, now: float) -> None:
    """Send our heartbeat if it is due and may go."""
    if now >= channel.beat_at and channel.machine.may_send:
        channel.beat_at = now + state.options.heartbeat_seconds
        state.send(channel, "heartbeat", state.neighbours.heartbeat(channel.source), now)


def overdue(state: CoreState, channel: Channel, now: float) -> None:
    """Time has passed."""
    silent = now - channel.heard_at
    if silent > state.dead_seconds:
        state.end(channel, f"no heartbeat for {silent:.0f} s", now, abort=True)
        return
    if now >= channel.hold_until and not channel.machine.may_send:
        channel.machine.hold_is_over()
        state.release(channel)
    beat(state, channel, now)
