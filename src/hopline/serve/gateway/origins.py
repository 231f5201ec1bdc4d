"""Which web origins and hosts this gateway answers. Pure. Both are exact (WG-EXACT-HOST, WG-EXACT-ORIGIN)."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

_HOST = re.compile(r"[a-z0-9.-]+")
_DEFAULT_PORTS = {"http": 80, "https": 443}


def parse_origin(text: str) -> str:
    """A configured origin as browsers write it: scheme, host, and the port unless it is the scheme's own.

    Raises ValueError that says what is wrong: another scheme, user information, a path or query, a host that is
    neither [a-z0-9-.] nor an IPv6 address, port 0.
    """
    parts = urlsplit(text)
    if parts.scheme not in _DEFAULT_PORTS:
        raise ValueError(f"{text!r} is no web origin: it must begin with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"{text!r} carries a user name; an origin has none")
    if parts.path or parts.query or parts.fragment or text.endswith(("?", "#")):
        raise ValueError(f"{text!r} has more than scheme, host and port; an origin ends there")
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{ipaddress.IPv6Address(host).compressed}]"
    elif not _HOST.fullmatch(host):
        raise ValueError(f"{text!r} has no usable host; write for example http://localhost:9000")
    port = parts.port  # raises ValueError past 65535
    if port == 0:
        raise ValueError(f"{text!r} has port 0")
    shown = "" if port is None or port == _DEFAULT_PORTS[parts.scheme] else f":{port}"
    return f"{parts.scheme}://{host}{shown}"


@dataclass(frozen=True, slots=True)
class Admission:
    """Who may come, by name.

    Attributes:
        origins: allowed values of Origin, exactly.
        hosts: allowed values of Host, in lower case, exactly.
    """

    origins: frozenset[str]
    hosts: frozenset[str]

    @classmethod
    def on_port(cls, port: int, configured: tuple[str, ...] = ()) -> "Admission":
        """The gateway's own names on its bound port, and the hosts and origins that a person added."""
        origins = {parse_origin(f"http://127.0.0.1:{port}"), *configured}
        hosts = {f"127.0.0.1:{port}"}
        for origin in origins:
            scheme, _, authority = origin.partition("://")
            hosts.add(authority)
            if _bare(authority):
                hosts.add(f"{authority}:{_DEFAULT_PORTS[scheme]}")
        return cls(frozenset(origins), frozenset(hosts))

    def socket_sources(self) -> tuple[str, ...]:
        """The WebSocket addresses that the page may connect to, for its content security policy."""
        return tuple(sorted("ws" + origin.removeprefix("http") for origin in self.origins))


def _bare(authority: str) -> bool:
    """Whether the authority names no port."""
    return authority.endswith("]") or ":" not in authority
