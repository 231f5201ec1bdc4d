"""Where a run is, from how a person writes it: a RUN of this machine, a socket, a gateway's URL, or ssh. Pure."""

import re
from dataclasses import dataclass, replace
from urllib.parse import SplitResult, quote, unquote, urlsplit

from hopline.errors import UsageError


@dataclass(frozen=True, slots=True)
class LocalRun:
    """A run of this machine: an id, a unique beginning of one, a name, or @last."""

    run: str


@dataclass(frozen=True, slots=True)
class SocketPath:
    """Whoever listens at a Unix socket; nothing is ever started for it."""

    path: str


@dataclass(frozen=True, slots=True)
class Gateway:
    """A run behind a gateway.

    Args:
        url: of its WebSocket, with the token in its query.
        origin: the Origin that is sent; the gateway wants its own.
    """

    url: str
    origin: str


@dataclass(frozen=True, slots=True)
class OverSsh:
    """A run of another machine.

    Args:
        host: as ssh takes it, a user before it or not.
        run: as LocalRun's, on that machine.
        port: for ssh; None for what its configuration says.
    """

    host: str
    run: str
    port: int | None = None


Target = LocalRun | SocketPath | Gateway | OverSsh

_SOCKET_SCHEME = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}
_ORIGIN_SCHEME = {"ws": "http", "wss": "https"}
_DEFAULT_PORT = {"ws": 80, "wss": 443}
_RUN_ID = r"[0-9a-f]{12}"
_RUN_PATH = re.compile(rf"/runs/({_RUN_ID})(?:/ws)?/?")
_RUN_FRAGMENT = re.compile(rf"[#/!]*(?:runs?[/=])?({_RUN_ID})(?:[/?].*)?")


def parse_target(target: str) -> Target:
    """What `target` means.

    `ssh://HOST/RUN`; `ws://`, `wss://`, `http://` or `https://` with the URL that `hopline web` or `hopline run --web`
    prints, also as the browser shows it with one run open; a path with a slash in it; anything else is a RUN.

    Raises UsageError.
    """
    scheme, separator, _ = target.partition("://")
    if separator:
        if scheme == "ssh":
            return _over_ssh(target)
        if scheme in _SOCKET_SCHEME:
            return _gateway(target)
        raise UsageError(f"{target!r} begins with {scheme}://; write ssh://HOST/RUN, or a ws:// or http:// URL.")
    if "/" in target:
        return SocketPath(target)
    if not target:
        raise UsageError("name a run: an id, a name, or @last.")
    return LocalRun(target)


def ssh_target(host: str, run: str) -> OverSsh:
    """The run `run` on `host`. Raises UsageError for a host that ssh would take for an option, or an empty name."""
    if not host or host.startswith("-") or re.search(r"[\s\x00]", host):
        raise UsageError(f"{host!r} is no host that ssh could reach; write HOST or USER@HOST.")
    if not run:
        raise UsageError(f"name a run on {host}: an id, a name, or @last.")
    return OverSsh(host, run)


def _over_ssh(target: str) -> OverSsh:
    parts = _split(target)
    place = parts.netloc if parts.port is None else parts.netloc.rpartition(":")[0]
    found = ssh_target(unquote(place).replace("[", "").replace("]", ""), unquote(parts.path.strip("/")))
    return replace(found, port=parts.port)


def _gateway(target: str) -> Gateway:
    parts = _split(target)
    scheme = _SOCKET_SCHEME[parts.scheme]
    if not parts.hostname:
        raise UsageError(f"{target!r} names no host; copy the URL that hopline web prints.")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    place = host if parts.port in (None, _DEFAULT_PORT[scheme]) else f"{host}:{parts.port}"
    query = f"?{parts.query}" if parts.query else ""
    return Gateway(f"{scheme}://{place}{_socket_route(parts)}{query}", f"{_ORIGIN_SCHEME[scheme]}://{place}")


def _socket_route(parts: SplitResult) -> str:
    if found := _RUN_PATH.fullmatch(parts.path):
        return f"/runs/{found[1]}/ws"
    if parts.path in ("", "/", "/index.html"):
        found = _RUN_FRAGMENT.fullmatch(parts.fragment)
        return f"/runs/{found[1]}/ws" if found else "/ws"
    return quote(parts.path, safe="/%")


def _split(target: str) -> SplitResult:
    try:
        parts = urlsplit(target)
        _ = parts.port
    except ValueError as error:
        raise UsageError(f"{target!r} is no URL: {error}; copy it as it was printed.") from error
    return parts
