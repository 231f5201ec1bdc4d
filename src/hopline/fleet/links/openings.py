"""How connections begin, pure: who may, what is proved, and what an opened connection becomes."""

from hopline.fleet.links.actions import Close, DialOrder, Opened
from hopline.fleet.links.admission import bucket
from hopline.fleet.links.channels import Channel, Door, Role
from hopline.fleet.links.linking import register
from hopline.fleet.links.state import CoreState
from hopline.wire.peer.connection import PeerConnection
from hopline.wire.peer.events import Authenticated, Denied, WrongPeer
from hopline.wire.peer.limits import HANDSHAKE_SECONDS, HOLD_SECONDS
from hopline.wire.peer.pairing import address_text
from hopline.wire.peer.proof import NONCE_BYTES, nonce_text

MAX_ONE_SHOTS = 16
"""One-shots of one peer at a time."""


def accept(state: CoreState, conn: int, source: str, now: float) -> None:
    """Somebody has connected: challenge it, unless its source is shut out."""
    shut = bucket(source, None)
    if shut is not None and state.failures.locked(shut, now):
        state.actions.append(Close(conn, f"{source} failed too often"))
        return
    crowded = state.handshakes.begin(conn, source)
    if crowded is not None and crowded != conn:
        state.end(state.channels[crowded], "too many handshakes at once", now)
    nonce = nonce_text(state.entropy(NONCE_BYTES))
    door = Door(state.keys, lambda claimed: state.failures.locked(bucket(source, claimed) or source, now))
    machine = PeerConnection.listener(state.identity, door, nonce=nonce, now_millis=state.wall(now))
    channel = state.channels[conn] = Channel(conn, machine, source, now, door=door, nonce=nonce)
    state.nonces.add(nonce)
    state.flush(channel)


def dialled(
    state: CoreState, conn: int, address: str, source: str, order: DialOrder, now: float, *, dial: int | None = None
) -> Channel:
    """We have connected: wait for the challenge."""
    machine = PeerConnection.dialler(
        state.identity,
        order.key,
        order.expected,
        version=state.options.version,
        now_millis=state.wall(now),
        offer=order.offer,
        listen_port=None if order.transient else state.options.listen_port,
        transient=order.transient,
        own_nonces=state.nonces,
    )
    channel = state.channels[conn] = Channel(conn, machine, source, now, address=address, order=order, dial=dial)
    return channel


def overdue(state: CoreState, channel: Channel, now: float) -> None:
    """Time has passed."""
    if now - channel.opened_at > HANDSHAKE_SECONDS:
        state.count_failure(channel, now)
        state.end(channel, f"no handshake within {HANDSHAKE_SECONDS:g} s", now)


def refused(state: CoreState, channel: Channel, event: Denied | WrongPeer, now: float) -> None:
    """The opening ended with a no, or with somebody else."""
    state.flush(channel)
    if channel.inbound:
        state.count_failure(channel, now)
        problem = f"refused {event.peer or 'somebody'}: no such pairing, or a wrong proof"
    elif isinstance(event, WrongPeer):
        problem = f"{event.peer} answered instead"
    else:
        problem = "it refuses our key"
    if channel.dial is not None:
        state.plan.failed(channel.dial, problem, now, hopeless=isinstance(event, Denied))
        channel.dial = None
    state.settle(channel, event)
    if channel.inbound:
        state.note("warning", problem)
    state.end(channel, problem, now)


def authenticated(state: CoreState, channel: Channel, event: Authenticated, now: float) -> None:
    """The opening is done: the connection becomes a link, or somebody's errand."""
    peer = event.peer
    if channel.inbound and not _has_room(state, event):
        state.end(channel, f"{peer}: no room for more", now)
        return
    state.handshakes.end(channel.conn)
    state.nonces.discard(channel.nonce)
    state.flush(channel)
    state.neighbours.greeted(peer, event.version)
    channel.frame_at = channel.heard_at = channel.beat_at = now
    channel.hold_until = now + HOLD_SECONDS
    if event.used_pending:
        state.note("info", f"paired with {peer}")
    _note_place(state, channel, event, now)
    state.actions.append(Opened(channel.conn, peer, event.features, event.transient))
    state.settle(channel, event)
    if event.transient:
        channel.role = Role.ONE_SHOT if channel.inbound else Role.ERRAND
    else:
        register(state, channel, now)


def _has_room(state: CoreState, event: Authenticated) -> bool:
    if event.transient:
        count = sum(one.role is Role.ONE_SHOT and one.peer == event.peer for one in state.channels.values())
        return count < MAX_ONE_SHOTS
    return len(state.links.keys() - {event.peer}) < state.options.max_peers


def _note_place(state: CoreState, channel: Channel, event: Authenticated, now: float) -> None:
    """Keep the key where the opening was a pairing, and the address where the peer is now known to be."""
    seconds = state.wall(now) // 1000
    if (order := channel.order) is not None:
        if order.keep:
            state.keys.keep(event.peer, order.key)
        elif order.pending:
            state.keys.claim_pending(event.peer)
        state.keys.note_addresses(event.peer, [channel.address], seconds, seen=True)
    elif not event.transient:
        where = [address_text(channel.source, event.listen_port)] if event.listen_port else []
        state.keys.note_addresses(event.peer, where, seconds, seen=True)
