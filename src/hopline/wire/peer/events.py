"""What one connection tells its owner."""

from typing import TypeAlias

import msgspec

from hopline.wire.peer.envelope import Envelope


class Authenticated(msgspec.Struct, frozen=True):
    """The opening is done. A dialler's proof was accepted; who the listener is rests on its word."""

    peer: str
    version: str
    """The dialler's, bounded and filtered; empty on the dialler's own side, since an ack carries none."""
    proto: int
    features: frozenset[str]
    transient: bool
    listen_port: int | None
    used_pending: bool
    """The pending key was proved, and is this peer's from now on."""
    peer_millis: int
    """What the peer's clock said in its handshake or ack."""


class Denied(msgspec.Struct, frozen=True):
    """The listener refused. On its own side: what was sent, after which the connection is to be closed."""

    status: str
    peer: str
    """Who refused; on the listener's side the id that was claimed, bounded and filtered."""


class WrongPeer(msgspec.Struct, frozen=True):
    """The listener accepted the proof and is not who was dialled."""

    expected: str
    peer: str


class Received(msgspec.Struct, frozen=True, gc=False):
    """A frame of a known type. Whose it is the connection knows; never act on the frame's own `from_peer`."""

    envelope: Envelope


class UnknownType(msgspec.Struct, frozen=True):
    """A type that we do not know came for the first time by this connection; its frames are dropped."""

    msg_type: str
    """Bounded and filtered."""


class Faulted(msgspec.Struct, frozen=True):
    """The peer broke the protocol: close. Nothing more will come."""

    reason: str


class Ended(msgspec.Struct, frozen=True):
    """The peer's stream is over: close. Nothing more will come."""


Event: TypeAlias = Authenticated | Denied | WrongPeer | Received | UnknownType | Faulted | Ended
