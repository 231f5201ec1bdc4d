"""Announcements by real datagrams, where the hub listens, and what it tells of this machine."""

import asyncio
import logging
import os
import socket
from pathlib import Path

import pytest

from hopline.errors import Unavailable
from hopline.fleet.hub import collection, discovery, listening
from hopline.records import RunRecord
from hopline.roster import Row
from hopline.wire.hub.peers import Found
from hopline.wire.peer.lan import Announcement


def free_udp_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.bind(("127.0.0.1", 0))
        port: int = end.getsockname()[1]
        return port


def test_an_announcing_hub_is_found_and_oneself_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "LAN_INTERVAL_SECONDS", 0.05)
    port = free_udp_port()

    async def run() -> list[Found]:
        telling = [
            asyncio.ensure_future(discovery.announce(Announcement(name, 9847, "1.0"), ("127.0.0.1", port)))
            for name in ("a-1", "b-2", "me-3")
        ]
        try:
            return await discovery.scan("me-3", frozenset({"b-2"}), 0.5, port)
        finally:
            for each in telling:
                each.cancel()

    assert asyncio.run(run()) == [
        Found(peer="a-1", address="127.0.0.1:9847", version="1.0", paired=False),
        Found(peer="b-2", address="127.0.0.1:9847", version="1.0", paired=True),
    ]


def test_what_is_no_announcement_is_not_found() -> None:
    port = free_udp_port()

    async def run() -> list[Found]:
        scanning = asyncio.ensure_future(discovery.scan("me-3", frozenset(), 0.4, port))
        await asyncio.sleep(0.1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
            for datagram in (b"", b"CCTL", b"CCTL{}", b"CCTL[1]", b"XXXX" + b"{}" * 600, b"CCTL" + b"[" * 1000):
                end.sendto(datagram, ("127.0.0.1", port))
        return await scanning

    assert asyncio.run(run()) == []


def test_the_first_failure_to_announce_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(discovery, "LAN_INTERVAL_SECONDS", 0.01)
    monkeypatch.setattr(logging.getLogger("hopline"), "propagate", True)

    async def run() -> None:
        telling = asyncio.ensure_future(discovery.announce(Announcement("a-1", 1), ("127.0.0.1", 0)))
        await asyncio.sleep(0.2)
        telling.cancel()

    with caplog.at_level(logging.WARNING):
        asyncio.run(run())
    assert [record.message.split(":")[0] for record in caplog.records] == [
        "cannot announce this hub on the local network"
    ]


def test_a_scan_where_somebody_else_listens_alone_says_so() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("", 0))
        with pytest.raises(Unavailable, match="UDP port"):
            asyncio.run(discovery.scan("me-3", frozenset(), 0.1, other.getsockname()[1]))


def test_the_last_port_of_a_home_is_tried_before_the_usual_one() -> None:
    assert listening.ports_to_try(9847, False, None) == [9847, 0]
    assert listening.ports_to_try(9847, False, 4000) == [4000, 9847, 0]
    assert listening.ports_to_try(9847, True, 4000) == [9847]
    assert listening.ports_to_try(9848, False, 4000) == [9848]


def test_a_hub_that_listens_everywhere_names_the_way_out_first_and_loopback_last() -> None:
    found = listening.reachable("0.0.0.0", 7)
    assert found[-1] == "127.0.0.1:7"
    assert all(":7" in text and "[" not in text for text in found)
    assert listening.reachable("10.0.0.5", 7) == ["10.0.0.5:7"]
    assert listening.reachable("::1", 7) == ["[::1]:7"]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "0.0.0.0", "::"])
def test_an_address_of_either_family_can_be_listened_at(host: str) -> None:
    with listening.bound(host, [0]) as first:
        port = first.getsockname()[1]
        with pytest.raises(Unavailable, match=rf"cannot listen at .*:{port}: .*--listen ADDR:PORT"):
            listening.bound(host, [port])
        with listening.bound(host, [port, 0]) as second:
            assert second.getsockname()[1] != port
        if host == "::":
            socket.create_connection(("127.0.0.1", port), 5).close()


def test_a_live_run_is_told_with_the_session_id_that_its_worker_knows() -> None:
    record = RunRecord(
        id="0123456789ab",  # type: ignore[arg-type]  # a run id
        run_id="0123456789ab",
        name="",
        status="paused",
        pid=7,
        socket_path="",
        started_at="2026-01-01T00:00:00.000Z",
        command=["true"],
        cwd="/work/thing\x1b",
        journal="",
    )
    row = collection.session_row(Row(record, True))
    assert (row.session_id, row.pid, row.project, row.status) == ("0123456789ab", 7, "thing", "Waiting")
    assert row.elapsed_secs > 0


def test_tools_are_looked_for_on_path_and_say_their_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {
        "git": "#!/bin/sh\necho 'git version 9\x1b[31m'\necho more",
        "gh": "#!/bin/sh\nexit 3",
        "node": "#!/bin/sh\n/bin/sleep 60 & wait",
    }.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(collection, "VERSION_SECONDS", 0.3)
    found = asyncio.run(collection.capabilities())
    assert set(found.tools) == {"claude", "git", "gh", "python3", "node", "docker"}
    assert (found.tools["git"].state, found.tools["git"].version) == ("present", "git version 9[31m")
    assert [found.tools[name].state for name in ("gh", "node", "claude")] == ["present", "present", "missing"]
    assert found.tools["gh"].version is found.tools["node"].version is None
    assert (found.os, found.arch) == ("linux", os.uname().machine)
