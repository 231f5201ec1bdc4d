"""Leases as a person uses them: two machines, one authority, a guarded clone (the show of docs/guide/leases.md)."""

import json
import os
import pty
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hub_machines import HOPLINE, SECONDS, Machine, machines, marry, wait_for

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def pair(private_place: Path) -> Iterator[tuple[Machine, Machine]]:
    """Two machines that are linked; `lease authority` was told on both."""
    with machines(private_place, "a", "b") as (a, b):
        marry(a, b)
        a.start()
        key = bytes.fromhex((b.peers_folder / f"{a.identity}.key").read_text())
        b.know(a.identity, key, a.address)
        b.start()
        wait_for(lambda: b.connected(a.identity), "the link")
        for machine in (a, b):
            told = machine.run("lease", "authority", a.identity)
            assert told.returncode == 0, told.stderr
        yield a, b


def claim(machine: Machine, *arguments: str) -> Any:
    done = machine.run("lease", "claim", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def until_it_waits(command: "subprocess.Popen[bytes]") -> str:
    """The line that says what the claim waits for."""
    assert command.stderr is not None
    for line in command.stderr:
        if line.startswith(b"waiting for"):
            return line.decode()
    raise AssertionError("it never waited")


def clone(place: Path) -> Path:
    folder = place / "clone"
    for path in ("src/auth/login.py", "docs/page.md"):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text("1\n")
    git(folder, "init", "-q", "-b", "main", ".")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "start")
    return folder


