"""Connections cut at random while events flow: the folded journal equals the server's, byte for byte."""

import random

import pytest
from cut_connections import CutStorm


@pytest.mark.parametrize("carrier", ["unix", "websocket", "bridge"])
def test_a_reader_that_is_cut_a_hundred_times_has_every_event_once_byte_for_byte(carrier: str) -> None:
    storm = CutStorm(carrier, cuts=100, events=20_000, seed=random.randrange(1 << 32))
    storm.run()
    assert sum(storm.ways.values()) == 100
