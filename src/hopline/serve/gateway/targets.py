"""Which route a request asks for. Pure: the target is decoded and normalised once (WG-ONE-PATH).

Source: frontend reference 9.1; `/runs/...` is beyond it (docs/wire/gateway.md, "Routes").
"""

import posixpath
import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote_to_bytes


@dataclass(frozen=True, slots=True)
class Page:
    """The page."""


@dataclass(frozen=True, slots=True)
class Asset:
    """A static file of the page; `name` is relative to the folder of assets and has no `..` in it."""

    name: str


@dataclass(frozen=True, slots=True)
class Health:
    """Whether this gateway is there."""


@dataclass(frozen=True, slots=True)
class Rotate:
    """Replace the capability token."""


@dataclass(frozen=True, slots=True)
class RunSocket:
    """The client wire of one run; None for the run that this gateway is for."""

    run_id: str | None


@dataclass(frozen=True, slots=True)
class RunsSocket:
    """The listing of every run, pushed as it changes."""


Route = Page | Asset | Health | Rotate | RunSocket | RunsSocket


@dataclass(frozen=True, slots=True)
class Target:
    """A request target, taken apart.

    Attributes:
        path: percent-decoded, normalised, beginning with `/`.
        query: name and value pairs in order, decoded.
    """

    path: str
    query: tuple[tuple[str, str], ...]

    def values(self, name: str) -> list[str]:
        """Every value of a query parameter."""
        return [value for key, value in self.query if key == name]


_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\\]")
_RUN_SOCKET = re.compile(r"/runs/([0-9a-f]{12})/ws")
MAX_QUERY_FIELDS = 32


def parse_target(raw: str) -> Target | None:
    """The target, or None when it cannot name anything here: no path, bad escapes, control characters, backslashes."""
    raw_path, _, raw_query = raw.partition("?")
    if not raw_path.startswith("/"):
        return None
    try:
        path = unquote_to_bytes(raw_path).decode("utf-8")
        pairs = parse_qsl(
            raw_query,
            keep_blank_values=True,
            errors="surrogateescape",
            max_num_fields=MAX_QUERY_FIELDS,
        )
    except ValueError:
        return None
    if _UNPRINTABLE.search(path):
        return None
    return Target(posixpath.normpath("/" + path.lstrip("/")), tuple(pairs))


def route_of(target: Target) -> Route | None:
    """The route of a target; None for everything that is not routed."""
    match target.path:
        case "/" | "/index.html":
            return Page()
        case "/health":
            return Health()
        case "/_hopline/rotate-capability":
            return Rotate()
        case "/ws":
            return RunSocket(None)
        case "/runs/ws":
            return RunsSocket()
        case path if path.startswith("/assets/"):
            return Asset(path.removeprefix("/assets/"))
        case path if found := _RUN_SOCKET.fullmatch(path):
            return RunSocket(found[1])
    return None
