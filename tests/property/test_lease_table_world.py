"""The lease table against a second one, through lost and repeated messages, wrong clocks and restarts.

200,000 steps in all. A failure names its seed and step: `LeaseWorld(seed).run(step + 1)` does it again.
"""

import pytest
from lease_world import LeaseWorld

from hopline.fleet.leases.records import Outcome

SEEDS = range(8)
STEPS = 25_000


@pytest.mark.parametrize("seed", SEEDS)
def test_no_two_owners_ever_hold_what_overlaps_and_fences_only_grow(seed):
    world = LeaseWorld(seed)
    world.run(STEPS)
    seen = {outcome for outcome, count in world.counts.items() if count}
    assert seen == set(Outcome), "some answers were never given, so nothing was shown about them"
    assert world.restarts > 20
