"""Ids, printable texts, proofs and features."""

import pytest

from hopline.wire.peer import negotiation, proof
from hopline.wire.peer.identity import host_label, is_peer_id, new_identity
from hopline.wire.peer.limits import MAX_FEATURES
from hopline.wire.peer.pairing import key_of
from hopline.wire.peer.texts import is_printable, shown

KEY = key_of(bytes.fromhex("a1b2c3d4e5f60789"))


@pytest.mark.parametrize(
    ("host", "label"),
    [
        ("Alice-MBP.local", "alice-mbp"),
        ("a_b c", "a-b-c"),
        ("--x--", "x"),
        ("", "unknown"),
        (".local", "unknown"),
        ("Zürich", "z-rich"),
        ("ÄÖÜ", "unknown"),
        ("h" * 300, "h" * 63),
    ],
)
def test_a_host_name_becomes_a_label(host: str, label: str) -> None:
    assert host_label(host) == label
    identity = new_identity(host, b"\x01\x02\x03\x04\x05")
    assert identity == f"{label}-01020304"
    assert is_peer_id(identity)


@pytest.mark.parametrize("text", ["a", "A_-9", "x" * 128, "_pending2"])
def test_an_id_is_letters_digits_and_two_marks(text: str) -> None:
    assert is_peer_id(text)


@pytest.mark.parametrize("text", ["", "_pending", "x" * 129, "a.b", "a/b", "a b", "a\n", "é", "١"])
def test_anything_else_is_no_id(text: str) -> None:
    assert not is_peer_id(text)


def test_the_published_proofs() -> None:
    """PL-PROOF"""
    first = "2c8c149ef5eb30c55dfd67cdf175711361e0932f80e27d089c73d7ce4d7e9366"
    assert proof.proof(KEY, "0123456789abcdef" * 4) == first
    assert proof.proof(KEY, "0" * 64) == "da0da3e1d5136d619b3e3771dbbb91a760d84a630c7ed590d1f4d90f7fe2118d"
    assert proof.check(KEY, "0123456789abcdef" * 4, first)
    assert not proof.check(KEY, "0123456789abcdef" * 4, first.upper())
    assert not proof.check(KEY, "0123456789abcdef" * 4, first[:-1])
    assert not proof.check(KEY, "0123456789abcdef" * 4, "ü")
    assert not proof.check(KEY, "0" * 64, first)


def test_a_nonce_is_64_digits() -> None:
    assert proof.nonce_text(bytes(range(40))) == bytes(range(32)).hex()


def test_a_text_is_shown_without_what_moves_a_cursor_or_turns_a_line() -> None:
    """PL-SHOWN"""
    assert shown("a\x1b[31m\u202eb\u2028c\ud800d\u200be ü") == "a[31mbcde ü"
    assert shown("x" * 65) == "x" * 64
    assert shown("abc", 2) == "ab"


@pytest.mark.parametrize(("text", "is_so"), [("", True), ("a ü\u00a0\u200b", True), ("a\n", False), ("\u2028", False)])
def test_printable_is_what_the_lease_fields_call_so(text: str, is_so: bool) -> None:
    assert is_printable(text) is is_so


def test_of_many_feature_names_the_first_sound_ones_are_kept() -> None:
    """PL-AGREED"""
    names = ["", "Bad", *(f"n{number}" for number in range(100))]
    assert negotiation.read_features(names) == {f"n{number}" for number in range(MAX_FEATURES)}
    assert negotiation.read_features(["x" * 33, "x" * 32, "x\n"]) == {"x" * 32}


@pytest.mark.parametrize("proto", [None, -1, 1.0, "1", True, 2**64])
def test_what_is_no_version_agrees_nothing(proto: object) -> None:
    """PL-ODD-KEYS"""
    assert negotiation.agree(proto, ["frame-bin"], negotiation.FEATURES) == negotiation.Agreed()


@pytest.mark.parametrize(("theirs", "agreed"), [(0, 0), (1, 1), (2**64 - 1, 1)])
def test_the_lower_version_holds(theirs: int, agreed: int) -> None:
    said = negotiation.agree(theirs, ["frame-bin", "x"], negotiation.FEATURES)
    assert said == negotiation.Agreed(agreed, frozenset({"frame-bin"}))
