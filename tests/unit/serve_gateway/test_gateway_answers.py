"""Every answer carries the headers that keep a page to itself."""

from http import HTTPStatus

from hopline.serve.gateway import answers
from hopline.serve.gateway.access import Denied
from hopline.serve.gateway.origins import Admission


def policy(port: int = 8765, configured: tuple[str, ...] = ()) -> dict[str, list[str]]:
    headers = dict(answers.common_headers(Admission.on_port(port, configured)))
    directives = (directive.split() for directive in headers["Content-Security-Policy"].split(";"))
    return {name: values for name, *values in directives}


def test_the_policy_allows_the_pages_own_files_and_sockets_and_nothing_else() -> None:
    allowed = policy()
    assert allowed["default-src"] == ["'none'"]
    assert allowed["script-src"] == allowed["style-src"] == allowed["img-src"] == ["'self'"]
    assert allowed["connect-src"] == ["'self'", "ws://127.0.0.1:8765"]
    for name in ("font-src", "base-uri", "form-action", "frame-ancestors", "object-src"):
        assert allowed[name] == ["'none'"]


def test_the_policy_refuses_markup_made_from_text() -> None:
    assert policy()["require-trusted-types-for"] == ["'script'"]


def test_a_configured_origin_may_open_its_own_sockets() -> None:
    assert "wss://box.example" in policy(configured=("https://box.example",))["connect-src"]


def test_nothing_is_cached_sniffed_referred_or_framed() -> None:
    headers = dict(answers.common_headers(Admission.on_port(1)))
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cross-Origin-Opener-Policy"] == headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_the_session_cookie_stays_with_this_site_and_out_of_scripts() -> None:
    headers = dict(answers.session_headers(8765, "s.m", None))
    assert headers["Set-Cookie"] == "hopline_gateway_8765=s.m; Path=/; HttpOnly; SameSite=Strict"
    assert headers["X-Hopline-Browser-Session"] == "s.m"
    assert "Access-Control-Allow-Origin" not in headers


def test_only_an_allowed_origin_that_asked_may_read_the_session() -> None:
    headers = dict(answers.session_headers(8765, "s.m", "https://box.example"))
    assert headers["Access-Control-Allow-Origin"] == "https://box.example"
    assert headers["Access-Control-Allow-Credentials"] == "true"
    assert headers["Vary"] == "Origin"


def test_a_refused_method_is_told_which_one_is_served() -> None:
    answer = answers.denial(Denied(HTTPStatus.METHOD_NOT_ALLOWED, "no"))
    assert ("Allow", "GET") in answer.headers
    assert answer.body == b"no\n"


def test_the_fixed_bodies_are_those_of_the_contract() -> None:
    assert answers.health().body == b"hopline-ok\n"
    assert answers.rotated().body == b"hopline-capability-rotated\n"
    assert answers.not_rotated("No space left").status == 500
