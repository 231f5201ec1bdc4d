"""A run whose server was killed: what a person is told, and that no view waits for what cannot come."""

import os
import signal

import pytest
from cli_rig import detached, hopline, shown, wait_for_output


def lost_run() -> str:
    """A run with one line of output and one process in the background, whose server is dead."""
    run = detached("--", "sh", "-c", "sleep 600 & echo here; wait")
    wait_for_output(run["id"], b"here\n")
    os.kill(run["pid"], signal.SIGKILL)
    return str(run["id"])


@pytest.mark.parametrize("command", [("attach", "--plain"), ("attach", "--plain", "--tail", "5")])
def test_attaching_to_an_interrupted_run_replays_it_and_ends_with_a_sentence(command: tuple[str, ...]) -> None:
    run_id = lost_run()
    attached = hopline(command[0], run_id, *command[1:])
    assert (attached.returncode, attached.stdout) == (1, b"here\n")
    assert b"was interrupted: its server is gone; it is recorded up to event" in attached.stderr


def test_following_the_logs_of_an_interrupted_run_ends() -> None:
    followed = hopline("logs", lost_run(), "-f")
    assert (followed.returncode, followed.stdout) == (0, b"here\n")


def test_show_looks_for_what_an_interrupted_run_left_behind() -> None:
    findings = shown(lost_run())
    assert findings["instance"]["status"] == "interrupted"
    assert findings["last_sequence"] > 0
    retired = findings["worker"]["retired"]
    assert "looked at now" in retired["how"]
    assert [process["name"] for process in retired["descendants"]["processes"]] == ["sleep"]
