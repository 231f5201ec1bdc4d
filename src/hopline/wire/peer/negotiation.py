"""What two ends agree on: the lower version, and the features that both named (docs/wire/peer.md, "Negotiation")."""

import re

import msgspec

from hopline.wire.peer.limits import MAX_FEATURES, MAX_U64, PROTO

UNKNOWN_OK = "unknown-ok"
"""Skips message types that it does not know."""
FRAME_BIN = "frame-bin"
"""Binary frames, compressed with LZ4, after the ack."""
LEASE_FLEET = "lease-fleet"
"""May ask a lease authority, or be one."""

SESSION_OFFER = "session-offer"
"""Ours: a conversation is offered before it is sent, and begun where the receiver's copy ends."""
SESSION_LZ4 = "session-lz4"
"""Ours: chunks of a conversation may be compressed."""
SESSION_RAW = "session-raw"
"""Ours: chunks of a conversation may stand behind their JSON as they are, in binary frames."""
ONE_SHOT_REUSE = "oneshot-reuse"
"""Ours: several requests may follow each other on one one-shot."""

FEATURES = frozenset({UNKNOWN_OK, FRAME_BIN, LEASE_FLEET, SESSION_OFFER, SESSION_LZ4, SESSION_RAW, ONE_SHOT_REUSE})
"""What a link offers, and what a listener agrees to."""
ONE_SHOT_FEATURES = FEATURES - {FRAME_BIN}
"""What a one-shot offers unless its errand says otherwise."""

_NAME = re.compile(r"[a-z0-9-]{1,32}")


class Agreed(msgspec.Struct, frozen=True):
    """The outcome: 0 and nothing with a peer from before negotiation."""

    proto: int = 0
    features: frozenset[str] = frozenset()


def read_proto(value: object) -> int | None:
    """The version a peer named; None when it named none, or nothing that is a version (PL-ODD-KEYS)."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_U64:
        return value
    return None


def read_features(value: object) -> frozenset[str]:
    """The feature names a peer sent: the sound ones, the first 64 of them."""
    if not isinstance(value, list):
        return frozenset()
    kept: dict[str, None] = {}
    for name in value:
        if isinstance(name, str) and _NAME.fullmatch(name):
            kept[name] = None
            if len(kept) == MAX_FEATURES:
                break
    return frozenset(kept)


def agree(proto: object, features: object, offer: frozenset[str]) -> Agreed:
    """What holds on a connection, from the peer's two keys and what we offered; both ends compute it so (PL-AGREED)."""
    theirs = read_proto(proto)
    if theirs is None:
        return Agreed()
    return Agreed(min(theirs, PROTO), read_features(features) & offer)
