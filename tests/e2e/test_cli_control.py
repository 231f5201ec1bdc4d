"""`send`, `interrupt`, `restart`, `stop`: what each proves, and that it says nothing more."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

from cli_rig import HOPLINE, detached, hopline, one_sentence, shown, wait_for_output, wait_until_over

ECHO = 'while read -r line; do echo "got $line"; done; echo end'
FLOOD = 'trap "" INT; echo up; yes'


def test_text_is_sent_as_a_line_unless_told_otherwise_and_eof_ends_the_input() -> None:
    detached("--name", "echo", "--", "sh", "-c", ECHO)
    assert hopline("send", "echo", "one").stdout.startswith(b"delivered: 4 bytes")
    hopline("send", "echo", "tw", "--no-newline")
    hopline("send", "echo", "o", "--eof")
    wait_until_over("echo")
    assert hopline("logs", "echo", "--raw").stdout == b"got one\ngot two\nend\n"


def test_a_file_is_sent_byte_for_byte(tmp_path: Path) -> None:
    data = bytes(range(256)) * 1000
    (tmp_path / "data").write_bytes(data)
    detached("--name", "cat", "--", "cat")
    assert hopline("send", "cat", "--file", str(tmp_path / "data")).returncode == 0
    assert hopline("send", "cat", "--file", "-", "--eof", input=data).returncode == 0
    wait_until_over("cat")
    assert hopline("logs", "cat", "--raw").stdout == data * 2


def test_sending_to_closed_input_or_an_ended_run_says_so() -> None:
    detached("--name", "closed", "--", "sh", "-c", "read -r x; sleep 60")
    assert hopline("send", "closed", "--eof").returncode == 0
    assert "input" in one_sentence(hopline("send", "closed", "x"), 1)
    hopline("stop", "closed", "--grace", "0")
    assert "stopped" in one_sentence(hopline("send", "closed", "x"), 4)


def test_send_needs_one_thing_to_send(tmp_path: Path) -> None:
    detached("--name", "echo", "--", "cat")
    one_sentence(hopline("send", "echo"), 2)
    one_sentence(hopline("send", "echo", "x", "--file", "y"), 2)
    one_sentence(hopline("send", "echo", "--eof", "--no-newline"), 2)
    one_sentence(hopline("send", "echo", "--file", str(tmp_path / "none")), 1)


def test_an_interrupt_is_delivered_under_a_flood_and_stops_nothing() -> None:
    detached("--name", "flood", "--", "sh", "-c", FLOOD)
    wait_for_output("flood", b"up\n")
    told = hopline("interrupt", "flood")
    assert told.returncode == 0
    assert told.stdout.startswith(b"delivered")
    assert shown("flood")["live"]


def test_a_stop_reports_four_facts() -> None:
    detached("--name", "flood", "--", "sh", "-c", FLOOD)
    wait_for_output("flood", b"up\n")
    told = hopline("stop", "flood", "--grace", "0.3")
    assert told.returncode == 0, told.stderr
    facts = dict(line.split(maxsplit=1) for line in told.stdout.decode().splitlines())
    assert facts["stop"] == "accepted"
    assert facts["worker"] == "ended by signal 9 (SIGKILL)"
    assert re.match(r"gone \(.+\)$", facts["descendants"])
    assert facts["run"] == "stopped"
    assert "stopped" in one_sentence(hopline("stop", "flood"), 4)


def test_a_worker_that_leaves_in_its_grace_exits_by_itself() -> None:
    detached("--name", "good", "--", "sh", "-c", "cat; exit 3")
    told = hopline("stop", "good", "--grace", "20")
    assert b"exited with status 3" in told.stdout


def test_a_restart_tells_of_the_old_worker_and_the_new() -> None:
    detached("--name", "again", "--", "sh", "-c", "echo generation $HOPLINE_GENERATION; cat; exit 4")
    wait_for_output("again", b"generation 1\n")
    told = hopline("restart", "again", "--grace", "20")
    assert told.returncode == 0, told.stderr
    assert b"exited with status 4" in told.stdout
    assert b"(generation 2)" in told.stdout
    wait_for_output("again", b"generation 2\n")
    assert shown("again")["worker"]["generation"] == 2
    assert hopline("stop", "again").returncode == 0


def test_a_run_is_found_by_id_prefix_name_and_last() -> None:
    first = detached("--name", "one", "--", "true")
    second = detached("--name", "two", "--", "true")
    wait_until_over("two")
    wait_until_over("one")
    for run, record in ((first["id"], first), (first["id"][:8], first), ("one", first), ("@last", second)):
        assert shown(run)["instance"]["id"] == record["id"]


def test_logs_begin_where_they_are_told_to() -> None:
    hopline("run", "--name", "n", "--", "sh", "-c", "seq 1 100; echo err >&2")
    assert hopline("logs", "n", "--tail", "2", "--stream", "stdout").stdout == b"99\n100\n"
    both = hopline("logs", "n")
    assert both.stdout.endswith(b"99\n100\n")
    assert both.stderr == b"err\n"
    assert hopline("logs", "n", "--raw", "--stream", "stderr").stdout == b"err\n"
    assert hopline("logs", "n", "--tail", "0").stdout == b""
    lines = hopline("logs", "n", "--json").stdout.splitlines()
    assert hopline("logs", "n", "--json", "--tail", "3").stdout.splitlines() == lines[-3:]
    assert hopline("logs", "n", "--json", "--after", "4").stdout.splitlines() == lines[4:]
    assert hopline("logs", "n", "--json", "--after", "4000").stdout == b""


def test_following_ends_with_the_run() -> None:
    detached("--name", "f", "--", "sh", "-c", "echo a; sleep 0.5; echo b")
    assert hopline("logs", "f", "-f", "--raw").stdout == b"a\nb\n"


def test_attaching_to_an_ended_run_replays_it_and_gives_its_status() -> None:
    hopline("run", "--name", "over", "--", "sh", "-c", "seq 1 50; exit 9")
    whole = hopline("attach", "over", "--plain")
    assert whole.returncode == 9
    assert whole.stdout.splitlines()[-1] == b"50"
    tail = hopline("attach", "over", "--plain", "--tail", "10")
    assert tail.returncode == 9
    assert tail.stdout == b"".join(b"%d\n" % number for number in range(41, 51))


def test_listings_tell_live_and_ended_runs_apart() -> None:
    hopline("run", "--name", "ended", "--", "sh", "-c", "exit 3")
    live = detached("--name", "live", "--", "sleep", "60")
    text = hopline("ls").stdout.decode()
    assert re.search(r"ended +failed \(3\)", text)
    assert re.search(rf"{live['id']} +live +running", text)
    told = json.loads(hopline("ls", "--json").stdout)
    assert told["version"] == 1
    assert [record["status"] for record in told["instances"]] == ["failed", "running"]
    assert told["unverified"] == []


def test_a_server_that_does_not_answer_is_told_to_end_by_signal() -> None:
    record = detached("--name", "frozen", "--", "sleep", "60")
    os.kill(record["pid"], signal.SIGSTOP)
    with subprocess.Popen([HOPLINE, "stop", "frozen"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as stopping:
        assert stopping.stdout is not None
        assert b"does not answer; it was sent SIGTERM" in stopping.stdout.readline()
        os.kill(record["pid"], signal.SIGCONT)
        told, complaints = stopping.communicate(timeout=30)
        assert (stopping.returncode, complaints) == (0, b"")
    assert told.startswith(b"server       left\n")
    after = shown("frozen")
    assert (after["ended"], after["live"]) == ("run_interrupted", False)


def test_interrupting_takes_less_than_a_fifth_of_a_second() -> None:
    detached("--name", "quick", "--", "sh", "-c", 'trap "" INT; echo up; while :; do sleep 1; done')
    wait_for_output("quick", b"up\n")
    took = []
    for _ in range(5):
        begun = time.monotonic()
        assert hopline("interrupt", "quick").returncode == 0
        took.append(time.monotonic() - begun)
    assert min(took) < 0.2, took
    assert shown("quick")["worker"]["signal"] is None
