"""What is no longer in a journal is said, by every command that would otherwise pass for whole."""

import os
import subprocess
import time
from pathlib import Path

from cli_rig import DEADLINE_SECONDS, HOPLINE, hopline, wait_until_over, wait_until_unserved

DROPPING = ("--max-journal", "1MB", "--when-journal-full", "drop-oldest")


def ended_run(*command: str) -> Path:
    """The newest segment of a run that ended and that nobody serves any more."""
    assert hopline("run", "--name", "it", "--", *command).returncode == 0
    instance = wait_until_over("it")["instance"]
    wait_until_unserved("it")
    return sorted((Path(instance["journal"]) / "segments").glob("0*.jsonl"))[-1]


def wait_until_found(run: str) -> None:
    """Until the run has a record."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while hopline("show", run).returncode:
        assert time.monotonic() < deadline


def test_a_slow_watcher_is_told_what_was_dropped_before_it_could_be_shown() -> None:
    with subprocess.Popen(
        [HOPLINE, "run", "--name", "it", *DROPPING, "--", "seq", "1", "3000000"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as watcher:
        assert watcher.stdout is not None
        assert watcher.stderr is not None
        wait_until_found("it")
        hopline("logs", "it", "--follow", "--json")  # to the end, while nobody reads the watcher's output
        seen = watcher.stdout.read()
        told = watcher.stderr.read().decode()
        assert watcher.wait() == 0
    assert seen.endswith(b"3000000\n")
    assert seen.count(b"\n") < 3_000_000
    assert "hopline: the output has a gap: " in told
    assert "were dropped before they could be shown" in told


def test_logs_of_which_the_beginning_was_dropped_fail_unless_a_part_was_asked_for() -> None:
    ended_run("true")
    assert hopline("run", "--name", "big", *DROPPING, "--", "seq", "1", "1000000").returncode == 0
    wait_until_over("big")
    whole = hopline("logs", "big", "--raw")
    assert whole.returncode == 1
    assert b"dropped before they could be shown" in whole.stderr
    tail = hopline("logs", "big", "--tail", "3")
    assert (tail.returncode, tail.stdout) == (0, b"999998\n999999\n1000000\n")
    assert hopline("logs", "big", "--after", "1").returncode == 0


def test_logs_with_damage_in_the_middle_fail_and_say_so() -> None:
    segment = ended_run("seq", "1", "100000")
    with segment.open("r+b") as file:
        file.seek(segment.stat().st_size // 2)
        file.write(b"\0" * 100)
    whole = hopline("logs", "it", "--raw")
    assert whole.returncode == 1
    assert b"hopline: the output has a gap: 1 event is lost to damage of the journal" in whole.stderr
    looked = hopline("doctor", "it")
    assert looked.returncode == 1
    assert looked.stderr == b""
    assert b" is lost: " in looked.stdout


def test_a_journal_that_lost_its_end_is_never_taken_for_whole() -> None:
    segment = ended_run("seq", "1", "100000")
    os.truncate(segment, segment.stat().st_size // 2)
    for command in (("logs",), ("show",), ("attach", "--plain"), ("doctor",), ("doctor", "--repair"), ("doctor",)):
        told = hopline(*command, "it")
        assert told.returncode == 1, command
        assert b"the end is missing: the record says that the run completed" in told.stdout + told.stderr, command
