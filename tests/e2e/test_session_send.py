"""Conversations between two real hubs, by the command line: sent, cut, refused, listed."""

import hashlib
import json
import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_machines import Machine, machines, marry, wait_for
from tripwire import Tripwire

SIZE = 40_000_000
"""More than what waits in the sockets between the hubs."""
MIDDLE = 25_000_000
CWD = "/srv/my_app"
PLACED = ".claude/projects/-srv-my-app"


class Pair:
    """Machines a and b; what a dials goes over the tripwire."""

    def __init__(self, place: Path, a: Machine, b: Machine) -> None:
        self.place = place
        self.a = a
        self.b = b
        b.start()
        self.wire = Tripwire(b.address)
        marry(a, b)
        a.know(b.identity, bytes.fromhex((a.peers_folder / f"{b.identity}.key").read_text()), self.wire.address)
        b.stop()
        b.restart()
        a.start()

    def transcript(self, size: int = SIZE) -> Path:
        """A file that does not compress."""
        path = self.place / "big.jsonl"
        path.write_bytes(json.dumps({"type": "user", "cwd": CWD}).encode() + b"\n" + random.Random(3).randbytes(size))
        return path

    def words(self, path: Path) -> list[str]:
        return ["session", "send", self.b.identity, "s-1", "--transcript", str(path)]

    @property
    def placed(self) -> Path:
        return self.b.user_home / PLACED / "s-1.jsonl"

    def parts(self) -> list[Path]:
        return list((self.b.fleet / "transfers").glob("*.part"))


@pytest.fixture(name="pair")
def _pair(private_place: Path) -> Iterator[Pair]:
    with machines(private_place, "a", "b") as (a, b):
        pair = Pair(private_place, a, b)
        try:
            yield pair
        finally:
            pair.wire.close()


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_session_arrives_with_the_same_sha_256_and_both_sides_list_it(pair: Pair) -> None:
    path = pair.transcript()
    done = pair.a.run(*pair.words(path))
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert f"session s-1 is on {pair.b.identity}: {pair.placed}" in text
    assert digest(path) in text
    assert f"cd {CWD} && claude --resume s-1 --fork-session" in text
    assert b"100% of 40.0 MB sent" in done.stderr
    assert digest(pair.placed) == digest(path)
    (sent,) = pair.a.told("session", "ls")["sessions"]
    (received,) = pair.b.told("session", "ls")["sessions"]
    assert (sent["direction"], sent["state"], sent["peer"]) == ("sent", "received", pair.b.identity)
    assert (received["direction"], received["path"], received["peer"]) == (
        "received",
        str(pair.placed),
        pair.a.identity,
    )
    assert f"to {pair.b.identity}" in pair.a.run("session", "ls").stdout.decode()
    again = pair.a.told(*pair.words(path))
    assert (again["state"], again["bytes_sent"]) == ("received", 0)


def test_a_receiver_that_is_killed_in_the_middle_gets_the_rest_when_it_is_back(pair: Pair) -> None:
    path = pair.transcript()
    pair.wire.set(MIDDLE, lambda: os.kill(pair.b.pid, signal.SIGKILL))
    sending = pair.a.spawn(*pair.words(path), "--json")
    assert pair.wire.tripped.wait(20)
    assert pair.b.process is not None
    pair.b.process.wait(10)
    assert pair.b.process.stdout is not None
    pair.b.process.stdout.close()
    assert not pair.placed.exists()
    pair.b.restart()
    out, err = sending.communicate(timeout=40)
    assert sending.returncode == 0, err
    assert digest(pair.placed) == digest(path)
    assert json.loads(out)["bytes_sent"] < SIZE + MIDDLE, "what had arrived was not sent again"
    assert pair.parts() == []


def reap(machine: Machine) -> None:
    assert machine.process is not None
    machine.process.wait(10)
    assert machine.process.stdout is not None
    machine.process.stdout.close()


def test_a_sender_that_is_killed_in_the_middle_is_started_again_by_the_command(pair: Pair) -> None:
    path = pair.transcript()
    pair.wire.set(MIDDLE, lambda: os.kill(pair.a.pid, signal.SIGKILL))
    done = pair.a.run(*pair.words(path))
    assert done.returncode == 0, done.stderr
    assert b"the hub has left in the middle; it is started again" in done.stderr
    reap(pair.a)
    assert digest(pair.placed) == digest(path)
    assert f"is on {pair.b.identity}" in done.stdout.decode()
    assert pair.parts() == []


def test_a_hub_that_is_told_to_end_is_not_started_again_and_the_transfer_is_listed_as_cut(pair: Pair) -> None:
    path = pair.transcript()
    pair.wire.set(MIDDLE, lambda: os.kill(pair.a.pid, signal.SIGTERM))
    done = pair.a.run(*pair.words(path))
    assert done.returncode == 1
    assert done.stderr.endswith(b"hopline: the hub was told to end before it answered session.send.\n")
    reap(pair.a)
    pair.a.restart()
    (listed,) = pair.a.told("session", "ls")["sessions"]
    assert (listed["state"], listed["session_id"], listed["bytes"]) == ("cut", "s-1", path.stat().st_size)
    assert " cut " in pair.a.run("session", "ls").stdout.decode()
    assert pair.a.told(*pair.words(path))["state"] == "received"
    assert digest(pair.placed) == digest(path)


