"""The long form of tests/e2e/test_handle_random_kills.py and of the tail test."""

import random

import pytest
from generation_rig import generation, run
from kill_storm import storm

from hopline.wire.worker.messages import WorkerExited


@pytest.mark.timeout(600)
def test_two_hundred_generations_killed_at_random_are_all_accounted_for() -> None:
    run(storm(200, random.randrange(2**32)), seconds=590)


@pytest.mark.timeout(900)
def test_the_last_byte_before_an_exit_is_never_lost_in_two_thousand_lives() -> None:
    async def test() -> None:
        for number in range(2000):
            async with generation("sh", "-c", "printf x; exit") as (handle, witness):
                retirement = await handle.wait()
                assert (witness.stdout, retirement.outcome) == (b"x", WorkerExited(code=0)), number

    run(test(), seconds=890)
