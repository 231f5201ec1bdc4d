"""Every request gets one decision, in the documented order of checks."""

from dataclasses import replace
from http import HTTPStatus

import pytest

from hopline.serve.gateway.access import Allowed, Asked, Denied, Gate
from hopline.serve.gateway.credentials import KEY_BYTES, NONCE_BYTES, Credentials, cookie_name
from hopline.serve.gateway.origins import Admission
from hopline.serve.gateway.targets import Asset, Health, Page, Rotate, RunSocket, RunsSocket

PORT = 8765
OWN = f"http://127.0.0.1:{PORT}"
CREDENTIALS = Credentials("t0ken", bytes(KEY_BYTES))
SESSION = CREDENTIALS.grant(bytes(NONCE_BYTES))
COOKIE = f"{cookie_name(PORT)}={SESSION}"
GATE = Gate(PORT, Admission.on_port(PORT, ("https://box.example",)), CREDENTIALS, single_run=None)
RUN = "0123456789ab"

ASKED = Asked("GET", "/", [f"127.0.0.1:{PORT}"], [], [], [], [], [])


def decide(target: str, **changes: object) -> Allowed | Denied:
    return GATE.decide(replace(ASKED, target=target, **changes))  # type: ignore[arg-type]  # fields of Asked


def status(decision: Allowed | Denied) -> HTTPStatus:
    return decision.status if isinstance(decision, Denied) else HTTPStatus.OK


def test_the_page_opens_with_the_token_and_grants_a_session() -> None:
    assert decide("/?token=t0ken") == Allowed(Page(), grants_session=True)


def test_the_page_opens_again_with_the_session_and_grants_no_other() -> None:
    assert decide("/", cookies=[COOKIE]) == Allowed(Page())
    assert decide(f"/?session={SESSION}") == Allowed(Page())


@pytest.mark.parametrize(
    ("target", "route"),
    [
        (f"/runs/{RUN}/ws", RunSocket(RUN)),
        ("/runs/ws", RunsSocket()),
    ],
)
def test_a_socket_needs_a_credential_and_an_allowed_origin(target: str, route: object) -> None:
    assert decide(f"{target}?token=t0ken", origins=[OWN]) == Allowed(route, cross_origin=OWN)  # type: ignore[arg-type]  # parametrized
    assert decide(target, cookies=[COOKIE], origins=[OWN]) == Allowed(route, cross_origin=OWN)  # type: ignore[arg-type]  # parametrized
    assert decide(f"{target}?session={SESSION}", origins=["https://box.example"]) == Allowed(
        route,  # type: ignore[arg-type]  # parametrized
        cross_origin="https://box.example",
    )
    assert status(decide(target, origins=[OWN])) == 403
    assert status(decide(f"{target}?token=t0ken")) == 403


@pytest.mark.parametrize(
    "origins",
    [["null"], ["http://evil.example"], [OWN + "/"], [OWN, OWN], ["http://localhost:8765"], [OWN.upper()], [""]],
)
def test_another_origin_is_refused_with_the_right_token(origins: list[str]) -> None:
    """WG-EXACT-ORIGIN"""
    for target in (f"/runs/{RUN}/ws", "/runs/ws", "/", "/health"):
        assert status(decide(f"{target}?token=t0ken", origins=origins)) == 403


@pytest.mark.parametrize("target", ["/", f"/runs/{RUN}/ws", "/runs/ws", "/health", "/_hopline/rotate-capability"])
@pytest.mark.parametrize("query", ["", "?token=", "?token=stale", "?token=t0ken&token=t0ken", "?session=x"])
def test_without_a_good_credential_nothing_opens(target: str, query: str) -> None:
    assert status(decide(target + query, origins=[OWN])) == 403


@pytest.mark.parametrize("target", ["/", f"/runs/{RUN}/ws"])
def test_a_token_in_the_query_decides_alone(target: str) -> None:
    """WG-TOKEN-ALONE"""
    assert status(decide(f"{target}?token=stale", cookies=[COOKIE], origins=[OWN])) == 403


@pytest.mark.parametrize("target", ["/health", "/_hopline/rotate-capability"])
def test_a_session_does_not_open_what_needs_the_token(target: str) -> None:
    assert status(decide(target, cookies=[COOKIE])) == 403


def test_health_needs_the_token() -> None:
    assert decide("/health?token=t0ken") == Allowed(Health())


def test_rotating_needs_its_header() -> None:
    target = "/_hopline/rotate-capability?token=t0ken"
    assert status(decide(target)) == 400
    assert status(decide(target, rotate=["0"])) == 400
    assert decide(target, rotate=["1"]) == Allowed(Rotate())


def test_assets_need_nothing_but_the_host() -> None:
    assert decide("/assets/app.js") == Allowed(Asset("app.js"))
    assert status(decide("/assets/app.js", hosts=["evil.example"])) == 421


@pytest.mark.parametrize(
    "hosts", [[], [""], ["evil.example"], ["localhost:8765"], ["127.0.0.1"], ["127.0.0.1:1"], ["127.0.0.1:8765"] * 2]
)
def test_another_host_is_misdirected_before_anything_else(hosts: list[str]) -> None:
    """WG-EXACT-HOST"""
    assert status(decide("/?token=t0ken", hosts=hosts)) == 421
    assert status(decide("/nothing", hosts=hosts)) == 421


def test_a_host_is_compared_without_case() -> None:
    assert decide("/?token=t0ken", hosts=["BOX.example"]) == Allowed(Page(), grants_session=True)


@pytest.mark.parametrize("target", ["/nothing", "/nothing?token=t0ken", "/ws?token=t0ken", "/runs/x/ws", "bad"])
def test_what_is_not_routed_is_404_with_and_without_a_token(target: str) -> None:
    """WG-ORDER"""
    assert status(decide(target)) == 404


@pytest.mark.parametrize("method", ["POST", "HEAD", "PUT", "OPTIONS", "get"])
def test_only_get_is_served(method: str) -> None:
    assert status(decide("/?token=t0ken", method=method)) == 405


def test_a_cross_site_fetch_is_refused_and_a_cross_site_link_is_not() -> None:
    crossing = {"fetch_site": ["cross-site"]}
    assert status(decide("/?token=t0ken", fetch_mode=["no-cors"], **crossing)) == 403
    assert status(decide("/?token=t0ken", **crossing)) == 403
    assert status(decide("/?token=t0ken", fetch_mode=["navigate"], **crossing)) == 200


def test_a_gateway_for_one_run_has_its_socket_by_both_names_and_no_other() -> None:
    gate = replace(GATE, single_run=RUN)
    for target, expected in (("/ws", 200), ("/runs/ws", 200), (f"/runs/{RUN}/ws", 200), ("/runs/ffffffffffff/ws", 404)):
        decision = gate.decide(replace(ASKED, target=f"{target}?token=t0ken", origins=[OWN]))
        assert status(decision) == expected