def test_a_sender_that_is_killed_in_the_middle_ends_right_when_the_command_is_repeated(pair: Pair) -> None:
    path = pair.transcript()
    pair.wire.set(MIDDLE, lambda: os.kill(pair.a.pid, signal.SIGKILL))
    cut = pair.a.run(*pair.words(path), "--no-start")
    assert cut.returncode == 1
    assert b"hopline: the hub has left" in cut.stderr
    reap(pair.a)
    assert not pair.placed.exists()
    kept = wait_for(lambda: sum(part.stat().st_size for part in pair.parts()), "the part")
    pair.a.restart()
    again = pair.a.told(*pair.words(path))
    assert digest(pair.placed) == digest(path)
    assert again["bytes_sent"] <= again["bytes"] - kept + 524_288
    assert pair.parts() == []


def test_a_command_that_is_interrupted_stops_the_transfer_and_the_next_one_finishes_it(pair: Pair) -> None:
    path = pair.transcript()
    commands: list[int] = []
    pair.wire.set(MIDDLE, lambda: os.kill(commands[0], signal.SIGINT))
    sending = pair.a.spawn(*pair.words(path))
    commands.append(sending.pid)
    _, err = sending.communicate(timeout=20)
    assert sending.returncode == 130, err
    assert pair.a.told(*pair.words(path))["state"] == "received"
    assert digest(pair.placed) == digest(path)


def test_what_the_receiver_refuses_is_said_with_its_reason(pair: Pair) -> None:
    path = pair.transcript(1000)
    pair.placed.parent.mkdir(parents=True)
    pair.placed.write_text("mine")
    refused = pair.a.run(*pair.words(path))
    assert refused.returncode == 1
    assert b"never overwritten" in refused.stderr
    assert pair.placed.read_text() == "mine"
    elsewhere = pair.a.told(*pair.words(path), "--remote-cwd", "/other")
    assert Path(elsewhere["remote_path"]).read_bytes() == path.read_bytes()


def test_mistakes_are_named_before_anything_is_sent(pair: Pair) -> None:
    path = pair.transcript(1000)
    mistakes = {
        ("nobody-00000000", "s-1"): (4, b"is not paired"),
        (pair.b.identity, "../s"): (2, b"no session id"),
        (pair.b.identity, "s-1", "--max-size", "999"): (2, b"larger --max-size"),
        (pair.b.identity, "s-1", "--remote-cwd", "here"): (2, b"not absolute"),
    }
    for words, (status, why) in mistakes.items():
        done = pair.a.run("session", "send", *words, "--transcript", str(path))
        assert (done.returncode, why in done.stderr) == (status, True), (words, done.stderr)
    missing = pair.a.run("session", "send", pair.b.identity, "s-none")
    assert (missing.returncode, b"--transcript PATH" in missing.stderr) == (4, True)
    assert not pair.placed.parent.exists()


def test_a_session_of_the_agent_is_found_by_its_id(pair: Pair) -> None:
    session = "3f0c6f0e-8a2b-4f1e-9d2e-0123456789ab"
    source = pair.a.user_home / PLACED / f"{session}.jsonl"
    source.parent.mkdir(parents=True)
    source.write_text(json.dumps({"type": "user", "cwd": CWD, "sessionId": session}) + "\n")
    sent = pair.a.told("session", "send", pair.b.identity, session)
    assert sent["cwd"] == CWD
    assert (pair.b.user_home / PLACED / f"{session}.jsonl").read_bytes() == source.read_bytes()


def test_a_run_is_sent_as_its_events(pair: Pair) -> None:
    started = pair.a.run("run", "--name", "job", "--cwd", str(pair.place), "--", "sh", "-c", "echo hello; exit 3")
    assert started.returncode == 3, started.stderr
    sent = pair.a.told("session", "send", pair.b.identity, "job")
    events = pair.a.run("logs", "--json", "job").stdout
    assert Path(sent["remote_path"]).read_bytes() == events
    assert b'"type":"subprocess_output"' in events
    assert sent["resume"] == f"less {sent['remote_path']}"
    assert sent["cwd"] == str(pair.place)


def test_a_run_that_is_under_way_is_sent_as_far_as_it_is(pair: Pair) -> None:
    pair.a.run("run", "--name", "long", "--detach", "--", "sh", "-c", "echo hello; exec sleep 600")
    wait_for(lambda: b"hello" in pair.a.run("logs", "long").stdout, "its output")
    try:
        sent = pair.a.told("session", "send", pair.b.identity, "long")
        events = [json.loads(line) for line in Path(sent["remote_path"]).read_text().splitlines()]
        assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
        assert "subprocess_output" in [event["type"] for event in events]
    finally:
        pair.a.run("stop", "long")
