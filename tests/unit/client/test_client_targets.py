"""Where a run is, from how a person writes it."""

import pytest

from hopline.client.targets import Gateway, LocalRun, OverSsh, SocketPath, parse_target, ssh_target
from hopline.errors import UsageError

ID = "0123456789ab"
HERE = "http://127.0.0.1:8765"


@pytest.mark.parametrize("run", [ID, "0123", "fix-auth", "@last", "a:b"])
def test_a_plain_word_is_a_run_of_this_machine(run: str) -> None:
    assert parse_target(run) == LocalRun(run)


@pytest.mark.parametrize("path", ["/run/user/0/hopline/control.sock", "./s", "folder/s"])
def test_a_word_with_a_slash_is_a_socket(path: str) -> None:
    assert parse_target(path) == SocketPath(path)


@pytest.mark.parametrize(
    ("url", "socket", "origin"),
    [
        ("ws://127.0.0.1:8765/ws?token=T", "ws://127.0.0.1:8765/ws?token=T", HERE),
        (f"{HERE}/?token=T", "ws://127.0.0.1:8765/ws?token=T", HERE),
        (f"{HERE}?token=T", "ws://127.0.0.1:8765/ws?token=T", HERE),
        (f"{HERE}/index.html?token=T", "ws://127.0.0.1:8765/ws?token=T", HERE),
        (f"{HERE}/runs/{ID}/ws?token=T", f"ws://127.0.0.1:8765/runs/{ID}/ws?token=T", HERE),
        (f"{HERE}/runs/{ID}?token=T", f"ws://127.0.0.1:8765/runs/{ID}/ws?token=T", HERE),
        (f"{HERE}/?token=T#/runs/{ID}", f"ws://127.0.0.1:8765/runs/{ID}/ws?token=T", HERE),
        (f"{HERE}/?token=T#run={ID}", f"ws://127.0.0.1:8765/runs/{ID}/ws?token=T", HERE),
        (f"{HERE}/?token=T#{ID}/events", f"ws://127.0.0.1:8765/runs/{ID}/ws?token=T", HERE),
        (f"{HERE}/?token=T#help", "ws://127.0.0.1:8765/ws?token=T", HERE),
        ("https://box.example/ws", "wss://box.example/ws", "https://box.example"),
        ("https://box.example:443/ws", "wss://box.example/ws", "https://box.example"),
        ("http://[::1]:81/ws", "ws://[::1]:81/ws", "http://[::1]:81"),
        ("ws://user:secret@localhost:81/ws", "ws://localhost:81/ws", "http://localhost:81"),
    ],
)
def test_a_url_leads_to_the_gateway_s_socket_with_its_own_origin(url: str, socket: str, origin: str) -> None:
    assert parse_target(url) == Gateway(socket, origin)


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("ssh://box/@last", OverSsh("box", "@last")),
        ("ssh://me@box/fix-auth", OverSsh("me@box", "fix-auth")),
        ("ssh://me@box:2222/0123", OverSsh("me@box", "0123", 2222)),
        ("ssh://[::1]:2222/a%20b", OverSsh("::1", "a b", 2222)),
    ],
)
def test_ssh_names_host_and_run(url: str, found: OverSsh) -> None:
    assert parse_target(url) == found


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "ftp://box/x",
        "ssh://box",
        "ssh://-oProxyCommand=x/y",
        "ssh:///run",
        "http:///ws",
        "ws://h:99999999/",
        "http://[",
    ],
)
def test_what_cannot_be_meant_is_refused(wrong: str) -> None:
    with pytest.raises(UsageError):
        parse_target(wrong)


@pytest.mark.parametrize("host", ["-v", "", "a b", "a\n"])
def test_a_host_that_ssh_would_misread_is_refused(host: str) -> None:
    with pytest.raises(UsageError):
        ssh_target(host, "x")
