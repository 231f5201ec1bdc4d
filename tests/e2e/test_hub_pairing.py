"""Two homes on one machine: their hubs start by themselves, pair in one command, and say why they do not."""

import json
import re
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_machines import Machine, machines, wait_for

SPARE_PORTS = range(9900, 10102)
"""Those that a relay code can hold."""


@pytest.fixture(name="pair")
def _pair(private_place: Path) -> Iterator[tuple[Machine, Machine]]:
    with machines(private_place, "a", "b", listen_port=0) as (a, b):
        yield a, b


def words(machine: Machine, *arguments: str) -> str:
    done = machine.run(*arguments)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def refused(machine: Machine, *arguments: str) -> tuple[int, str]:
    done = machine.run(*arguments)
    assert done.returncode != 0
    text = done.stderr.decode()
    assert text.count("\n") == 1
    return done.returncode, text


def both_connected(a: Machine, b: Machine) -> None:
    for one, other in ((a, b), (b, a)):
        row = wait_for(lambda one=one, other=other: one.connected(other.identity) and one.row(other.identity), "a link")
        assert row["proto"] == 1
        assert row["framing"] == "frame-bin"
        assert {"unknown-ok", "frame-bin", "lease-fleet"} <= set(row["features"])


def test_pair_and_join_connect_two_homes(pair: tuple[Machine, Machine]) -> None:
    a, b = pair
    told = words(a, "peer", "pair")
    link = re.search(r"hopline peer join (cctl://\S+)", told)
    assert link is not None
    assert f"connected to {a.identity}" in words(b, "peer", "join", link[1])
    both_connected(a, b)
    assert re.search(rf"{b.identity} +connected +1 +frame-bin", words(a, "peer", "ls"))
    assert re.search(rf"{a.identity} +connected +1 +frame-bin +127", words(b, "peer", "ls"))


def test_pair_accept_and_connect_as_it_is_printed(pair: tuple[Machine, Machine]) -> None:
    a, b = pair
    told = words(a, "peer", "pair")
    accept, connect = re.findall(r"^  hopline (peer (?:accept|connect) .*)$", told, re.MULTILINE)
    words(b, *accept.split())
    assert f"connected to {a.identity}" in words(b, *connect.split())
    both_connected(a, b)


def test_the_inviting_side_may_connect_too(pair: tuple[Machine, Machine]) -> None:
    a, b = pair
    code = a.told("peer", "pair")["code"]
    words(b, "peer", "accept", code, a.identity)
    where = b.told("peer", "id")["listen"]
    assert a.told("peer", "connect", where)["peer"] == b.identity
    both_connected(a, b)
    assert not (a.peers_folder / "_pending.key").exists()


def test_a_relay_code_pairs_without_naming_anybody(pair: tuple[Machine, Machine]) -> None:
    a, b = pair
    for port in SPARE_PORTS:
        with socket.socket() as end:
            if end.connect_ex(("127.0.0.1", port)) != 0:
                break
    a.start(f"127.0.0.1:{port}")
    code = a.told("peer", "invite")["relay_code"]
    assert len(code) == 27
    assert b.told("peer", "join", code.lower())["peer"] == a.identity
    both_connected(a, b)


def test_an_invitation_can_be_drawn_and_says_that_it_works_here_only(pair: tuple[Machine, Machine]) -> None:
    a, _ = pair
    done = a.run("peer", "invite", "--qr")
    assert done.stdout.decode().startswith("cctl://")
    assert "▄" in done.stdout.decode()
    assert b"works on this machine only" in done.stderr
    assert b"hopline hub serve --listen 0.0.0.0:9847" in done.stderr


def test_keys_and_sockets_are_their_owners_alone(pair: tuple[Machine, Machine]) -> None:
    a, b = pair
    words(b, "peer", "join", a.told("peer", "pair")["link"])
    for machine, other in ((a, b), (b, a)):
        assert stat.S_IMODE((machine.peers_folder / f"{other.identity}.key").stat().st_mode) == 0o600
        assert stat.S_IMODE(machine.fleet.stat().st_mode) == 0o700
        control = Path(machine.told("hub", "status")["record"]["socket"])
        assert stat.S_IMODE(control.stat().st_mode) == 0o600
        assert stat.S_IMODE(control.parent.stat().st_mode) == 0o700


def test_a_used_invitation_is_refused_with_the_way_to_a_new_one(pair: tuple[Machine, Machine]) -> None:
    a, b = pair
    link = a.told("peer", "pair")["link"]
    a.run("peer", "pair")
    status, text = refused(b, "peer", "join", link)
    assert status == 5
    assert f"{a.identity} at" in text
    assert "the invitation is wrong or was used already" in text
    assert f"hopline peer forget {b.identity}" in text
    assert b.told("peer", "ls")["peers"] == []


