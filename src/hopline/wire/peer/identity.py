"""Who a hub is: `<short host name>-<8 hex>` (docs/wire/peer.md, "Identity")."""

import re

from hopline.wire.peer.limits import MAX_PEER_ID_CHARACTERS

PENDING = "_pending"
"""Names the key that nobody claimed yet; no peer's id."""
ENTROPY_BYTES = 4

_PEER_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_PEER_ID_CHARACTERS}}}")
_NOT_LABEL = re.compile(r"[^a-z0-9-]")


def host_label(host: str) -> str:
    """The first label of a host name as an id may hold it; `unknown` when nothing is left of it."""
    label = _NOT_LABEL.sub("-", host.split(".")[0].lower())[:63].strip("-")
    return label or "unknown"


def new_identity(host: str, entropy: bytes) -> str:
    """An id for this machine.

    Args:
        host: what the machine calls itself.
        entropy: 4 random bytes.
    """
    return f"{host_label(host)}-{entropy[:ENTROPY_BYTES].hex()}"


def is_peer_id(text: str) -> bool:
    """Whether a peer may have this id. It is then safe as a file's name."""
    return text != PENDING and _PEER_ID.fullmatch(text) is not None
