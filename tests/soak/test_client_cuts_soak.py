"""A thousand cuts while a hundred thousand events flow, on every carrier that can be cut."""

import random

import pytest
from cut_connections import CutStorm


@pytest.mark.timeout(600)
@pytest.mark.parametrize("carrier", ["unix", "websocket", "bridge"])
def test_a_reader_that_is_cut_a_thousand_times_has_every_event_once_byte_for_byte(carrier: str) -> None:
    CutStorm(carrier, cuts=1000, events=100_000, seed=random.randrange(1 << 32)).run()
