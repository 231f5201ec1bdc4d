"""What the hub's core wants done, in order, and what it is told to do. Values only."""

from dataclasses import dataclass, field
from typing import TypeAlias

from hopline.wire.peer.envelope import Envelope
from hopline.wire.peer.events import Authenticated, Denied, WrongPeer
from hopline.wire.peer.limits import HEARTBEAT_SECONDS, MAX_PEERS
from hopline.wire.peer.negotiation import FEATURES


@dataclass(frozen=True, slots=True)
class HubOptions:
    """How one hub behaves."""

    version: str
    max_peers: int = MAX_PEERS
    heartbeat_seconds: float = HEARTBEAT_SECONDS
    listen_port: int | None = None
    """Told to peers that we dial: set only when the hub listens at every address."""
    dials: bool = True
    """Whether peers are dialled by themselves."""


@dataclass(frozen=True, slots=True)
class DialOrder:
    """One connection that somebody asked for.

    Attributes:
        key: what to prove.
        expected: who must answer; None to take whoever accepts the proof.
        transient: an errand of its own, never the link.
        keep: the key is that peer's from now on.
        pending: the key is the pending one; it is claimed for that peer.
    """

    key: bytes = field(repr=False)
    expected: str | None = None
    transient: bool = False
    offer: frozenset[str] = FEATURES
    keep: bool = False
    pending: bool = False


@dataclass(frozen=True, slots=True)
class Write:
    """Send these bytes."""

    conn: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Close:
    """The connection is over: send what was written, then close. Nothing of it is taken any more."""

    conn: int
    reason: str
    abort: bool = False
    """Close now; nobody is there to take the rest."""


@dataclass(frozen=True, slots=True)
class Dial:
    """Connect to `address`; answer with `HubCore.connected` or `HubCore.unreachable`."""

    dial: int
    peer: str
    address: str


@dataclass(frozen=True, slots=True)
class Deliver:
    """Messages for whoever handles them, in order."""

    conn: int
    peer: str
    """Authenticated."""
    envelopes: list[Envelope]


@dataclass(frozen=True, slots=True)
class Lost:
    """An opening ended without an answer."""

    reason: str


@dataclass(frozen=True, slots=True)
class Opened:
    """The connection is authenticated; messages of it may follow."""

    conn: int
    peer: str
    features: frozenset[str]
    transient: bool


@dataclass(frozen=True, slots=True)
class Settled:
    """How the opening of an ordered connection ended."""

    conn: int
    outcome: Authenticated | Denied | WrongPeer | Lost


@dataclass(frozen=True, slots=True)
class Linked:
    """The peer has a link now."""

    peer: str
    conn: int


@dataclass(frozen=True, slots=True)
class Unlinked:
    """It has none any more."""

    peer: str
    reason: str


@dataclass(frozen=True, slots=True)
class Note:
    """For the log."""

    level: str
    """debug, info or warning."""
    text: str


Action: TypeAlias = Write | Close | Dial | Deliver | Opened | Settled | Linked | Unlinked | Note
