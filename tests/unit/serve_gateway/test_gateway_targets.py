"""A target is decoded and normalised once, and names a route or nothing."""

import pytest

from hopline.serve.gateway.targets import (
    Asset,
    Health,
    Page,
    Rotate,
    RunSocket,
    RunsSocket,
    parse_target,
    route_of,
)


def routed(raw: str) -> object:
    target = parse_target(raw)
    return None if target is None else route_of(target)


@pytest.mark.parametrize(
    ("raw", "route"),
    [
        ("/", Page()),
        ("/index.html", Page()),
        ("/?token=x", Page()),
        ("/./index.html", Page()),
        ("//", Page()),
        ("/health", Health()),
        ("/_hopline/rotate-capability", Rotate()),
        ("/ws?token=x", RunSocket(None)),
        ("/runs/ws", RunsSocket()),
        ("/runs/0123456789ab/ws", RunSocket("0123456789ab")),
        ("/assets/app.js", Asset("app.js")),
        ("/assets/vendor/xterm/xterm.mjs", Asset("vendor/xterm/xterm.mjs")),
        ("/assets/%61pp.js", Asset("app.js")),
        ("/assets//app.js/", Asset("app.js")),
    ],
)
def test_what_is_routed_is_found_by_its_normalised_path(raw: str, route: object) -> None:
    assert routed(raw) == route


@pytest.mark.parametrize(
    "raw",
    [
        "/nothing",
        "/assets",
        "/assets/",
        "/runs/xyz/ws",
        "/runs/0123456789AB/ws",
        "/runs/0123456789abcd/ws",
        "/runs/../ws/x",
        "http://evil.example/",
        "*",
        "",
        "/assets/../../etc/passwd",
        "/assets/..%2f..%2fetc/passwd",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "/assets/..\\..\\etc",
        "/assets/app.js%00.txt",
        "/assets/%ff",
        "/%0d%0aX-Injected:1",
        "/?" + "&".join(f"a{number}=1" for number in range(100)),
    ],
)
def test_everything_else_is_nothing(raw: str) -> None:
    assert routed(raw) is None


def test_dots_are_resolved_before_the_route_is_chosen() -> None:
    """WG-ONE-PATH"""
    assert routed("/assets/../index.html") == Page()
    assert routed("/assets/%2e%2e/health") == Health()


def test_query_values_keep_their_order_and_bytes() -> None:
    target = parse_target("/ws?token=a&token=b%ff&session=")
    assert target is not None
    assert target.values("token") == ["a", "b\udcff"]
    assert target.values("session") == [""]
    assert target.values("other") == []
