"""A run that lives and cannot be asked: its socket is gone, or its server is stopped. Nobody hangs, nobody guesses."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_rig import detached, hopline, one_sentence, wait_until_over, wait_until_unserved

from hopline.records import hold_lock


@pytest.fixture
def lost() -> Iterator[subprocess.Popen[bytes]]:
    """The process that passes for the server of run `lost`, which is held and whose socket is nowhere."""
    record = detached("--name", "lost", "--", "true")
    wait_until_over("lost")
    wait_until_unserved("lost")
    with subprocess.Popen(["sleep", "600"]) as server:
        folder = Path(record["journal"]).parent
        kept = json.loads((folder / "record.json").read_bytes())
        (folder / "record.json").write_text(json.dumps({**kept, "status": "running", "pid": server.pid}))
        lock = hold_lock(record["id"])
        yield server
        os.close(lock)
        server.kill()


def test_a_run_that_lives_without_its_socket_says_so(lost: "subprocess.Popen[bytes]") -> None:
    gone = f"the run lives (server pid {lost.pid}) but its socket is gone"
    assert gone in one_sentence(hopline("send", "lost", "hi"), 1)
    assert gone in one_sentence(hopline("interrupt", "lost"), 1)
    assert gone in one_sentence(hopline("logs", "lost"), 1)
    told = hopline("show", "lost").stdout.decode()
    assert gone in told
    assert "worker       unknown: the server could not be asked" in told
    looked = hopline("doctor", "lost")
    assert looked.returncode == 1
    assert gone in looked.stdout.decode()


def test_stop_ends_a_server_without_a_socket_by_signal(lost: "subprocess.Popen[bytes]") -> None:
    assert b"it was sent SIGTERM" in hopline("stop", "lost").stdout
    assert lost.wait(5) == -signal.SIGTERM


@pytest.mark.parametrize("command", [("show",), ("send", "hi"), ("attach", "--plain")])
def test_a_server_that_is_stopped_is_given_up_on_with_what_wakes_it(command: tuple[str, ...]) -> None:
    record = detached("--name", "it", "--", "sleep", "600")
    os.kill(record["pid"], signal.SIGSTOP)
    try:
        began = time.monotonic()
        told = hopline(command[0], "it", *command[1:])
        assert time.monotonic() - began < 15.0
        said = (told.stdout + told.stderr).decode()
        assert f"(pid {record['pid']}) does not answer; it may be stopped: kill -CONT {record['pid']}" in said
        assert told.returncode == (0 if command == ("show",) else 1)
    finally:
        os.kill(record["pid"], signal.SIGCONT)


def test_the_doctor_names_a_live_run_whose_server_is_stopped() -> None:
    record = detached("--name", "it", "--", "sleep", "600")
    assert hopline("doctor", "it").returncode == 0
    os.kill(record["pid"], signal.SIGSTOP)
    try:
        looked = hopline("doctor", "it")
        assert looked.returncode == 1
        assert f"kill -CONT {record['pid']}" in looked.stdout.decode()
    finally:
        os.kill(record["pid"], signal.SIGCONT)
