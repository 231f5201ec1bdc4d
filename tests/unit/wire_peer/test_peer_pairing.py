"""Codes, links and relay codes: one derivation, told apart exactly, each mistake its own sentence."""

import pytest

from hopline.wire.peer.pairing import (
    BadInvite,
    Hive,
    Invite,
    address_text,
    code_of,
    key_of,
    link,
    parse_invite,
    prefix_of,
    read_address,
    relay_code,
)

PREFIX = bytes.fromhex("a1b2c3d4e5f60789")
KEY = "a1b2c3d4e5f60789b2c3ab776376b978ac3759614df56253ffbd4dca3cb82aa6"


def test_the_published_code_gives_the_published_key_by_every_form_of_invite() -> None:
    """PL-ONE-DERIVATION"""
    invite = Invite("127.0.0.1", 9847, PREFIX, "bob-0b0b0b0b")
    packed = relay_code(invite)
    assert packed is not None
    forms = [prefix_of("a1b2-c3d4-e5f6-0789"), parse_invite(link(invite)).prefix, parse_invite(packed).prefix]
    assert [key_of(prefix).hex() for prefix in forms] == [KEY] * 3
    assert code_of(PREFIX) == "a1b2-c3d4-e5f6-0789"


@pytest.mark.parametrize(
    ("host", "port", "text"),
    [("127.0.0.1", 9847, "P4A-AAA-MAU-GZM-HVH-F6Y-DYS"), ("192.168.1.50", 9850, "YCU-ACM-QDU-GZM-HVH-F6Y-DYS")],
)
def test_the_published_relay_codes_are_written_and_read(host: str, port: int, text: str) -> None:
    assert relay_code(Invite(host, port, PREFIX)) == text
    assert parse_invite(f" {text.lower()}\n") == Invite(host, port, PREFIX)


@pytest.mark.parametrize("port", [9847, 9848, 9974, 9976, 10102])
def test_a_port_that_fits_survives_a_relay_code(port: int) -> None:
    text = relay_code(Invite("10.0.0.7", port, PREFIX))
    assert text is not None
    assert parse_invite(text).port == port


@pytest.mark.parametrize(("host", "port"), [("10.0.0.7", 9846), ("10.0.0.7", 9975), ("10.0.0.7", 10103), ("::1", 9847)])
def test_an_address_that_does_not_fit_has_no_relay_code(host: str, port: int) -> None:
    assert relay_code(Invite(host, port, PREFIX)) is None


def test_a_code_is_read_however_it_was_spaced() -> None:
    assert prefix_of(" A1B2 c3d4\te5f60789 ") == PREFIX


@pytest.mark.parametrize("text", ["", "a1b2", "a1b2-c3d4-e5f6-0789-0", "zzzz"])
def test_a_code_of_another_length_is_refused(text: str) -> None:
    with pytest.raises(BadInvite, match="16 hex digits"):
        prefix_of(text)


@pytest.mark.parametrize(
    "invite",
    [
        Invite("10.0.0.7", 1, PREFIX, "bob-0b0b0b0b"),
        Invite("fe80::1", 65535, PREFIX, "b"),
        Invite("10.0.0.7", 80, PREFIX, "bob", Hive("hv_0a0b0c")),
        Invite("10.0.0.7", 80, PREFIX, "bob", Hive("hv_0a0b0c", "team.x", "ask")),
    ],
)
def test_a_link_is_read_back(invite: Invite) -> None:
    assert parse_invite(link(invite)) == invite


def test_links_are_written_as_peers_expect_them() -> None:
    assert link(Invite("::1", 80, PREFIX, "bob")) == "cctl://bob@[::1]:80/k/a1b2c3d4e5f60789"
    hive = Invite("10.0.0.7", 80, PREFIX, "bob", Hive("hv_1", "n", "open"))
    assert link(hive) == "cctl://hive/hv_1?a=bob@10.0.0.7:80&k=a1b2c3d4e5f60789&n=n&p=open"


def test_a_hive_link_may_have_keys_in_any_order_and_more_of_them() -> None:
    read = parse_invite("cctl://hive/hv_1?z&k=a1b2c3d4e5f60789&x=1&a=bob@10.0.0.7:80&n=")
    assert read == Invite("10.0.0.7", 80, PREFIX, "bob", Hive("hv_1"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("-".join(["ace"] * 13), "word phrases are not read here"),
        ("abc-def-ghi-jkl-mno", "15 characters can never authenticate"),
        ("a1b2-c3d4-e5f6-0789", "hopline peer accept CODE PEER"),
        ("P4A-AAA-MAU-GZM-HVH-F6Y-DY1", "neither a link"),
        ("P4A-AAA-MAU-GZM-HVH-F6Y-DYT", "neither a link"),
        ("P4A-AAA-MAU-GZM-HVH-F6Y-DYü", "neither a link"),
        ("P4A", "neither a link"),
        ("", "neither a link"),
        ("cctl://bob@10.0.0.7:80/k/a1b2c3d4e5f6078", "not 16 hex digits"),
        ("cctl://bob@10.0.0.7:80/k/a1b2c3d4e5f6078g", "not 16 hex digits"),
        ("cctl://bob@10.0.0.7:80", "not 16 hex digits"),
        ("cctl://bob@example.org:80/k/a1b2c3d4e5f60789", "no IP:PORT"),
        ("cctl://../x@10.0.0.7:80/k/a1b2c3d4e5f60789", "names no peer"),
        ("cctl://10.0.0.7:80/k/a1b2c3d4e5f60789", "names no peer"),
        ("cctl://hive/hv_1?k=a1b2c3d4e5f60789", "names no peer"),
        ("cctl://hive/hv_1?a=bob@10.0.0.7:80", "not 16 hex digits"),
        ("cctl://hive/../x?a=bob@10.0.0.7:80&k=a1b2c3d4e5f60789", "names no hive"),
    ],
)
def test_what_is_no_invite_is_refused_with_a_sentence_of_its_own(text: str, sentence: str) -> None:
    """PL-INVITE-FORM"""
    with pytest.raises(BadInvite, match=sentence):
        parse_invite(text)


def test_a_code_of_letters_only_is_no_phrase() -> None:
    """PL-INVITE-FORM: only thirteen segments of letters are."""
    invite = Invite("0.0.0.0", 9848, bytes(8))
    text = relay_code(invite)
    assert text is not None
    assert text.replace("-", "").isalpha()
    assert parse_invite(text) == invite


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("10.0.0.7:80", ("10.0.0.7", 80)),
        ("[fe80::1]:65535", ("fe80::1", 65535)),
        ("[FE80:0::1]:1", ("fe80::1", 1)),
        ("fe80::1:80", None),
        ("[10.0.0.7]:80", None),
        ("10.0.0.7", None),
        ("10.0.0.7:0", None),
        ("10.0.0.7:65536", None),
        ("10.0.0.7:0000080", None),
        ("10.0.0.7:٨٠", None),
        ("10.0.0.7:-1", None),
        ("host:80", None),
        ("[fe80::1%eth0\n]:80", None),
        ("", None),
    ],
)
def test_an_address_is_a_literal_and_a_port(text: str, address: tuple[str, int] | None) -> None:
    assert read_address(text) == address
    if address:
        assert read_address(address_text(*address)) == address
