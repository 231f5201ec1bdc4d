"""A reader frozen for 30 seconds beside twenty healthy ones."""

import pytest
from frozen_reader import MAX_HELD_BYTES, FrozenRig


@pytest.mark.timeout(300)
@pytest.mark.parametrize("carrier", ["unix", "websocket"])
def test_thirty_seconds_beside_a_frozen_reader_do_not_move_the_p99_of_twenty_healthy_ones(carrier: str) -> None:
    rig = FrozenRig(carrier, seconds=30)
    rig.run(phases=1)
    assert not rig.held_up, (rig.without, rig.beside)
    assert rig.held_bytes <= MAX_HELD_BYTES
