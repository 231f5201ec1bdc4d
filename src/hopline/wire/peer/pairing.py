"""Codes, invites and the keys they stand for (docs/wire/peer.md, "Pairing")."""

import base64
import binascii
import hashlib
import ipaddress
import re

import msgspec

from hopline.errors import UsageError
from hopline.wire.peer.identity import is_peer_id
from hopline.wire.peer.limits import DEFAULT_PORT
from hopline.wire.peer.texts import shown

PREFIX_BYTES = 8
_SCHEME = "cctl://"
_PACKED_BYTES = 13
_OLD_PACKED_CHARACTERS = 15
_DEFAULT_PORT_BYTE = 128
_PHRASE_WORDS = 13
_NOT_HEX = re.compile(r"[^0-9A-Fa-f]")


class BadInvite(UsageError):
    """What was typed is no code, no link and nothing else that invites."""


class Hive(msgspec.Struct, frozen=True):
    """The hive that a link invites to."""

    hive_id: str
    name: str | None = None
    policy: str | None = None


class Invite(msgspec.Struct, frozen=True):
    """Where to connect, and the key to prove there."""

    host: str
    """An IP address, as text, without brackets."""
    port: int
    prefix: bytes
    """8 bytes; `key_of` makes the key of them."""
    peer: str | None = None
    """None in a relay code, which has no room for it."""
    hive: Hive | None = None


def code_of(prefix: bytes) -> str:
    """The pairing code: 16 hex digits, a dash after every 4."""
    digits = prefix[:PREFIX_BYTES].hex()
    return "-".join(digits[at : at + 4] for at in range(0, 16, 4))


def prefix_of(code: str) -> bytes:
    """The 8 bytes of a pairing code, however it was spaced. Raises BadInvite."""
    digits = _NOT_HEX.sub("", code)
    if len(digits) != 2 * PREFIX_BYTES:
        raise BadInvite(f"{shown(code)!r} is no pairing code: it has 16 hex digits, such as a1b2-c3d4-e5f6-0789")
    return bytes.fromhex(digits)


def key_of(prefix: bytes) -> bytes:
    """The 32 bytes that both sides keep. Every form of invite derives them so (PL-ONE-DERIVATION)."""
    return prefix + hashlib.sha256(prefix).digest()[PREFIX_BYTES:]


def address_text(host: str, port: int) -> str:
    """`ip:port`, IPv6 in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def read_address(text: str) -> tuple[str, int] | None:
    """The address in `ip:port`; None for a name, an address with a zone, a port out of range and anything else."""
    host, _, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    try:
        literal = ipaddress.ip_address(host[1:-1] if bracketed else host)
    except ValueError:
        return None
    digits = port.isascii() and port.isdigit() and len(port) <= 5
    if (literal.version == 6) is not bracketed or "%" in host or not digits or not 0 < int(port) < 65536:
        return None
    return str(literal), int(port)


def link(invite: Invite) -> str:
    """The invite as a link. It needs the peer's id."""
    key, address = invite.prefix.hex(), address_text(invite.host, invite.port)
    if invite.hive is None:
        return f"{_SCHEME}{invite.peer}@{address}/k/{key}"
    name = f"&n={invite.hive.name}" if invite.hive.name else ""
    policy = f"&p={invite.hive.policy}" if invite.hive.policy else ""
    return f"{_SCHEME}hive/{invite.hive.hive_id}?a={invite.peer}@{address}&k={key}{name}{policy}"


def relay_code(invite: Invite) -> str | None:
    """The invite as 21 letters and digits; None for an address that the packed form cannot hold."""
    address = ipaddress.ip_address(invite.host)
    byte = _DEFAULT_PORT_BYTE if invite.port == DEFAULT_PORT else invite.port - DEFAULT_PORT
    if address.version != 4 or not 0 < byte < 256 or (byte == _DEFAULT_PORT_BYTE and invite.port != DEFAULT_PORT):
        return None
    text = base64.b32encode(address.packed + bytes([byte]) + invite.prefix).decode().rstrip("=")
    return "-".join(text[at : at + 3] for at in range(0, len(text), 3))


def parse_invite(text: str) -> Invite:
    """The invite that a person typed, link or relay code, told apart by exact length (PL-INVITE-FORM).

    Raises BadInvite, a sentence for each way to be wrong.
    """
    text = text.strip()
    if text.lower().startswith(_SCHEME):
        return _parse_link(text)
    words = text.split("-")
    if len(words) == _PHRASE_WORDS and all(word.isalpha() for word in words):
        raise BadInvite("word phrases are not read here; ask for the link (cctl://...) or the relay code instead")
    letters = re.sub(r"[\s-]", "", text).upper()
    if len(letters) == _OLD_PACKED_CHARACTERS:
        raise BadInvite("a relay code of 15 characters can never authenticate; ask for the link (cctl://...) instead")
    if len(letters) == 2 * PREFIX_BYTES and not _NOT_HEX.search(letters):
        raise BadInvite("this is a pairing code; use it with: hopline peer accept CODE PEER")
    try:
        packed = base64.b32decode(letters + "===") if len(letters) == 21 else b""
    except (binascii.Error, ValueError):
        packed = b""
    if len(packed) != _PACKED_BYTES or base64.b32encode(packed).decode().rstrip("=") != letters:
        raise BadInvite(f"{shown(text)!r} is neither a link (cctl://...) nor a relay code of 7 groups of 3")
    byte = packed[4]
    port = DEFAULT_PORT if byte == _DEFAULT_PORT_BYTE else DEFAULT_PORT + byte
    return Invite(str(ipaddress.IPv4Address(packed[:4])), port, packed[5:])


def _parse_link(text: str) -> Invite:
    rest = text[len(_SCHEME) :]
    hive: Hive | None = None
    if rest.startswith("hive/"):
        hive_id, _, query = rest.removeprefix("hive/").partition("?")
        said = {name: value for name, _, value in (pair.partition("=") for pair in query.split("&"))}
        target, key = said.get("a", ""), said.get("k", "")
        hive = Hive(hive_id, shown(said.get("n", "")) or None, shown(said.get("p", "")) or None)
    else:
        target, found, key = rest.partition("/k/")
        key = key if found else ""
    peer, _, address = target.partition("@")
    if hive is not None and not is_peer_id(hive.hive_id):
        raise BadInvite("the link names no hive; ask for it again")
    if not is_peer_id(peer):
        raise BadInvite("the link names no peer; ask for it again, it looks like cctl://NAME@IP:PORT/k/KEY")
    if (where := read_address(address)) is None:
        raise BadInvite("the link's address is no IP:PORT; ask for it again")
    if len(key) != 2 * PREFIX_BYTES or _NOT_HEX.search(key):
        raise BadInvite("the link's key is not 16 hex digits; ask for it again, it may have been cut short")
    return Invite(where[0], where[1], bytes.fromhex(key), peer, hive)
