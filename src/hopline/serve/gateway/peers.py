"""Whose process is at the other end of a loopback connection: asked of the kernel, so that no other user gets in.

WG-OWNER: a cookie for 127.0.0.1 is sent to every port there, whoever listens on it, so a session alone does not prove
its user. Linux tells the owner of a socket (sock_diag(7)); where it does not, the credential decides alone.
"""

import socket
import struct

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST = 1
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBBI")
_NO_COOKIE = b"\xff" * 8
_UID_OFFSET = _HEADER.size + 64
"""inet_diag_msg: 4 bytes, a 48-byte socket id, expires, rqueue, wqueue, then the uid."""


def owner_of(here: tuple[str, int], there: tuple[str, int]) -> int | None:
    """The uid that owns the IPv4 TCP socket at `there` which is connected to `here`; None when it cannot be told."""
    addresses = socket.inet_aton(there[0]) + bytes(12) + socket.inet_aton(here[0]) + bytes(12)
    identity = struct.pack("!HH", there[1], here[1]) + addresses + bytes(4) + _NO_COOKIE
    body = _REQUEST.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF) + identity
    header = _HEADER.pack(_HEADER.size + len(body), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 1, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_SOCK_DIAG) as kernel:
            kernel.settimeout(1.0)
            kernel.send(header + body)
            reply = kernel.recv(4096)
    except OSError:
        return None
    if len(reply) < _UID_OFFSET + 4 or struct.unpack_from("=H", reply, 4)[0] != _SOCK_DIAG_BY_FAMILY:
        return None
    uid: int = struct.unpack_from("=I", reply, _UID_OFFSET)[0]
    return uid
