"""Where the hub listens, and where it can be reached from."""

import socket
from ipaddress import ip_address

from hopline.errors import Unavailable
from hopline.fleet.links.addresses import is_loopback
from hopline.wire.peer.limits import DEFAULT_PORT, MAX_LISTEN_ADDRESSES
from hopline.wire.peer.pairing import address_text

SOMEWHERE_ELSE = {4: "192.0.2.1", 6: "2001:db8::1"}
"""Addresses of nobody (RFC 5737, RFC 3849): a route to them goes by the interface that leads out. Nothing is sent."""


def bound(host: str, ports: list[int]) -> socket.socket:
    """A listening socket at the first of `ports` that is free. Raises Unavailable with the reason and the next step.

    Args:
        host: an IP literal; :: takes IPv4 too.
        ports: 0 for any free one.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    problem: OSError | None = None
    for port in ports:
        end = socket.socket(family, socket.SOCK_STREAM)
        try:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                end.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0 if ip_address(host).is_unspecified else 1)
            end.bind((host, port))
            end.listen(128)
            end.setblocking(False)
        except OSError as error:
            end.close()
            problem = error
            continue
        return end
    where = address_text(host, ports[-1])
    reason = "unknown" if problem is None else problem.strerror
    raise Unavailable(f"cannot listen at {where}: {reason}; name another address: hopline hub serve --listen ADDR:PORT")


def ports_to_try(asked: int, explicit: bool, last: int | None) -> list[int]:
    """The ports, in order: the usual one gives way to any free one, unless somebody asked for it.

    Args:
        last: where the last hub of this home listened after it had given way, so that peers find this one again.
    """
    if explicit or asked != DEFAULT_PORT:
        return [asked]
    return [*([last] if last else []), asked, 0]


def reachable(host: str, port: int) -> list[str]:
    """Where others can connect, for a hub that listens at `host`: the way out first, loopback last."""
    if not ip_address(host).is_unspecified:
        return [address_text(host, port)]
    import psutil

    families = (socket.AF_INET, socket.AF_INET6) if ":" in host else (socket.AF_INET,)
    found: dict[str, None] = {}
    for version in (4, 6):
        if (way := _way_out(version)) is not None:
            found[way] = None
    for each in psutil.net_if_addrs().values():
        for one in each:
            if one.family in families and "%" not in one.address:
                found[one.address] = None
    outside = [text for text in found if not is_loopback(text) and (":" not in text or ":" in host)]
    inside = [text for text in found if is_loopback(text) and ":" not in text]
    return [address_text(text, port) for text in outside[: MAX_LISTEN_ADDRESSES - 1] + inside[:1]]


def _way_out(version: int) -> str | None:
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as end:
        try:
            end.connect((SOMEWHERE_ELSE[version], 9))
            name: str = end.getsockname()[0]
        except OSError:
            return None
    return name
