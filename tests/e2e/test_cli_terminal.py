"""The live view on a terminal: the keys, the status line, and what a closed window does."""

import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest
from cli_rig import HOPLINE, Terminal, detached, hopline, shown, visible, wait_until_over

IGNORING = 'trap "" INT; echo up; while :; do sleep 0.1; done'


def test_ctrl_c_interrupts_the_worker_and_says_delivered() -> None:
    with Terminal(
        "run", "--", "sh", "-c", "trap 'echo caught; exit 5' INT; echo up; while :; do sleep 0.1; done"
    ) as seat:
        seat.read_until(b"up\r\n")
        seat.type(b"\x03")
        assert seat.finish() == 5
    assert b"caught" in seat.received
    assert b"hopline: interrupt delivered" in seat.received


def test_a_second_ctrl_c_within_two_seconds_stops_the_run() -> None:
    with Terminal("run", "--", "sh", "-c", IGNORING) as seat:
        seat.read_until(b"up\r\n")
        seat.type(b"\x03")
        seat.read_until(b"interrupt delivered")
        seat.type(b"\x03")
        seat.read_until(b"stop accepted")
        assert seat.finish() == 130
    after = shown()
    assert after["instance"]["status"] == "stopped"
    assert after["worker"]["signal"] == signal.SIGKILL


def test_ctrl_backslash_detaches_and_says_how_to_come_back() -> None:
    with Terminal("run", "--name", "kept", "--", "sh", "-c", IGNORING) as seat:
        seat.read_until(b"up\r\n")
        seat.type(b"\x1c")
        assert seat.finish() == 0
    run_id = shown("kept")["instance"]["id"]
    assert f"hopline: detached; come back: hopline attach {run_id}".encode() in seat.received
    assert shown("kept")["live"]
    assert hopline("stop", "kept", "--grace", "0").returncode == 0


def test_a_closed_terminal_only_detaches() -> None:
    with Terminal("run", "--name", "kept", "--", "sh", "-c", "echo up; sleep 1; echo over") as seat:
        seat.read_until(b"up\r\n")
        assert seat.hang_up() in (129, 141)
    assert wait_until_over("kept")["instance"]["status"] == "completed"
    assert hopline("logs", "kept", "--raw").stdout == b"up\nover\n"


def test_a_terminated_watcher_detaches_and_says_so() -> None:
    with Terminal("run", "--name", "kept", "--", "sh", "-c", IGNORING) as seat:
        seat.read_until(b"up\r\n")
        seat.process.terminate()
        assert seat.finish() == 143
    assert b"hopline: detached" in seat.received
    assert shown("kept")["live"]


def test_ctrl_c_answers_while_the_output_is_blocked(tmp_path: Path) -> None:
    """Nobody reads our stdout, a pipe; the keys come from the terminal on stderr."""
    with Terminal("run", "--", "sh", "-c", "trap '' INT; yes", stdout=subprocess.PIPE) as seat:
        assert seat.process.stdout is not None
        seat.process.stdout.read(1 << 16)
        time.sleep(0.3)
        seat.type(b"\x03")
        seat.read_until(b"interrupt delivered")
        seat.type(b"\x1c")
        seat.read_until(b"detached")
        seat.process.stdout.close()
        assert seat.finish() == 0


def test_what_is_typed_reaches_the_worker_line_by_line_and_ctrl_d_ends_it() -> None:
    with Terminal("run", "--", "sh", "-c", 'while read -r line; do echo "got $line"; done; echo end') as seat:
        seat.type(b"one\n")
        seat.read_until(b"got one\r\n")
        seat.type(b"two\n\x04")
        seat.read_until(b"got two\r\n")
        assert seat.finish() == 0
    assert b"end\r\n" in seat.received


