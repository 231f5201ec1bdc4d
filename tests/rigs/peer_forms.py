"""The forms of the peer wire, written from the seed and its reference alone; nothing here comes from src/.

Codes, keys, proofs, invites and LAN datagrams, as a claudectl relay of proto 0 or 1 makes and reads them.
"""

import base64
import hashlib
import hmac
import ipaddress
import json
import re
from typing import Any

VECTOR_CODE = "a1b2-c3d4-e5f6-0789"
VECTOR_KEY = bytes.fromhex("a1b2c3d4e5f60789b2c3ab776376b978ac3759614df56253ffbd4dca3cb82aa6")
VECTOR_PROOFS = {
    "0123456789abcdef" * 4: "2c8c149ef5eb30c55dfd67cdf175711361e0932f80e27d089c73d7ce4d7e9366",
    "0" * 64: "da0da3e1d5136d619b3e3771dbbb91a760d84a630c7ed590d1f4d90f7fe2118d",
}
VECTOR_RELAY_CODES = {
    ("127.0.0.1", 9847): "P4A-AAA-MAU-GZM-HVH-F6Y-DYS",
    ("192.168.1.50", 9850): "YCU-ACM-QDU-GZM-HVH-F6Y-DYS",
}
IDENTITY = re.compile(r"[A-Za-z0-9_-]{1,128}")


def key_of_code(code: str) -> bytes:
    """The 32 key bytes of a pairing code, whatever stands between its 16 hex digits."""
    digits = re.sub(r"[^0-9a-fA-F]", "", code)
    assert len(digits) == 16, f"{code!r} does not hold 16 hex digits"
    prefix = bytes.fromhex(digits)
    return prefix + hashlib.sha256(prefix).digest()[8:]


def code_of_key(key: bytes) -> str:
    """The code that gives `key`."""
    digits = key[:8].hex()
    return "-".join(digits[at : at + 4] for at in range(0, 16, 4))


def proof_of(key: bytes, nonce: str) -> str:
    """HMAC-SHA256 over the nonce's text."""
    return hmac.new(key, nonce.encode(), hashlib.sha256).hexdigest()


def link_of(identity: str, host: str, port: int, key: bytes) -> str:
    """The invite as a link."""
    place = f"[{host}]" if ":" in host else host
    return f"cctl://{identity}@{place}:{port}/k/{key[:8].hex()}"


def read_link(link: str) -> tuple[str, str, int, bytes]:
    """(identity, host, port, key) of an invite link. Only literals are addresses."""
    found = re.fullmatch(r"cctl://([A-Za-z0-9_-]{1,128})@(\[[0-9a-fA-F:.]+\]|[0-9.]+):([0-9]+)/k/([0-9a-f]{16})", link)
    assert found, f"{link!r} is no invite link"
    host = found[2].strip("[]")
    ipaddress.ip_address(host)
    return found[1], host, int(found[3]), key_of_code(found[4])


def relay_code_of(host: str, port: int, key: bytes) -> str:
    """The 13 packed bytes in base32, a dash every three characters."""
    port_byte = 128 if port == 9847 else min(max(port - 9847, 0), 255)
    packed = ipaddress.IPv4Address(host).packed + bytes([port_byte]) + key[:8]
    text = base64.b32encode(packed).decode().rstrip("=")
    return "-".join(text[at : at + 3] for at in range(0, len(text), 3))


def read_relay_code(code: str) -> tuple[str, int, bytes]:
    """(host, port, key) of a relay code."""
    text = code.replace("-", "").upper()
    packed = base64.b32decode(text + "=" * (-len(text) % 8))
    assert len(packed) == 13, f"{code!r} packs {len(packed)} bytes"
    port = 9847 if packed[4] == 128 else 9847 + packed[4]
    return str(ipaddress.IPv4Address(packed[:4])), port, key_of_code(packed[5:].hex())


def datagram_of(identity: str, port: int, version: str) -> bytes:
    """What is broadcast to UDP port 9848."""
    return b"CCTL" + json.dumps({"identity": identity, "port": port, "version": version}).encode()


def read_datagram(data: bytes) -> dict[str, Any]:
    """The announcement in a datagram."""
    assert data[:4] == b"CCTL", data
    announced: dict[str, Any] = json.loads(data[4:])
    assert IDENTITY.fullmatch(announced["identity"])
    assert isinstance(announced["port"], int)
    return announced


def slug_of(cwd: str) -> str:
    """The folder name below ~/.claude/projects: Claude Code's own layout."""
    return re.sub(r"[^A-Za-z0-9]", "-", cwd if cwd == "/" else cwd.removesuffix("/"))
