"""SIGKILL at a random moment: one result each, no zombie, no orphan that is not named."""

import random

import pytest
from generation_rig import run
from kill_storm import storm


@pytest.mark.timeout(100)
def test_forty_generations_killed_at_random_are_all_accounted_for() -> None:
    run(storm(40, random.randrange(2**32)), seconds=90)
