"""Tokens and sessions prove their user, and nothing that only looks like one does."""

import pytest

from hopline.serve.gateway.credentials import (
    KEY_BYTES,
    NONCE_BYTES,
    TOKEN_BYTES,
    Credentials,
    cookie_name,
    cookie_values,
    new_token,
)

CREDENTIALS = Credentials("a-token", bytes(KEY_BYTES))


def test_a_token_is_32_random_bytes_in_url_letters() -> None:
    assert (
        new_token(b"\xfb" * TOKEN_BYTES).strip("-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
    )
    assert len(new_token(bytes(TOKEN_BYTES))) == 43


def test_only_the_token_itself_is_the_capability() -> None:
    assert CREDENTIALS.holds("a-token")
    for other in ("", "a-toke", "a-token ", "A-token", "a-token\udcff"):
        assert not CREDENTIALS.holds(other)


def test_a_granted_session_is_known_again() -> None:
    assert CREDENTIALS.granted(CREDENTIALS.grant(bytes(range(NONCE_BYTES))))


def test_a_session_does_not_depend_on_the_token() -> None:
    rotated = Credentials("another", CREDENTIALS.session_key)
    assert rotated.granted(CREDENTIALS.grant(bytes(NONCE_BYTES)))


@pytest.mark.parametrize("change", [lambda s: s[:-1] + "0", lambda s: "1" + s[1:], lambda s: s + "0", str.upper])
def test_a_changed_session_is_refused(change: object) -> None:
    session = CREDENTIALS.grant(b"\xaf" * NONCE_BYTES)
    changed = change(session)  # type: ignore[operator]  # a function of one text
    assert changed == session or not CREDENTIALS.granted(changed)


def test_a_session_of_another_key_is_refused() -> None:
    other = Credentials("a-token", b"\x01" * KEY_BYTES)
    assert not CREDENTIALS.granted(other.grant(bytes(NONCE_BYTES)))


@pytest.mark.parametrize("text", ["", ".", "x.y", "0" * 32 + ".", "0" * 97, "é" * 97])
def test_what_is_no_session_is_refused(text: str) -> None:
    assert not CREDENTIALS.granted(text)


def test_secrets_are_not_shown() -> None:
    assert "a-token" not in repr(CREDENTIALS)


def test_a_cookie_is_found_by_its_whole_name() -> None:
    name = cookie_name(8765)
    headers = [f"other=1; {name}=one;x{name}=no", f' {name}="two" ', name, f"{name}x=no"]
    assert list(cookie_values(headers, name)) == ["one", "two"]
