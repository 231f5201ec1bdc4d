"""The table [relay] of config.toml."""

import pytest

from hopline.errors import UsageError
from hopline.settings import RelaySettings, hub_socket_path, parse_settings


def test_what_is_not_said_keeps_its_default() -> None:
    assert parse_settings({"relay": {"listen_port": 0}}, "c").relay == RelaySettings(listen_port=0)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"listen_prt": 1}, "did you mean 'listen_port'"),
        ({"listen_port": True}, "must be a whole number"),
        ({"listen_port": 65536}, "from 0 to 65535"),
        ({"listen_addr": "example.org"}, "must be an IP address"),
        ({"max_peers": 0}, "from 1 to 256"),
        (3, "must be a table"),
    ],
)
def test_a_wrong_value_is_named_with_what_it_must_be(table: object, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        parse_settings({"relay": table}, "config.toml")


def test_two_homes_have_two_hubs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    monkeypatch.setenv("HOPLINE_HOME", "/a")
    first = hub_socket_path()
    monkeypatch.setenv("HOPLINE_HOME", "/b")
    assert hub_socket_path() != first