def test_somebody_else_at_the_address_is_named_and_no_key_is_kept(pair: tuple[Machine, Machine]) -> None:
    a, b = pair
    link = a.told("peer", "pair")["link"].replace(a.identity, "other-0000000f")
    status, text = refused(b, "peer", "join", link)
    assert status == 5
    assert f"{a.identity} answered at" in text
    assert "not other-0000000f" in text
    assert b.told("peer", "ls")["peers"] == []


def test_nobody_at_the_address_is_said(pair: tuple[Machine, Machine]) -> None:
    a, b = pair
    link = a.told("peer", "pair")["link"]
    words(a, "hub", "stop")
    status, text = refused(b, "peer", "join", link)
    assert status == 6
    assert "nothing listens at 127.0.0.1:" in text
    assert "hopline hub serve --listen" in text


def test_a_listener_that_closes_without_a_word_may_be_full_or_tired_of_us(pair: tuple[Machine, Machine]) -> None:
    _, b = pair
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            server.accept()[0].close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        link = f"cctl://x-00000001@127.0.0.1:{server.getsockname()[1]}/k/0123456789abcdef"
        status, text = refused(b, "peer", "join", link)
        thread.join(10)
    assert status == 6
    assert "closed the connection before the handshake was over" in text
    assert "too many failed tries" in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("join", "cctl://x@nowhere/k/00"), "is no IP:PORT"),
        (("join", "ace-ace-ace-ace-ace-ace-ace-ace-ace-ace-ace-ace-ace"), "word phrases are not read here"),
        (("join", "cctl://hive/hv_1?a=x-1@127.0.0.1:1&k=0123456789abcdef"), "which hopline does not join"),
        (("accept", "a1b2", "x-1"), "16 hex digits"),
        (("accept", "a1b2-c3d4-e5f6-0789", "x/1"), "is no peer's id"),
        (("accept", "a1b2-c3d4-e5f6-0789", "a-0000000a"), "is this machine"),
        (("connect", "localhost"), "write an IP address and a port"),
    ],
)
def test_what_is_wrong_in_itself_is_wrong_use(
    pair: tuple[Machine, Machine], arguments: tuple[str, ...], sentence: str
) -> None:
    status, text = refused(pair[0], "peer", *arguments)
    assert status == 2
    assert sentence in text


def test_without_a_key_there_is_nothing_to_connect_with(pair: tuple[Machine, Machine]) -> None:
    a, b = pair
    status, text = refused(b, "peer", "connect", a.told("peer", "id")["listen"])
    assert status == 4
    assert "hopline peer pair" in text


def test_a_forgotten_machine_is_disconnected_and_told_why_it_does_not_come_back(pair: tuple[Machine, Machine]) -> None:
    a, b = pair
    words(b, "peer", "join", a.told("peer", "pair")["link"])
    both_connected(a, b)
    assert words(a, "peer", "forget", b.identity) == f"{b.identity} is forgotten\n"
    assert a.told("peer", "ls")["peers"] == []
    row = wait_for(lambda: b.row(a.identity).get("problem") == "it refuses our key" and b.row(a.identity), "the reason")
    assert row["state"] == "waiting"
    status, text = refused(a, "peer", "forget", b.identity)
    assert status == 4
    assert "hopline peer ls" in text
    words(b, "peer", "join", a.told("peer", "pair")["link"])
    both_connected(a, b)


def test_a_machines_runs_and_tools_are_seen_from_the_other(pair: tuple[Machine, Machine]) -> None:
    a, b = pair
    words(b, "peer", "join", a.told("peer", "pair")["link"])
    run = json.loads(words(a, "run", "--detach", "--name", "busy", "--", "sleep", "60"))["id"]
    wait_for(lambda: run in b.session_ids(a.identity), "the run at the other machine")
    text = words(b, "peer", "fleet")
    assert re.search(rf"{run} +busy +Processing", text)
    assert f"{a.identity} (connected" in text
    assert f"{b.identity} (this machine" in text
    words(a, "stop", run, "--grace", "0")
    wait_for(lambda: run not in b.session_ids(a.identity), "its end at the other machine")


def test_json_of_every_answer_is_one_object(pair: tuple[Machine, Machine]) -> None:
    a, _ = pair
    for arguments in (("id",), ("pair",), ("invite",), ("ls",), ("fleet",), ("discover", "--seconds", "0.1")):
        assert isinstance(json.loads(words(a, "peer", *arguments, "--json")), dict)


def test_help_starts_no_hub(pair: tuple[Machine, Machine]) -> None:
    a, _ = pair
    words(a, "peer", "--help")
    words(a, "hub", "--help")
    assert not (a.fleet / "hub.lock").exists()
