"""The envelope of every peer frame (docs/wire/peer.md, "Envelope")."""

import msgspec


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """One frame. `payload` is kept as it came until somebody who knows the type decodes it."""

    id: str
    msg_type: str
    from_peer: str
    timestamp: int
    """Milliseconds since the epoch, by the sender's clock."""
    payload: msgspec.Raw
