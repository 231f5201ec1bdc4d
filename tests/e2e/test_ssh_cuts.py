"""A raw client through a real sshd that is cut at random while events flow; the soak does it a thousand times."""

import random
from pathlib import Path

from cut_connections import CutStorm
from loopback_sshd import LoopbackSshd

CUTS = 30


def test_a_reader_over_ssh_that_is_cut_thirty_times_has_every_event_once_byte_for_byte(tmp_path: Path) -> None:
    sshd = LoopbackSshd(tmp_path)
    try:
        ssh = [*sshd.ssh, "127.0.0.1"]
        storm = CutStorm("ssh", cuts=CUTS, events=6_000, seed=random.randrange(1 << 32), ssh=ssh)
        storm.run()
    finally:
        sshd.close()
    assert sum(storm.ways.values()) == CUTS
    assert set(storm.ways) - {"early"}
