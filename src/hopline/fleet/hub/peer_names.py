"""How a person names a peer."""

from collections.abc import Collection

from hopline.errors import UsageError
from hopline.wire.peer.limits import MAX_SHOWN_CHARACTERS


def named_peer(named: str, peers: Collection[str]) -> str:
    """The id that `named` is, or begins alone; `named` itself when it is neither. Raises UsageError for several."""
    found = [named] if named in peers else sorted(peer for peer in peers if named and peer.startswith(named))
    if len(found) > 1:
        shown = named[:MAX_SHOWN_CHARACTERS]
        raise UsageError(f"{shown!r} begins {len(found)} peers: {', '.join(found[:4])}; write more of it.")
    return found[0] if found else named