def git(folder: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    identity = {
        "GIT_AUTHOR_NAME": "t",
        "GIT_AUTHOR_EMAIL": "t@t",
        "GIT_COMMITTER_NAME": "t",
        "GIT_COMMITTER_EMAIL": "t@t",
    }
    env = {name: value for name, value in os.environ.items() if not name.startswith("HOPLINE")} | identity | environment
    return subprocess.run(
        ["git", *arguments], cwd=folder, env=env, capture_output=True, text=True, timeout=SECONDS, check=False
    )


def test_one_machine_needs_nobody_else(private_place: Path) -> None:
    with machines(private_place, "alone") as (alone,):
        granted = claim(alone, "branch:main", "--reason", "release")
        assert granted["authority"] == alone.identity
        refused = alone.run("lease", "claim", "branch:main", "--session", "other")
        assert refused.returncode == 1
        assert f"@{alone.identity} holds it" in refused.stderr.decode()
        listed = alone.run("lease", "ls")
        assert b"branch:main" in listed.stdout
        assert b"release" in listed.stdout
        assert alone.run("hub", "stop").returncode == 0
        kept = alone.told("lease", "ls")["leases"]
        assert [one["fence"] for one in kept] == [granted["lease"]["fence"]]
        assert alone.run("lease", "release", "branch:main").returncode == 0


def test_paired_machines_name_their_authority_or_are_told_to(private_place: Path) -> None:
    with machines(private_place, "a", "b") as (a, b):
        marry(a, b)
        a.start()
        refused = a.run("lease", "claim", "path_glob:x")
        assert refused.returncode == 2
        for words in ("hopline lease authority ID", '[relay] lease_authority = "ID"', a.identity, b.identity):
            assert words in refused.stderr.decode()
        stranger = a.run("lease", "authority", "c-0000000c")
        assert stranger.returncode == 2
        assert a.run("lease", "authority").returncode == 1
        assert a.run("lease", "authority", a.identity).returncode == 0
        assert a.told("lease", "authority")["authority"] == a.identity
        assert claim(a, "path_glob:x")["outcome"] == "granted"


def test_a_claim_is_held_against_the_other_machine_handed_over_and_guarded(
    pair: tuple[Machine, Machine], private_place: Path
) -> None:
    a, b = pair
    first = claim(a, "path_glob:src/auth/**", "--ttl", "10m")["lease"]
    assert first["ttl_secs"] == 600
    refused = b.run("lease", "claim", "path_glob:src/auth/**")
    assert refused.returncode == 1
    for words in (first["owner_session_id"], first["id"], first["expires_at"], "--wait"):
        assert words in refused.stderr.decode()

    folder = clone(private_place)
    installed = b.run("lease", "guard", "install", "--repository", str(folder))
    assert installed.returncode == 0, installed.stderr
    (folder / "docs/page.md").write_text("2\n")
    assert git(folder, "commit", "-q", "-a", "-m", "free").returncode == 0
    (folder / "src/auth/login.py").write_text("2\n")
    stopped = git(folder, "commit", "-q", "-a", "-m", "held")
    assert stopped.returncode == 1
    for words in ("src/auth/login.py", first["owner_session_id"], first["expires_at"], "--wait", "HOPLINE_GUARD=off"):
        assert words in stopped.stderr

    waiting = b.spawn("lease", "claim", "path_glob:src/auth/**", "--wait", "--json")
    assert first["owner_session_id"] in until_it_waits(waiting)
    assert a.run("lease", "release", "path_glob:src/auth/**").returncode == 0
    told, _ = waiting.communicate(timeout=SECONDS)
    second = json.loads(told)["lease"]
    assert second["fence"] > first["fence"]
    assert git(folder, "commit", "-q", "-a", "-m", "mine now").returncode == 0
    assert b.run("lease", "guard", "uninstall", "--repository", str(folder)).returncode == 0


def test_a_push_is_guarded_and_the_hook_that_was_there_still_runs(
    pair: tuple[Machine, Machine], private_place: Path
) -> None:
    a, b = pair
    folder = clone(private_place)
    hook = folder / ".git/hooks/pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\necho "before $1: $(cat)" >&2\n')
    hook.chmod(0o755)
    git(folder, "init", "-q", "--bare", str(private_place / "remote"))
    git(folder, "remote", "add", "origin", str(private_place / "remote"))
    b.run("lease", "guard", "install", "--repository", str(folder))
    claim(a, "path_glob:src/auth/")
    pushed = git(folder, "push", "-q", "origin", "main")
    assert pushed.returncode != 0
    assert "before origin: refs/heads/main" in pushed.stderr
    assert "src/auth/login.py is held by" in pushed.stderr
    assert git(folder, "push", "-q", "origin", "main", HOPLINE_GUARD="off").returncode == 0


def test_an_agents_hook_is_told_to_block_with_the_reason(pair: tuple[Machine, Machine], private_place: Path) -> None:
    a, b = pair
    folder = clone(private_place)
    claim(a, "path_glob:src/auth/**")

    def tried(name: str) -> "subprocess.CompletedProcess[bytes]":
        call = {"tool_name": "Edit", "cwd": str(folder), "tool_input": {"file_path": str(folder / name)}}
        (private_place / "call").write_text(json.dumps(call))
        with (private_place / "call").open() as given:
            return b.run("lease", "guard", "check", "--hook", stdin=given)

    assert tried("docs/page.md").returncode == 0
    blocked = tried("src/auth/login.py")
    assert blocked.returncode == 2
    assert f"@{a.identity}" in blocked.stderr.decode()
    checked = b.run("lease", "guard", "check", str(folder / "docs/page.md"), str(folder / "src/auth/new.py"))
    assert checked.returncode == 1
    a.stop()
    unknown = b.run("lease", "guard", "check", str(folder / "docs/page.md"))
    assert unknown.returncode not in (0, 1)
    assert b"HOPLINE_GUARD=off" in unknown.stderr
    assert tried("docs/page.md").returncode == 2


def test_a_claim_that_is_interrupted_while_it_waits_leaves_no_place_behind(pair: tuple[Machine, Machine]) -> None:
    a, b = pair
    claim(a, "path_glob:src/**")
    waiting = b.spawn("lease", "claim", "path_glob:src/**", "--wait")
    until_it_waits(waiting)
    waiting.send_signal(2)
    assert waiting.wait(SECONDS) == 130
    assert a.run("lease", "release", "path_glob:src/**").returncode == 0
    taken = wait_for(lambda: a.run("lease", "claim", "path_glob:src/**").returncode == 0, "the freed path", 5)
    assert taken
    late = b.run("lease", "claim", "path_glob:src/**", "--wait", "0.5")
    assert late.returncode == 1


def test_leases_outlive_kill_nine_of_their_authority_and_fences_go_on(pair: tuple[Machine, Machine]) -> None:
    a, b = pair
    first = claim(b, "path_glob:src/**")["lease"]
    a.stop(9)
    lost = b.run("lease", "claim", "path_glob:x")
    assert lost.returncode == 6
    a.restart()
    assert [one["id"] for one in a.told("lease", "ls")["leases"]] == [first["id"]]
    refused = a.run("lease", "claim", "path_glob:src/x")
    assert refused.returncode == 1
    second = wait_for(lambda: b.run("lease", "claim", "path_glob:x", "--json").stdout, "the authority is back")
    assert json.loads(second)["lease"]["fence"] > first["fence"]


def test_the_lease_of_a_run_lasts_while_the_run_does(pair: tuple[Machine, Machine]) -> None:
    """PL-LEASE-RENEWED, through real heartbeats."""
    a, b = pair
    gate, told = b.home / "gate", b.home / "claimed"
    os.mkfifo(gate)
    work = f"read line < {gate}; hopline lease claim path_glob:src/** --ttl 6s --json > {told}; exec sleep 60"
    place = {"PATH": f"{Path(HOPLINE).parent}:{os.environ['PATH']}"}
    run_id = json.loads(b.run("run", "--detach", "--", "sh", "-c", work, env=place).stdout)["id"]
    wait_for(lambda: run_id in a.session_ids(b.identity), "the run in a heartbeat")
    gate.write_text("go\n")
    claimed = json.loads(wait_for(lambda: told.exists() and told.read_text(), "the claim"))["lease"]
    assert claimed["owner_session_id"] == f"{run_id}@{b.identity}"
    wait_for(lambda: b.told("lease", "ls")["leases"][0]["expires_at"] > claimed["expires_at"], "a renewal")
    assert b.run("stop", run_id).returncode == 0
    wait_for(lambda: not b.told("lease", "ls")["leases"], "the end of the lease", 25)


def test_a_terminal_keeps_its_session_name_and_another_has_another(private_place: Path) -> None:
    with machines(private_place, "alone") as (alone,):
        first, second = typed_on_a_terminal(alone, "path_glob:a", "path_glob:b")
        assert first == second
        assert first.endswith(f"@{alone.identity}")
        assert "-pts" in first
        assert claim(alone, "path_glob:c")["lease"]["owner_session_id"] != first


def typed_on_a_terminal(machine: Machine, *resources: str) -> list[str]:
    """The owners of claims that one shell made on a terminal of its own, its output going to files."""
    names = [machine.home / f"said{at}" for at in range(len(resources))]
    script = "; ".join(
        f"{HOPLINE} lease claim '{one}' --json > {name}" for one, name in zip(resources, names, strict=True)
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve("/bin/sh", ["sh", "-c", script], machine.env)
    while True:
        try:
            if not os.read(terminal, 1000):
                break
        except OSError:
            break
    os.waitpid(pid, 0)
    os.close(terminal)
    return [json.loads(name.read_text())["lease"]["owner_session_id"] for name in names]


def test_a_claim_waits_through_the_end_of_its_own_hub(private_place: Path) -> None:
    with machines(private_place, "alone") as (alone,):
        held = claim(alone, "path_glob:src/", "--session", "first")["lease"]
        waiting = alone.spawn("lease", "claim", "path_glob:src/", "--wait", "30s", "--session", "second", "--json")
        until_it_waits(waiting)
        assert alone.run("hub", "stop").returncode == 0
        assert "hub has left" in until_it_waits(waiting)
        assert alone.run("lease", "release", held["id"], "--session", "first").returncode == 0
        told, _ = waiting.communicate(timeout=SECONDS)
        assert json.loads(told)["lease"]["fence"] > held["fence"]


def test_one_means_held_by_somebody_else_and_nothing_else_does(private_place: Path) -> None:
    with machines(private_place, "alone") as (alone,):
        claim(alone, "path_glob:src/", "--session", "first")
        for status, arguments in (
            (1, ["path_glob:src/"]),
            (2, ["path_glob:src/", "--ttl", "8d"]),
            (2, ["path_glob:src/", "--ttl", "0"]),
            (2, ["path_glob:" + "x" * 513]),
            (2, ["path_glob:~/x"]),
        ):
            done = alone.run("lease", "claim", *arguments, "--session", "second")
            assert done.returncode == status, done.stderr
        alone.run("hub", "stop")
        (alone.home / "fleet" / "leases.db").write_bytes(b"somebody's notes\n" * 200)
        broken = alone.run("lease", "claim", "path_glob:src/", "--session", "second")
        assert broken.returncode == 6
        assert b"leases.db" in broken.stderr
        assert b"move it away" in broken.stderr
