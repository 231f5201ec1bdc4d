"""One open connection as the core sees it, and which of two links of one peer stays. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from hopline.fleet.links.actions import DialOrder
from hopline.fleet.links.admission import STRANGER
from hopline.wire.peer.connection import KeyRing, PeerConnection
from hopline.wire.peer.limits import DEAD_SECONDS, HEARTBEAT_SECONDS

MAX_HELD = 64
"""Messages that wait on one connection for the dialler's first frame."""

DEAD_INTERVALS = DEAD_SECONDS / HEARTBEAT_SECONDS


class Role(StrEnum):
    """What a connection is for."""

    OPENING = "opening"
    LINK = "link"
    ONE_SHOT = "one-shot"
    """The peer's errand."""
    ERRAND = "errand"
    """Ours."""


class Keys(KeyRing, Protocol):
    """The keys and addresses of a hub, as the core uses them."""

    def peers(self) -> frozenset[str]:
        """The ids that are paired."""

    def keep(self, peer: str, key: bytes) -> None:
        """Share `key` with that peer from now on, durably."""

    def addresses(self, peer: str) -> list[str]:
        """Where to look for it, the most promising first."""

    def note_addresses(self, peer: str, addresses: list[str], seconds: int, *, seen: bool) -> None:
        """It is, or says it is, at these."""


class Door(KeyRing):
    """The keys as one inbound connection may try them: none at all for an id that is shut out.

    Args:
        keys: all of them.
        shut: whether the id, or STRANGER, is shut out.
    """

    def __init__(self, keys: KeyRing, shut: Callable[[str], bool]) -> None:
        self._keys = keys
        self._shut = shut
        self._closed = False
        self.claimed: str | None = None
        """The paired id that was claimed, or STRANGER; None before."""

    def key(self, peer: str) -> bytes | None:
        """See KeyRing."""
        found = self._keys.key(peer)
        self.claimed = STRANGER if found is None else peer
        self._closed = self._shut(self.claimed)
        return None if self._closed else found

    def pending(self) -> bytes | None:
        """See KeyRing."""
        return None if self._closed else self._keys.pending()

    def claim_pending(self, peer: str) -> None:
        """See KeyRing."""
        self._keys.claim_pending(peer)


@dataclass(slots=True)
class Channel:
    """One open connection."""

    conn: int
    machine: PeerConnection
    source: str
    """The other end's IP address."""
    opened_at: float
    address: str = ""
    """Where we dialled; empty for an inbound one."""
    order: DialOrder | None = None
    wanted: bool = False
    """Somebody waits for how the opening ends."""
    dial: int | None = None
    """The plan's, when it was the plan's."""
    door: Door | None = None
    nonce: str = ""
    role: Role = Role.OPENING
    frame_at: float = 0.0
    """The last whole frame."""
    heard_at: float = 0.0
    """The last heartbeat: nothing else keeps a link alive."""
    beat_at: float = 0.0
    """When the next of ours is due."""
    hold_until: float = 0.0
    held: list[bytes] = field(default_factory=list)

    @property
    def inbound(self) -> bool:
        """Whether the peer dialled."""
        return self.order is None

    @property
    def peer(self) -> str:
        """The authenticated id; empty before."""
        return self.machine.peer


def newer_stays(own: str, peer: str, *, old_inbound: bool, new_inbound: bool, old_alive: bool) -> bool:
    """Which of two links of one peer is kept, by a rule that both ends apply alike.

    A dead one goes. Of two that the same side opened the newer stays: its opener knows better than we whether the
    older still lives. Of two that were opened crosswise the one that the lower id opened stays.
    """
    if not old_alive or old_inbound == new_inbound:
        return True
    opener = peer if new_inbound else own
    return opener.encode() < (own if new_inbound else peer).encode()
