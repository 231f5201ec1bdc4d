"""Runs of another machine: attach, ls, logs, send and stop through a real sshd, one channel a role."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from bridge_rig import until
from cli_rig import HOPLINE, Terminal, detached, hopline, one_sentence, shown, wait_for_output, wait_until_over
from loopback_sshd import LoopbackSshd
from ssh_places import ssh_here

BOX = ("--ssh", "127.0.0.1")


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackSshd]:
    made = LoopbackSshd(tmp_path_factory.mktemp("sshd"))
    yield made
    made.close()


@pytest.fixture(autouse=True)
def far(sshd: LoopbackSshd, private_place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ssh reaches has this test's places."""
    monkeypatch.setenv("HOPLINE_SSH", ssh_here(sshd))


def test_attaching_follows_live_and_ends_with_the_worker_s_status() -> None:
    record = detached("--name", "far", "--", "sh", "-c", "echo begun; read x; echo got $x; exit 5")
    attached = subprocess.Popen(
        [HOPLINE, "attach", *BOX, "far", "--plain"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    assert attached.stdout is not None
    assert attached.stdout.readline() == b"begun\n"
    sent = hopline("send", *BOX, "far", "word")
    assert (sent.returncode, sent.stdout) == (0, b"delivered: 5 bytes are in the worker's input\n")
    assert attached.stdout.read() == b"got word\n"
    assert attached.wait(20) == 5
    attached.stdout.close()
    assert hopline("logs", *BOX, record["id"], "--raw").stdout == b"begun\ngot word\n"
    assert hopline("logs", *BOX, "@last", "--tail", "1").stdout == b"got word\n"
    assert hopline("attach", *BOX, "@last", "--plain").returncode == 5


def test_a_line_that_is_cut_is_resumed_from_where_it_was() -> None:
    record = detached("--", "sh", "-c", "echo one; read x; echo two; sleep 0.1")
    attached = subprocess.Popen(
        [HOPLINE, "attach", *BOX, record["id"], "--plain"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert attached.stdout is not None
    assert attached.stderr is not None
    assert attached.stdout.readline() == b"one\n"
    for process in children(attached.pid):
        process.send_signal(signal.SIGKILL)
    hopline("send", record["id"], "go")
    assert attached.stdout.read() == b"two\n"
    assert attached.wait(20) == 0
    attached.stdout.close()
    attached.stderr.close()


def test_listing_shows_what_is_there_and_says_how_it_stands() -> None:
    first = detached("--name", "over", "--", "false")
    wait_until_over(first["id"])
    second = detached("--name", "alive", "--", "sleep", "60")
    listing = json.loads(hopline("ls", *BOX, "--json").stdout)
    assert [(one["id"], one["status"]) for one in listing["instances"]] == [
        (first["id"], "failed"),
        (second["id"], "running"),
    ]
    table = hopline("ls", *BOX).stdout.decode()
    assert "alive" in table
    assert "failed (1)" in table


def test_stopping_tells_the_four_facts() -> None:
    record = detached("--", "sh", "-c", "echo up; sleep 60")
    wait_for_output(record["id"], b"up")
    told = hopline("stop", *BOX, record["id"])
    assert told.returncode == 0, told.stderr
    names = [line.split()[0] for line in told.stdout.decode().splitlines() if not line.startswith(" ")]
    assert names == ["stop", "worker", "descendants", "run"]
    assert shown(record["id"])["instance"]["status"] == "stopped"
    again = one_sentence(hopline("stop", *BOX, record["id"]), 4)
    assert "hopline ls --ssh 127.0.0.1" in again


def test_ctrl_c_interrupts_the_worker_and_not_the_line() -> None:
    record = detached("--", "sh", "-c", "trap 'echo caught; exit 9' INT; echo up; while :; do sleep 0.05; done")
    with Terminal("attach", *BOX, record["id"], "--plain") as terminal:
        terminal.read_until(b"up")
        terminal.type(b"\x03")
        terminal.read_until(b"caught")
        assert terminal.finish() == 9


@pytest.mark.parametrize("command", [("attach", "--plain"), ("logs",), ("send", "--eof"), ("stop",)])
def test_a_run_that_is_not_there_is_said_with_its_host(command: tuple[str, ...]) -> None:
    name, *options = command
    told = one_sentence(hopline(name, *BOX, "nosuch", *options), 4)
    assert "127.0.0.1 has no run 'nosuch'" in told


def test_a_host_that_cannot_be_reached_is_said_in_ssh_s_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPLINE_SSH", "ssh -F /dev/null -o BatchMode=yes -p 1 127.0.0.1")
    told = one_sentence(hopline("ls", *BOX), 1)
    assert "refused" in told
    monkeypatch.setenv("HOPLINE_SSH", "/no/such/ssh")
    assert "HOPLINE_SSH" in one_sentence(hopline("ls", *BOX), 1)
    one_sentence(hopline("ls", "--ssh", "-oProxyCommand=x"), 2)


def test_no_channel_is_left_behind(sshd: LoopbackSshd) -> None:
    record = detached("--", "cat")
    hopline("send", *BOX, record["id"], "x")
    hopline("logs", *BOX, record["id"])
    until(lambda: not sessions(sshd))


def children(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children()


def sessions(sshd: LoopbackSshd) -> list[psutil.Process]:
    return [process for process in psutil.Process(sshd._process.pid).children() if process.is_running()]
