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
    joined = b.run("peer", "join", code.lower())
    assert joined.stderr.decode() == f"dialling 127.0.0.1:{port}\n"
    assert f"connected to {a.identity}" in joined.stdout.decode()
    both_connected(a, b)


def test_an_invitation_can_be_drawn_and_says_that_it_works_here_only(pair: tuple[Machine, Machine]) -> None:
    a, _ = pair
    done = a.run("peer", "invite", "--qr")
    assert done.stdout.decode().startswith("cctl://")
    assert "▄" in done.stdout.decode()
    assert b"works on this machine only" in done.stderr
    port = a.told("peer", "id")["listen"].rpartition(":")[2]
    assert f"hopline hub serve --listen 0.0.0.0:{port} (or".encode() in done.stderr
    assert b"no code to be read aloud" in done.stderr


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


def test_a_wrong_code_leaves_a_proven_pairing_alone(pair: tuple[Machine, Machine]) -> None:
    a, b = pair
    words(b, "peer", "join", a.told("peer", "pair")["link"])
    both_connected(a, b)
    key = (b.peers_folder / f"{a.identity}.key").read_text()
    status, text = refused(b, "peer", "accept", "a1b2-c3d4-e5f6-0789", a.identity)
    assert status == 1
    assert f"hopline peer forget {a.identity}" in text
    assert "--replace" in text
    both_connected(a, b)
    assert (b.peers_folder / f"{a.identity}.key").read_text() == key
    assert words(b, "peer", "accept", "--replace", "a1b2-c3d4-e5f6-0789", a.identity).startswith("the key of")
    assert (b.peers_folder / f"{a.identity}.key").read_text() != key


def test_a_code_that_was_mistyped_is_simply_given_again(pair: tuple[Machine, Machine]) -> None:
    a, b = pair
    made = a.told("peer", "pair")
    words(b, "peer", "accept", "a1b2-c3d4-e5f6-0789", a.identity)
    refused(b, "peer", "connect", made["address"])
    assert b.told("peer", "accept", made["code"], a.identity)["replaced"] is True
    assert b.told("peer", "connect", made["address"])["peer"] == a.identity


def test_one_who_is_shut_out_on_loopback_is_told_to_wait(pair: tuple[Machine, Machine]) -> None:
    a, b = pair
    link = a.told("peer", "pair")["link"]
    wrong = link[:-16] + "a1b2c3d4e5f60789"
    for _ in range(5):
        refused(b, "peer", "join", wrong)
    status, text = refused(b, "peer", "join", link)
    assert status == 5
    assert "too many failed tries (then wait a minute and try again)" in text


def test_ones_own_address_is_this_machine(pair: tuple[Machine, Machine]) -> None:
    a, _ = pair
    made = a.told("peer", "pair")
    for arguments in (("connect", made["address"]), ("join", made["link"].replace(a.identity, "x-1"))):
        status, text = refused(a, "peer", *arguments)
        assert status == 2
        assert f"{made['address']} is this machine" in text


def test_a_peer_is_forgotten_by_what_it_alone_begins_with(pair: tuple[Machine, Machine]) -> None:
    a, _ = pair
    for name in ("nas-0000000b", "nas-0000000c"):
        words(a, "peer", "accept", "a1b2-c3d4-e5f6-0789", name)
    status, text = refused(a, "peer", "forget", "nas")
    assert (status, "begins 2 peers: nas-0000000b, nas-0000000c" in text) == (2, True)
    assert refused(a, "peer", "forget", "")[0] == 4
    assert words(a, "peer", "forget", "nas-0000000b") == "nas-0000000b is forgotten\n"
    assert words(a, "peer", "forget", "na") == "nas-0000000c is forgotten\n"


def test_a_joiner_that_cannot_keep_the_key_says_so_before_it_asks_anybody(pair: tuple[Machine, Machine]) -> None:
    a, b = pair
    link = a.told("peer", "pair")["link"]
    words(b, "peer", "id")
    b.peers_folder.rename(b.fleet / "away")
    status, text = refused(b, "peer", "join", link)
    assert status == 1
    assert "this machine cannot keep the key: " in text
    assert "the invitation is still good" in text
    (b.fleet / "away").rename(b.peers_folder)
    assert b.told("peer", "join", link)["peer"] == a.identity
    assert [path.name for path in b.peers_folder.glob("*.candidate")] == []
