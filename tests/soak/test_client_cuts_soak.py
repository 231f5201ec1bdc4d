"""A thousand cuts while a hundred thousand events flow, on every carrier that can be cut, and through a real sshd."""

import random
from pathlib import Path

import pytest
from cut_connections import CutStorm
from loopback_sshd import LoopbackSshd

CUTS = 1000
EVENTS = 100_000


@pytest.mark.timeout(600)
@pytest.mark.parametrize("carrier", ["unix", "websocket", "bridge"])
def test_a_reader_that_is_cut_a_thousand_times_has_every_event_once_byte_for_byte(carrier: str) -> None:
    CutStorm(carrier, cuts=CUTS, events=EVENTS, seed=random.randrange(1 << 32)).run()


@pytest.mark.timeout(1200)
def test_a_reader_over_ssh_that_is_cut_a_thousand_times_has_every_event_once_byte_for_byte(tmp_path: Path) -> None:
    sshd = LoopbackSshd(tmp_path)
    try:
        ssh = [*sshd.ssh, "127.0.0.1"]
        CutStorm("ssh", cuts=CUTS, events=EVENTS, seed=random.randrange(1 << 32), ssh=ssh).run()
    finally:
        sshd.close()
