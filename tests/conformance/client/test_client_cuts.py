"""Connections cut at random while events flow: the folded journal equals the server's, byte for byte."""

import random

import pytest
from cut_connections import CutStorm
from cut_public_client import PublicStorm


@pytest.mark.parametrize("carrier", ["unix", "websocket", "bridge"])
def test_a_reader_that_is_cut_a_hundred_times_has_every_event_once_byte_for_byte(carrier: str) -> None:
    storm = CutStorm(carrier, cuts=100, events=20_000, seed=random.randrange(1 << 32))
    storm.run()
    assert sum(storm.ways.values()) == 100


@pytest.mark.parametrize("carrier", ["unix", "websocket"])
def test_the_public_client_that_is_hung_up_on_says_that_it_missed_nothing_and_is_right(carrier: str) -> None:
    storm = PublicStorm(carrier, cuts=50, events=5_000, seed=random.randrange(1 << 32))
    storm.run()
    assert storm.reconnected >= 10
