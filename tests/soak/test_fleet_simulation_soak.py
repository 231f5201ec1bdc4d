"""The simulation of five hubs over more seeds than CI has time for; about two minutes."""

import pytest
from sim_fleet import SimFleet


@pytest.mark.parametrize("first", range(1000, 1400, 20))
def test_twenty_storms_keep_every_promise(first: int) -> None:
    for seed in range(first, first + 20):
        SimFleet(seed).play()
