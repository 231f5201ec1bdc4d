"""What is started for another machine, what its end means, and which of its runs is meant."""

import pytest

from hopline.client.host import FarRecord, choose
from hopline.client.ssh import SshChannel, ssh_command, ssh_failure
from hopline.client.targets import OverSsh
from hopline.errors import ConnectDenied, ConnectFailed, HoplineError, RunGone, Unavailable, UsageError

BOX = OverSsh("box", "@last")


def test_ssh_notices_a_dead_line_and_takes_the_host_for_no_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOPLINE_SSH", raising=False)
    command = ssh_command(OverSsh("me@box", "x", 2222), ["hopline", "bridge", "it's"])
    assert command[:2] == ["ssh", "-T"]
    assert "ServerAliveInterval=15" in command
    assert command[command.index("-p") + 1] == "2222"
    assert command[-5:] == ["--", "me@box", "hopline", "bridge", "'it'\"'\"'s'"]


def test_the_environment_replaces_everything_before_the_remote_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPLINE_SSH", "ssh -p 2222 127.0.0.1")
    assert ssh_command(BOX, ["hopline", "host"]) == ["ssh", "-p", "2222", "127.0.0.1", "hopline", "host"]


def test_an_override_that_is_no_command_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPLINE_SSH", "ssh 'x")
    with pytest.raises(UsageError, match="HOPLINE_SSH"):
        ssh_command(BOX, ["hopline", "host"])


def test_a_program_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPLINE_SSH", "/no/such/ssh box")
    with pytest.raises(Unavailable, match="HOPLINE_SSH"):
        SshChannel(BOX, ["hopline", "host"])


def test_a_channel_carries_both_ways_and_its_end_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPLINE_SSH", "sh -c 'cat; echo it went wrong >&2; exit 255'")
    channel = SshChannel(BOX, [])
    with channel.take_socket() as end:
        end.settimeout(10)
        end.sendall(b"both ways\n")
        assert end.recv(100) == b"both ways\n"
    error = channel.explain()
    assert isinstance(error, Unavailable)
    assert "it went wrong" in str(error)
    channel.close()
    channel.close()


def test_an_ordinary_end_needs_no_explanation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPLINE_SSH", "sh -c 'exit 3'")
    channel = SshChannel(BOX, [])
    assert channel.explain() is None
    channel.close()


def test_what_does_not_leave_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPLINE_SSH", "sh -c 'trap \"\" TERM; echo ready; while :; do sleep 5 <&- >&-; done'")
    channel = SshChannel(BOX, [])
    with channel.take_socket() as end:
        end.settimeout(10)
        assert end.recv(10) == b"ready\n"
    channel.close(seconds=0.1)


@pytest.mark.parametrize(
    ("status", "stderr", "kind", "told"),
    [
        (4, '{"outcome":"run_gone","exit_status":4,"detail":"no such run"}\n', RunGone, "no such run"),
        (5, '{"outcome":"connect_denied","exit_status":5,"detail":"not yours"}\n', ConnectDenied, "not yours"),
        (6, 'banner\n{"outcome":"connect_failed","exit_status":6,"detail":"full"}', ConnectFailed, "full"),
        (2, '{"outcome":"usage_error","exit_status":2,"detail":"write more of it"}', UsageError, "write more"),
        (7, '{"outcome":"server_stalled","exit_status":7,"detail":"stuck"}', Unavailable, "stuck"),
        (127, "bash: hopline: command not found\n", Unavailable, "install it there"),
        (255, "ssh: connect to host box port 22: Connection refused\n", Unavailable, "Connection refused"),
        (255, "", Unavailable, "said nothing"),
        (1, "Traceback\nBoom\x1b[2J\n", Unavailable, "status 1: Boom[2J"),
    ],
)
def test_the_end_of_a_channel_is_an_error_of_its_own_kind(
    status: int, stderr: str, kind: type[HoplineError], told: str
) -> None:
    error = ssh_failure(status, stderr, "box")
    assert type(error) is kind
    assert told in str(error)


def record(run_id: str, name: str) -> FarRecord:
    return FarRecord(
        id=run_id,
        run_id=run_id,
        name=name,
        status="running",
        pid=1,
        socket_path="/s",
        started_at="2026-01-01T00:00:00Z",
        command=["x"],
        cwd="/",
        journal="/j",
    )


RECORDS = [record("aaaa00000000", "build"), record("aabb00000000", "build"), record("cccc00000000", "aaaa00000000")]


@pytest.mark.parametrize(
    ("run", "found"),
    [("@last", 2), ("aaaa00000000", 0), ("build", 1), ("c", 2), ("aaa", 0)],
)
def test_a_run_elsewhere_is_named_as_one_here(run: str, found: int) -> None:
    assert choose(RECORDS, run, "box") is RECORDS[found]


def test_a_name_that_fits_several_or_none_is_said_with_the_host() -> None:
    with pytest.raises(UsageError, match="on box"):
        choose(RECORDS, "aa", "box")
    for run in ("zz", "", "@last"):
        with pytest.raises(RunGone, match="box"):
            choose([] if run == "@last" else RECORDS, run, "box")
