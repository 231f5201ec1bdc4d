"""What the rooms of the hub need of its links, and what they offer to its control socket."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from hopline.wire.peer.envelope import Envelope

Payload = Mapping[str, Any] | msgspec.Struct


class Inbound(Protocol):
    """The connection a message came by."""

    @property
    def peer(self) -> str:
        """The authenticated id; never what a frame says."""

    @property
    def features(self) -> frozenset[str]:
        """What both ends agreed."""

    @property
    def transient(self) -> bool:
        """Whether it is a one-shot."""

    async def send(self, msg_type: str, payload: Payload) -> bool:
        """Answer by the same connection. False when it is gone. Waits while the peer takes nothing (10 s, then cut)."""


class OneShot(Protocol):
    """A dialled, authenticated connection that carries one errand and is closed."""

    @property
    def peer(self) -> str: ...

    @property
    def features(self) -> frozenset[str]: ...

    async def send(self, msg_type: str, payload: Payload) -> None:
        """Raises Unavailable when the connection ends before the bytes are taken."""

    async def receive(self) -> Envelope:
        """The next frame. Raises Unavailable when the connection ends. Bound it with asyncio.timeout."""


Handler = Callable[[Inbound, Envelope], Awaitable[None]]
"""Called for each message of its type, in order, one at a time a connection; the connection is not read meanwhile."""


@dataclass(frozen=True, slots=True)
class PeerSessions:
    """What a peer's latest heartbeat with `sessions` said."""

    session_ids: frozenset[str]
    received_at: float
    """Monotonic seconds."""


class Links(Protocol):
    """The hub's connections to other machines, as leases, transfers and tasks use them."""

    @property
    def identity(self) -> str:
        """This machine's id."""

    def peers(self) -> frozenset[str]:
        """The ids that are paired."""

    def connected(self, peer: str) -> bool: ...

    def sessions(self, peer: str) -> PeerSessions | None:
        """None before the first heartbeat with sessions and for this machine's own id before its first collection."""

    def handle(self, msg_type: str, handler: Handler) -> None:
        """Register what answers `msg_type`. One handler a type."""

    async def send(self, peer: str, msg_type: str, payload: Payload) -> bool:
        """By the link. False when there is none."""

    def one_shot(self, peer: str, *, offer: frozenset[str] | None = None) -> AbstractAsyncContextManager[OneShot]:
        """Dial, authenticate, hand over. One at a time a peer.

        Args:
            offer: features to advertise; None for what one-shots offer by default.

        Raises NotPaired, PeerUnreachable or PeerDenied (hopline.fleet.errors), each a sentence with its next step.
        """


Progress = Callable[[msgspec.Struct], None]


@dataclass(frozen=True, slots=True)
class Operation:
    """One control operation: what its `args` must be, and what answers it with the result struct.

    The handler raises HoplineError to refuse. It is cancelled when the asker goes away, unless `outlives_asker`.
    """

    args: type[msgspec.Struct]
    run: Callable[[Any, Progress], Awaitable[msgspec.Struct]]
    outlives_asker: bool = False


class Room(Protocol):
    """A part of the hub that lives on its links: leases, transfers."""

    def attach(self, links: Links) -> None:
        """Register what answers messages. Called once, before the first connection."""

    def operations(self) -> Mapping[str, Operation]:
        """What the control socket may ask of it, by name."""

    async def run(self) -> None:
        """Do what is due by time until cancelled; then give back what is held. Called once, on the hub's loop."""
