"""Whether a request may have what it asks for: one decision with its reason. Pure.

Order of checks (WG-ORDER, docs/wire/gateway.md): method, Host, route, credential, origin. A target that is not routed
is 404 with and without a token, so that nothing can be probed.
"""

from dataclasses import dataclass
from http import HTTPStatus

from hopline.serve.gateway.credentials import Credentials, cookie_name, cookie_values
from hopline.serve.gateway.origins import Admission
from hopline.serve.gateway.targets import (
    Asset,
    Health,
    Page,
    Rotate,
    Route,
    RunSocket,
    RunsSocket,
    Target,
    parse_target,
    route_of,
)

ROTATE_HEADER = "X-Hopline-Rotate-Capability"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request says about itself. A header that is absent is an empty list."""

    method: str
    target: str
    hosts: list[str]
    origins: list[str]
    cookies: list[str]
    fetch_site: list[str]
    fetch_mode: list[str]
    rotate: list[str]


@dataclass(frozen=True, slots=True)
class Allowed:
    """The request may have its route.

    Attributes:
        grants_session: it proved the capability on the page: a browser session is granted with the answer.
        cross_origin: the allowed Origin it came with, to be named in the answer; None without one.
    """

    route: Route
    grants_session: bool = False
    cross_origin: str | None = None


@dataclass(frozen=True, slots=True)
class Denied:
    """The request is refused; `reason` is a sentence for the person."""

    status: HTTPStatus
    reason: str


Decision = Allowed | Denied


@dataclass(frozen=True, slots=True)
class Gate:
    """Decides requests to the gateway on one port."""

    port: int
    admission: Admission
    credentials: Credentials
    single_run: str | None
    """The run behind `/ws` when this gateway is for one: no other run is reached."""

    def decide(self, asked: Asked) -> Decision:
        """The decision for a request."""
        if asked.method != "GET":
            return Denied(HTTPStatus.METHOD_NOT_ALLOWED, f"{asked.method} is not served here; only GET is.")
        if len(asked.hosts) != 1 or asked.hosts[0].lower() not in self.admission.hosts:
            return Denied(
                HTTPStatus.MISDIRECTED_REQUEST,
                f"This gateway answers only at http://127.0.0.1:{self.port}; another name for it is added with "
                "hopline web --origin URL.",
            )
        target = parse_target(asked.target)
        route = None if target is None else route_of(target)
        if target is None or route is None or not self._serves(route):
            return Denied(HTTPStatus.NOT_FOUND, "There is nothing here.")
        if isinstance(route, Asset):
            return Allowed(route)
        capability = self._capability(target)
        if not (capability or (capability is None and self._session(route, target, asked.cookies))):
            return Denied(
                HTTPStatus.FORBIDDEN,
                "This page is open only to its user: run hopline web and open the URL that it prints.",
            )
        return self._by_origin(asked, route, capability is True)

    def _serves(self, route: Route) -> bool:
        match route:
            case RunSocket(None):
                return self.single_run is not None
            case RunSocket(run_id):
                return self.single_run in (None, run_id)
            case _:
                return True

    def _capability(self, target: Target) -> bool | None:
        """Whether the token in the query is right; None without one. It decides alone (WG-TOKEN-ALONE)."""
        tokens = target.values("token")
        if not tokens:
            return None
        return len(tokens) == 1 and self.credentials.holds(tokens[0])

    def _session(self, route: Route, target: Target, cookies: list[str]) -> bool:
        if isinstance(route, Health | Rotate):
            return False
        offered = [*cookie_values(cookies, cookie_name(self.port)), *target.values("session")]
        return any(self.credentials.granted(session) for session in offered)

    def _by_origin(self, asked: Asked, route: Route, capability: bool) -> Decision:
        allowed = len(asked.origins) == 1 and asked.origins[0] in self.admission.origins
        needed = isinstance(route, RunSocket | RunsSocket)
        foreign_fetch = asked.fetch_site == ["cross-site"] and asked.fetch_mode != ["navigate"]
        if not allowed and (needed or asked.origins or foreign_fetch):
            shown = ", ".join(asked.origins) or "no origin"
            return Denied(
                HTTPStatus.FORBIDDEN,
                f"{shown} may not connect; an origin of yours is added with hopline web --origin URL.",
            )
        if isinstance(route, Rotate) and asked.rotate != ["1"]:
            return Denied(HTTPStatus.BAD_REQUEST, f"Rotating needs the header {ROTATE_HEADER}: 1.")
        cross_origin = asked.origins[0] if allowed else None
        return Allowed(route, isinstance(route, Page) and capability, cross_origin)
