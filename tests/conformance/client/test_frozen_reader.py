"""A reader that does not read costs the others nothing, costs the run a bounded amount, and loses nothing itself."""

import pytest
from frozen_reader import MAX_HELD_BYTES, FrozenRig


@pytest.mark.parametrize("carrier", ["unix", "websocket", "memory"])
def test_a_frozen_reader_does_not_move_the_p99_of_twenty_healthy_ones(carrier: str) -> None:
    rig = FrozenRig(carrier, seconds=0.3)
    rig.run(phases=2, at_most=8)
    assert not rig.held_up, (rig.without, rig.beside)
    assert rig.held_bytes <= MAX_HELD_BYTES
    assert max(rig.caught_up_frames) <= 80
