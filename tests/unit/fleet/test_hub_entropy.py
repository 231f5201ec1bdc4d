"""Random bytes drawn many at a time: never the same ones twice."""

import pytest

from hopline.fleet.hub import entropy
from hopline.fleet.hub.entropy import DRAWN_BYTES, SystemEntropy


def test_every_drawn_byte_is_given_at_most_once(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = iter([b"a" * 8 + bytes(DRAWN_BYTES - 16) + b"z" * 8, b"b" * DRAWN_BYTES])
    monkeypatch.setattr(entropy.os, "urandom", lambda count: next(draws))
    chance = SystemEntropy()
    assert chance(8) == b"a" * 8
    assert chance(DRAWN_BYTES - 16) == bytes(DRAWN_BYTES - 16)
    assert chance(4) == b"zzzz"
    assert chance(5) == b"bbbbb"
    assert chance(32) == b"b" * 32


def test_ids_differ_over_many_draws() -> None:
    chance = SystemEntropy()
    assert len({chance(8) for _ in range(10_000)}) == 10_000
