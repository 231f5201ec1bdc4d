"""A peer that asks without end and never reads, against a real hub; a quarter of a minute."""

import socket
import tempfile
from pathlib import Path

import psutil
import pytest
from hub_machines import befriend, machines, wait_for
from peer_errands import session
from peer_speaker import Speaker


def test_a_peer_that_reads_nothing_is_cut_and_others_are_served() -> None:
    with tempfile.TemporaryDirectory(prefix="hl-") as place, machines(Path(place), "hub") as (hub,):
        deaf, neighbour = Speaker("deaf-00000001"), Speaker("neighbour-00000001")
        befriend(hub, deaf)
        befriend(hub, neighbour)
        hub.write_settings(lease_authority=hub.identity, heartbeat_interval_secs=30)
        hub.start()
        with (
            neighbour.dial(hub.address, hub.identity) as beat,
            deaf.dial(hub.address, hub.identity, transient=True) as line,
        ):
            beat.send("heartbeat")
            line.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            resident = psutil.Process(hub.pid).memory_info().rss
            line.socket.settimeout(25)
            with pytest.raises(OSError):
                for number in range(2_000_000):
                    line.socket.sendall(line.encoded(deaf.message("lease_list", {"request_id": f"r{number}"})))
            beat.send("heartbeat", {"sessions": [session("served")]})
            wait_for(lambda: hub.session_ids(neighbour.identity) == {"served"}, "the neighbour's heartbeat", 5)
            assert psutil.Process(hub.pid).memory_info().rss - resident < 32e6
