"""The three frames that open a connection (docs/wire/peer.md, "Opening a connection")."""

from typing import Any

import msgspec

from hopline.wire.peer.limits import MAX_SHOWN_CHARACTERS
from hopline.wire.peer.texts import shown

OK = "ok"
DENIED = "denied"


class Challenge(msgspec.Struct, frozen=True):
    """Listener to dialler, first of all."""

    nonce: str


class Handshake(msgspec.Struct, frozen=True, omit_defaults=True):
    """Dialler to listener."""

    proof: str
    version: str | None = None
    """The program's; logged, never compared."""
    proto: int | None = None
    features: list[str] | None = None
    listen_port: int | None = None
    """Where the dialler accepts connections, when it does so at every address it has."""
    transient: bool = False
    """A one-shot."""


class HandshakeAck(msgspec.Struct, frozen=True, omit_defaults=True):
    """Listener to dialler. `proto` and `features` only when the handshake had `proto`."""

    status: str
    proto: int | None = None
    features: list[str] | None = None


class Said(msgspec.Struct, frozen=True):
    """An opening frame as a peer may send it: any key may be missing or nonsense, which then reads as not said."""

    nonce: Any = None
    proof: Any = None
    status: Any = None
    version: Any = None
    proto: Any = None
    features: Any = None
    listen_port: Any = None
    transient: Any = None

    @property
    def version_shown(self) -> str:
        """Bounded and filtered; empty when it is no string."""
        return shown(self.version, MAX_SHOWN_CHARACTERS) if isinstance(self.version, str) else ""

    @property
    def port(self) -> int | None:
        """The port to dial back, if it is one."""
        port = self.listen_port
        return port if isinstance(port, int) and not isinstance(port, bool) and 0 < port < 65536 else None


_said = msgspec.json.Decoder(Said).decode


def read_opening(payload: msgspec.Raw) -> Said:
    """What an opening frame says; nothing at all when it is no object."""
    try:
        return _said(payload)
    except (msgspec.MsgspecError, RecursionError):
        return Said()