def test_the_status_line_is_quiet_and_never_mixed_into_the_output() -> None:
    with Terminal("run", "--", "sh", "-c", "echo first; sleep 1.2; printf partial; sleep 0.6; echo ' rest'") as seat:
        seat.read_until(b"running \xc2\xb7")
        seat.read_until(b"partial")
        assert seat.finish() == 0
    before, _, after = seat.received.partition(b"partial")
    assert before.endswith(b"\x1b[J")
    assert after.startswith(b" rest\r\n")
    assert b"Ctrl-C interrupts" in before
    assert b"hopline: run " in after
    drawn = visible(before).decode()
    assert drawn.startswith("first\r\n\rrunning ·")
    assert hopline("logs", "@last", "--raw").stdout == b"first\npartial rest\n"


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"TERM": None}])
def test_a_terminal_that_can_do_nothing_gets_no_status_line(env) -> None:
    with Terminal("run", "--", "sh", "-c", "echo first; sleep 1.3; echo last", env=env) as seat:
        assert seat.finish() == 0
    assert b"\x1b" not in seat.received
    assert b"first\r\nlast\r\n" in seat.received


def test_no_color_is_kept() -> None:
    with Terminal("run", "--", "sleep", "1.3", env={"NO_COLOR": "1"}) as seat:
        seat.read_until(b"running")
        assert seat.finish() == 0
    assert b";2m" not in seat.received


def test_output_that_is_piped_gets_nothing_of_ours_while_the_terminal_has_the_status_line() -> None:
    with Terminal("run", "--", "sh", "-c", "echo first; sleep 1.2; echo last", stdout=subprocess.PIPE) as seat:
        assert seat.process.stdout is not None
        seat.read_until(b"running")
        seen = seat.process.stdout.read()
        assert seat.finish() == 0
    assert seen == b"first\nlast\n"


def test_attaching_shows_the_end_of_the_past_and_then_what_comes() -> None:
    record = detached("--", "sh", "-c", "seq 1 5000; read -r line; echo got $line")
    with Terminal("attach", record["id"], "--plain", "--tail", "2") as seat:
        seat.read_until(b"5000\r\n")
        assert visible(seat.received).startswith(b"4999\r\n5000\r\n")
        seat.type(b"hello\n")
        seat.read_until(b"got hello\r\n")
        assert seat.finish() == 0


def test_attaching_to_a_long_past_on_a_terminal_begins_near_its_end() -> None:
    detached("--name", "long", "--", "seq", "1", "20000")
    wait_until_over("long")
    with Terminal("attach", "long", "--plain") as seat:
        assert seat.finish() == 0
    assert seat.received.startswith(b"19001\r\n")
    assert seat.received.endswith(b"20000\r\n")


def test_ctrl_c_in_another_command_ends_it_cleanly() -> None:
    detached("--name", "busy", "--", "sleep", "60")
    with Terminal("logs", "busy", "-f") as seat:
        time.sleep(0.5)
        seat.type(b"\x03")
        assert seat.finish() == 130
    assert visible(seat.received) == b"^C\r\nhopline: interrupted.\r\n"


def test_prune_asks_first_on_a_terminal() -> None:
    hopline("run", "--", "true")
    with Terminal("prune", "--keep", "0") as seat:
        seat.read_until(b"remove 1 run")
        seat.type(b"n\n")
        assert seat.finish() == 130
    assert shown()["instance"]["status"] == "completed"


@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3])
def test_ctrl_c_while_the_run_is_being_started_leaves_nothing_half_made(seconds: float, private_place: Path) -> None:
    with Terminal("run", "--", "sleep", "60") as seat:
        while not psutil.Process(seat.process.pid).children():
            time.sleep(0.001)
        time.sleep(seconds)
        seat.type(b"\x03")
        assert seat.finish() == 130
    assert b"Traceback" not in seat.received
    deadline = time.monotonic() + 10
    while list((private_place / "run").glob("hopline/runs/*")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert [path for path in (private_place / "home").glob("runs/*") if not (path / "record.json").exists()] == []


def test_in_the_background_the_terminal_is_not_read() -> None:
    """A job that read its terminal from the background would be stopped by the system."""
    job = f"set -m; {HOPLINE} run -- sh -c 'echo up; sleep 0.7; echo over' & wait $!; echo status $?"
    with Terminal("-c", job, program="/bin/bash") as seat:
        seat.read_until(b"over")
        seat.read_until(b"status 0")
