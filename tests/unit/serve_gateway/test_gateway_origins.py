"""Origins and hosts are exact; a configured origin is checked when it is given."""

import pytest

from hopline.serve.gateway.origins import Admission, parse_origin


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("http://localhost:9000", "http://localhost:9000"),
        ("https://box.example", "https://box.example"),
        ("https://box.example:443", "https://box.example"),
        ("http://box.example:80", "http://box.example"),
        ("HTTP://Box.Example:8080", "http://box.example:8080"),
        ("http://[::1]:9000", "http://[::1]:9000"),
        ("http://[0:0:0:0:0:0:0:1]:9000", "http://[::1]:9000"),
    ],
)
def test_a_configured_origin_becomes_what_browsers_send(text: str, origin: str) -> None:
    assert parse_origin(text) == origin


@pytest.mark.parametrize(
    "text",
    [
        "ftp://box",
        "box:9000",
        "null",
        "",
        "http://",
        "http://user@box",
        "http://user:pw@box",
        "http://box/",
        "http://box/path",
        "http://box?x",
        "http://box?",
        "http://box#",
        "http://box:0",
        "http://box:65536",
        "http://b_x",
        "http://bö.example",
        "http://[::g]",
        "http://*",
    ],
)
def test_what_is_no_origin_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_origin(text)


def test_a_gateway_admits_its_own_name_only() -> None:
    admission = Admission.on_port(8765)
    assert admission.origins == {"http://127.0.0.1:8765"}
    assert admission.hosts == {"127.0.0.1:8765"}


def test_a_configured_origin_admits_its_host_with_and_without_the_usual_port() -> None:
    admission = Admission.on_port(8765, ("https://box.example", "http://[::1]:9"))
    assert {"box.example", "box.example:443", "[::1]:9", "127.0.0.1:8765"} == admission.hosts
    assert "wss://box.example" in admission.socket_sources()
    assert "ws://127.0.0.1:8765" in admission.socket_sources()


def test_port_80_needs_no_port_in_the_name() -> None:
    admission = Admission.on_port(80)
    assert admission.origins == {"http://127.0.0.1"}
    assert admission.hosts == {"127.0.0.1", "127.0.0.1:80"}
