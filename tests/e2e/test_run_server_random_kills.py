"""SIGKILL for server, relay or worker at a random moment: nothing that was shown is lost, nobody is left unnamed."""

import random

import pytest
from run_storm import storm


@pytest.mark.timeout(100)
def test_ten_runs_with_a_random_kill_lose_nothing_and_leave_nobody() -> None:
    storm(10, random.randrange(2**32))
