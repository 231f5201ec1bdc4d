"""Announcements on the local network; nothing in them is authenticated (docs/wire/peer.md, "Discovery")."""

from contextlib import suppress
from typing import Any

import msgspec

from hopline.wire.peer.identity import is_peer_id
from hopline.wire.peer.limits import MAX_DATAGRAM_BYTES
from hopline.wire.peer.texts import shown

MAGIC = b"CCTL"


class HiveNotice(msgspec.Struct, frozen=True):
    """A named hive that the sender hosts."""

    id: str
    name: str
    join_policy: str
    peers: int = 0
    units: int = 0


class Announcement(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who listens at the datagram's source address."""

    identity: str
    port: int
    version: str = ""
    hive: HiveNotice | None = None


class _Said(msgspec.Struct, frozen=True):
    identity: str
    port: int
    version: str = ""
    hive: Any = None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Said).decode


def encode_announcement(announcement: Announcement) -> bytes:
    """The datagram."""
    return MAGIC + _encode(announcement)


def decode_announcement(datagram: bytes) -> Announcement | None:
    """What the datagram announces; None for anything else (PL-DATAGRAM).

    A hive that cannot be read is dropped, and the rest kept.
    """
    if not datagram.startswith(MAGIC) or len(datagram) > MAX_DATAGRAM_BYTES:
        return None
    try:
        said = _decode(datagram[len(MAGIC) :])
    except (msgspec.MsgspecError, RecursionError):
        return None
    if not is_peer_id(said.identity) or not 0 < said.port < 65536:
        return None
    hive: HiveNotice | None = None
    with suppress(msgspec.ValidationError):
        hive = msgspec.convert(said.hive, HiveNotice)
    return Announcement(said.identity, said.port, shown(said.version), hive)
