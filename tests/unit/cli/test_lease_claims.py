"""What a claim is of and whose it is, as the command line settles it before anybody is asked."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from hopline.cli.lease import claim
from hopline.cli.lease_resource import claimable, parse_resource
from hopline.cli.lease_session import session_name, shared_name
from hopline.cli.lease_words import Queue, span, told
from hopline.errors import UsageError
from hopline.settings import parse_relay
from hopline.wire.hub.leases import InTheWay, LeaseClaimed, LeaseQueued
from hopline.wire.peer.leases import Lease


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "repository"
    (place / "src").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    monkeypatch.chdir(place / "src")
    return place


@pytest.mark.parametrize("value", [" . ", "src ", "src\\auth", "!src", "~", "~/x", "~ann/x", "/src", "/etc/*"])
def test_a_path_that_could_hold_nothing_is_refused(repository: Path, value: str) -> None:
    with pytest.raises(UsageError, match="hold nothing"):
        claimable("path_glob", value)
    assert claimable("note", value) == value


@pytest.mark.parametrize("value", ["src/**", ".", "**", "../x", "./~x", "./!x", "a b", "src/~x", "[!a]"])
def test_a_path_that_can_hold_something_is_claimed_as_it_is_written(repository: Path, value: str) -> None:
    assert claimable("path_glob", value) == value


@pytest.mark.parametrize(
    ("below", "value"),
    [
        ("src/auth/**", "src/auth/**"),
        ("src/a*.py", "src/a*.py"),
        ("src/", "src/"),
        ("src//x", "src/x"),
        ("link/x", "src/x"),
        ("", "**"),
        ("**", "**"),
        ("*.py", "*.py"),
    ],
)
def test_an_absolute_path_in_the_repository_counts_from_its_top(repository: Path, below: str, value: str) -> None:
    (repository / "link").symlink_to("src")
    assert claimable("path_glob", f"{repository}/{below}") == value


def test_an_absolute_path_is_refused_where_there_is_no_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="no repository is here"):
        claimable("path_glob", str(tmp_path / "x"))


def test_a_value_that_is_too_long_is_wrong_use() -> None:
    assert parse_resource(f"k:{'x' * 512}")[1] == "x" * 512
    for value in ("x" * 513, "a\nb"):
        with pytest.raises(UsageError, match="1 to 512"):
            parse_resource(f"k:{value}")


@pytest.mark.parametrize("ttl", ["0", "0s", "0.5", "8d", "604801", "x"])
def test_a_time_out_of_bounds_is_wrong_use_and_the_bounds_are_named(ttl: str) -> None:
    with pytest.raises(UsageError, match="1s to 7d" if ttl != "x" else "not a time"):
        claim.main(["k:v", "--ttl", ttl, "--no-start", "--session", "s"], standalone_mode=False)


@pytest.mark.parametrize("name", ["", " ", " a", "a ", "a@b", "x" * 129])
def test_a_name_that_is_no_session_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is no session"):
        session_name(name)


def test_a_tool_calls_session_counts_where_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOPLINE_SESSION", raising=False)
    assert session_name(None, "agent-1") == "agent-1"
    monkeypatch.setenv("HOPLINE_SESSION", "run-1")
    assert session_name(None, "agent-1") == "run-1"
    assert session_name("me", "agent-1") == "me"


_ASK = "from hopline.cli.lease_session import *; print(session_name(None), bool(shared_name(None)))"


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "HOPLINE_SESSION"}


def _typed(terminal: str) -> list[str]:
    """What two commands of one shell are called, in a new session on this terminal."""
    twice = f"{sys.executable} -c '{_ASK}'; {sys.executable} -c '{_ASK}'"
    with open(terminal, "rb") as keyboard:  # noqa: PTH123  # a device
        done = subprocess.run(
            ["setsid", "--ctty", "--wait", "sh", "-c", twice], stdin=keyboard, env=_environment(),
            capture_output=True, text=True, check=True, timeout=20,
        )  # fmt: skip
    return done.stdout.splitlines()


def test_a_later_session_on_the_same_terminal_is_somebody_else() -> None:
    ours, theirs = pty.openpty()
    terminal = os.ttyname(theirs)
    first, again = _typed(terminal)
    later, _ = _typed(terminal)
    os.close(ours)
    os.close(theirs)
    assert first == again
    assert first.endswith(" False")
    assert first.rpartition("-")[0] == later.rpartition("-")[0]  # the same user and terminal
    assert first != later


def test_programs_without_a_terminal_are_told_that_they_are_one_holder() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ASK], env=_environment(), stdin=subprocess.DEVNULL, start_new_session=True,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.endswith(" True\n")
    assert shared_name("me") == ""


def test_what_is_left_is_rounded_up_and_until_when_is_told_as_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    lease = _lease("ls_1", "me@a")
    beside = [_lease(f"ls_{at}", f"other{at}@b", mode="advisory", reason="docs") for at in range(5)]
    granted = LeaseClaimed(outcome="granted", authority="a", lease=lease, good_for_millis=9200, overlaps=beside)
    assert told("path_glob:src/**", granted, waited=False) == 0
    said = capsys.readouterr()
    assert said.out.startswith("granted path_glob:src/** until 2026-01-01T00:00:10Z (10s)\n")
    assert "other0@b has advisory path_glob:src/**, 10s more, docs\n" in said.err
    assert "and 2 more overlap it" in said.err
    assert span(9001, None) == "10s"


def test_who_waits_is_told_of_trouble_once(capsys: pytest.CaptureFixture[str]) -> None:
    queue = Queue("path_glob:x")
    assert not queue.queued
    for _ in range(2):
        queue(LeaseQueued(waited_secs=1, way=InTheWay(), trouble="the place in the queue was lost"))
    assert queue.queued
    assert capsys.readouterr().err == "waiting for path_glob:x: the place in the queue was lost\n"


@pytest.mark.parametrize("name", ["../x", "a b", "x" * 129, "a.b"])
def test_a_name_that_no_machine_can_have_is_refused_when_settings_are_read(name: str) -> None:
    with pytest.raises(UsageError, match=r"relay\.lease_authority = .*1 to 128"):
        parse_relay({"lease_authority": name}, "config.toml")
    assert parse_relay({"lease_authority": "laptop-1f2e3d4c"}, "config.toml").lease_authority == "laptop-1f2e3d4c"


def _lease(name: str, owner: str, mode: str = "exclusive", reason: str | None = None) -> Lease:
    return Lease(
        id=name, owner_session_id=owner, owner_agent="claude-code", resource_kind="path_glob",
        resource_value="src/**", mode=mode, reason=reason, acquired_at="2026-01-01T00:00:00Z",
        expires_at="2026-01-01T00:00:10Z", status="active", ttl_secs=10, fence=7, ttl_left_millis=9200,
    )  # fmt: skip
