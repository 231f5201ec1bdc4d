"""The worker's life under a real relay: launch, signals, exit, hostile surroundings. Edges 12, 15, 16, 18 and 20."""

import fcntl
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from relay_rig import (
    RELAYS,
    RelayProcess,
    assert_orderly,
    await_gate,
    fifo,
    frame,
    kinds,
    process_state,
    stream,
    until,
    worker,
)

OURS = RELAYS["hopline"]
both = pytest.mark.parametrize("relay", RELAYS.values(), ids=RELAYS.keys())


@both
def test_edge_12_an_exit_before_ready_is_an_outcome_and_no_failure(relay: list[str]) -> None:
    """WW-REAL-OUTCOME"""
    with RelayProcess(relay, worker("os._exit(4)")) as process:
        events = process.finish()
        assert kinds(events) == [
            "worker_started",
            "stdout_closed",
            "stderr_closed",
            "worker_sideband_closed",
            "worker_exited",
        ]
        assert events[-1]["code"] == 4
        assert (process.status, process.diagnostics()) == (0, "")


def program(folder: Path, name: str) -> str:
    """A program that cannot be started, for one reason or another."""
    path = folder / "program"
    match name:
        case "missing":
            pass
        case "a folder":
            path.mkdir()
        case "not executable":
            path.write_text("#!/bin/sh\n")
        case "an interpreter that is missing":
            path.write_text("#!/nowhere/sh\n")
            path.chmod(0o755)
    return str(path)


@both
@pytest.mark.parametrize("name", ["missing", "a folder", "not executable", "an interpreter that is missing"])
def test_edge_12_a_program_that_cannot_be_started_is_one_fatal(relay: list[str], name: str, tmp_path: Path) -> None:
    """WW-LAUNCH-FATAL"""
    with RelayProcess(relay, [program(tmp_path, name)]) as process:
        events = process.finish()
        assert kinds(events) == ["fatal"]
        assert process.status == 1
        assert events[0]["message"] in process.diagnostics()


def test_edge_12_a_program_that_is_no_program_is_one_fatal_with_its_reason(tmp_path: Path) -> None:
    """WW-LAUNCH-FATAL"""
    path = tmp_path / "program"
    path.write_text("neither a program nor a script")
    path.chmod(0o755)
    with RelayProcess(OURS, [str(path)]) as process:
        (event,) = process.finish()
        assert "#!" in event["message"]
        assert str(path) in event["message"]


def test_a_relay_without_descriptors_left_says_so(tmp_path: Path) -> None:
    """WW-LAUNCH-FATAL"""
    limited = ["sh", "-c", 'ulimit -n 8; exec "$@"', "sh", *OURS]
    with RelayProcess(limited, ["true"]) as process:
        (event,) = process.finish()
        assert "open files" in event["message"]


@pytest.mark.parametrize(
    "arguments",
    [[], ["--"], ["--nonsense", "true"], ["--no-sideband"], ["--descriptors=3", "true"], ["--descriptors", "true"]],
)
def test_wrong_arguments_are_one_sentence_and_status_2(arguments: list[str]) -> None:
    done = subprocess.run([*OURS, *arguments], input=b"", capture_output=True, check=False, timeout=30)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"hopline worker-relay: ")
    assert done.stderr.count(b"\n") == 1


def test_the_worker_has_as_many_descriptors_as_the_relay_is_told() -> None:
    with RelayProcess([*OURS, "--no-sideband", "--descriptors=256"], ["sh", "-c", "ulimit -Sn"]) as process:
        assert stream(process.finish(), "stdout") == b"256\n"


def test_what_follows_two_dashes_is_the_program_and_its_arguments() -> None:
    with RelayProcess([*OURS, "--no-sideband", "--"], ["printf", "%s", "--patient"]) as process:
        assert stream(process.finish(), "stdout") == b"--patient"


@both
def test_edge_15_an_interrupt_reaches_the_direct_worker_alone(relay: list[str]) -> None:
    """WW-INTERRUPT"""
    code = """
child = os.fork()
if child == 0:
    signal.pause()
got = []
signal.signal(signal.SIGINT, lambda *_: got.append(1))
put({"kind": "ready"})
while len(got) < 2: time.sleep(0.005)
os.kill(child, signal.SIGTERM)
say("child ended by %d" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
line(r)
"""
    with RelayProcess(relay, worker(code)) as process:
        process.wait_for("ready")
        process.send(frame("interrupt", request_id=9))
        assert process.wait_for("interrupt_result") == {"kind": "interrupt_result", "request_id": 9}
        time.sleep(0.05)  # two equal signals that are both pending are one
        process.send(frame("interrupt", request_id=9))
        assert process.wait_for("interrupt_result", 2) == {"kind": "interrupt_result", "request_id": 9}
        assert process.wait_for("stdout")["data"] == "child ended by -15"


@both
def test_edge_15_before_ready_an_interrupt_ends_a_worker_that_does_not_handle_it(relay: list[str]) -> None:
    """WW-INTERRUPT WW-REAL-OUTCOME"""
    with RelayProcess(relay, ["sleep", "600"]) as process:
        process.wait_for("worker_started")
        process.send(frame("interrupt", request_id=0))
        events = process.finish()
        assert kinds(events)[1] == "interrupt_result"
        assert "error" not in events[1]
        assert events[-1] == {"kind": "worker_signaled", "signal": 2}


@both
def test_edge_15_a_worker_that_ignores_interrupts_is_still_a_success(relay: list[str]) -> None:
    """WW-INTERRUPT"""
    code = 'signal.signal(signal.SIGINT, signal.SIG_IGN)\nput({"kind":"ready"})\nline(r)'
    with RelayProcess(relay, worker(code)) as process:
        process.wait_for("ready")
        process.send(frame("interrupt", request_id=1))
        assert "error" not in process.wait_for("interrupt_result")


def race(rounds: int) -> None:
    """Interrupt and shut down workers that are just ending: no zombie, nothing said of a missing process."""
    for number in range(rounds):
        with RelayProcess([*OURS, "--no-sideband"], ["sh", "-c", "read x; exit 5"]) as process:
            pid = process.wait_for("worker_started")["pid"]
            process.send(frame("stdin", data="\n"))
            time.sleep(number % 10 * 0.0003)
            process.send(frame("interrupt", request_id=number), frame("shutdown", grace_millis=0))
            events = process.finish()
            assert_orderly(events)
            assert "fatal" not in kinds(events)
            assert all("error" not in event for event in events)
            assert process.status == 0
            assert process_state(pid) == ""


def test_edge_16_signals_that_race_an_exit_find_a_pinned_process() -> None:
    """WW-EXIT-UNREAPED; 1,000 times in tests/soak."""
    race(40)


def test_edge_18_a_payload_free_command_with_a_payload_is_fatal() -> None:
    """WW-STRICT; the whole table is in tests/unit and tests/conformance."""
    with RelayProcess(OURS, worker('put({"kind":"ready"})\nline(r)')) as process:
        process.wait_for("ready")
        process.send(b'{"kind":"stdin_close","data":""}\n')
        assert "fatal" in kinds(process.finish())


def test_edge_20_tiny_pipes_and_a_storm_of_signals_lose_nothing() -> None:
    """WW-READERS-WAIT"""
    code = """
import fcntl
for fd in (0, 1): fcntl.fcntl(fd, 1031, 4096)
while data := os.read(0, 1 << 16): write(1, data)
"""
    sent = os.urandom(300_000)
    with RelayProcess([*OURS, "--no-sideband"], worker(code)) as process:
        for pipe in (process.process.stdin, process.process.stdout):
            assert pipe is not None
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, 4096)
        calm = threading.Event()

        def storm() -> None:
            while not calm.wait(0.0005):
                for number in (signal.SIGWINCH, signal.SIGCHLD, signal.SIGURG, signal.SIGCONT, signal.SIGPIPE):
                    process.process.send_signal(number)

        stormy = threading.Thread(target=storm)
        process.wait_for("worker_started")
        stormy.start()
        try:
            import base64

            for at in range(0, len(sent), 30_000):
                process.send(frame("stdin_bytes", data=base64.b64encode(sent[at : at + 30_000]).decode()))
            process.send(frame("stdin_close"))
            process.wait_for_bytes("stdout", len(sent))
        finally:
            calm.set()
            stormy.join()
        events = process.finish()
        assert stream(events, "stdout") == sent
        assert_orderly(events)


@both
def test_edge_20_input_for_a_worker_that_closed_it_is_one_fatal_with_the_real_outcome(relay: list[str]) -> None:
    """WW-STDIN-RECEIPT WW-REAL-OUTCOME"""
    with RelayProcess(relay, worker('os.close(0)\nput({"kind":"ready"})\ntime.sleep(600)')) as process:
        process.wait_for("ready")
        process.send(frame("stdin", data="x"))
        events = process.finish()
        assert kinds(events).count("fatal") == 1
        assert events[-1] == {"kind": "worker_signaled", "signal": 9}


def test_edge_20_a_consumer_that_closes_its_end_ends_the_relay_and_the_worker() -> None:
    """WW-CONSUMER-GONE"""
    with RelayProcess(OURS, ["sleep", "600"], reading=False) as process:
        pid = process.first_event()["pid"]
        assert process.process.stdout is not None
        process.process.stdout.close()
        assert process.process.wait(30) == 1
        assert process_state(pid) == ""
        assert "closed its end" in process.diagnostics()


@both
def test_edge_20_a_consumer_that_closes_under_a_flood_ends_the_relay_and_the_worker(relay: list[str]) -> None:
    """WW-CONSUMER-GONE"""
    with RelayProcess(relay, ["yes"], reading=False) as process:
        pid = process.first_event()["pid"]
        assert process.process.stdout is not None
        process.process.stdout.close()
        assert process.process.wait(30) != 0
        until(lambda: process_state(pid) == "")


def test_a_worker_starts_with_default_signals_and_nothing_but_its_own_descriptors() -> None:
    """WW-CLEAN-START"""
    code = """
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
here = {int(name) for name in os.listdir("/proc/self/fd")} - {3}
say(json.dumps([int(status[name], 16) for name in ("SigIgn", "SigBlk", "SigCgt")] + [sorted(here), os.getcwd()]))
"""
    hostile = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1): signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGUSR2})
os.execvp(sys.argv[1], sys.argv[1:])
"""
    with RelayProcess([sys.executable, "-c", hostile, *OURS], worker(code)) as process:
        ignored, blocked, caught, descriptors, _ = json.loads(stream(process.finish(), "stdout"))
        of_python = {signal.SIGPIPE, signal.SIGXFSZ}
        of_the_c_library = {32, 33}  # reserved for it; posix_spawn leaves them ignored
        assert {number for number in range(1, 65) if ignored >> (number - 1) & 1} == of_python | of_the_c_library
        assert blocked == 0
        assert caught == 1 << (signal.SIGINT - 1)
        assert descriptors[:3] == [0, 1, 2]
        assert len(descriptors) == 5


def test_a_pipe_in_the_worker_ends_as_in_a_shell() -> None:
    """WW-CLEAN-START: Python ignores SIGPIPE, and its children would too."""
    with RelayProcess([*OURS, "--no-sideband"], ["bash", "-c", "yes | head -1; echo ${PIPESTATUS[0]}"]) as process:
        assert stream(process.finish(), "stdout") == b"y\n141\n"


def test_without_a_sideband_the_worker_gets_no_descriptors_and_no_variables() -> None:
    """WW-NO-SIDEBAND WW-CLEAN-START"""
    code = "os.set_inheritable(0, True)\nsay(repr([r, w, sorted(os.listdir('/proc/self/fd'))]))"
    environment = os.environ | {"HOPLINE_SIDEBAND_READ_FD": "7", "HOPLINE_SIDEBAND_WRITE_FD": "8", "KEPT": "1"}
    with RelayProcess([*OURS, "--no-sideband"], worker(code), environment=environment) as process:
        assert stream(process.finish(), "stdout") == b"[None, None, ['0', '1', '2', '3']]"


def test_a_worker_that_closes_all_descriptors_lives_on_without_a_sideband() -> None:
    """WW-NO-SIDEBAND"""
    code = "os.closerange(3, 1000)\ntime.sleep(1.3)\nsay('alive')"
    with RelayProcess([*OURS, "--no-sideband"], worker(code)) as process:
        events = process.finish()
        assert stream(events, "stdout") == b"alive"
        assert events[-1]["code"] == 0


def test_the_worker_runs_in_the_relays_folder_environment_and_group(tmp_path: Path) -> None:
    """WW-CLEAN-START"""
    code = "say(json.dumps([os.getcwd(), os.environ['MARK'], os.getpgrp() == os.getpgid(os.getppid())]))"
    with RelayProcess(OURS, worker(code), environment=os.environ | {"MARK": "here"}, cwd=tmp_path) as process:
        assert json.loads(stream(process.finish(), "stdout")) == [str(tmp_path), "here", True]


def test_closed_standard_descriptors_do_not_confuse_the_relay() -> None:
    """WW-CLEAN-START: none of its pipes takes their numbers."""
    careless = ["sh", "-c", 'exec "$@" <&- 2>&-', "sh", *OURS]
    with RelayProcess(careless, worker('while line(0): pass\nsay("ended")\nwrite(2, "err")')) as process:
        events = process.finish()
        assert_orderly(events)
        assert stream(events, "stdout") == b"ended"
        assert stream(events, "stderr") == b"err"


def test_one_socket_may_carry_both_directions() -> None:
    """WW-NONBLOCK-RESTORED"""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        relay = subprocess.Popen([*OURS, *worker("write(1, b'x' * 1_000_000)\nline(r)")], stdin=theirs, stdout=theirs)
        lines = ours.makefile("rb")
        seen = 0
        while seen < 1_000_000:
            seen += json.loads(lines.readline()).get("data", "").count("x")
        ours.sendall(frame("shutdown", grace_millis=20_000))
        rest = [json.loads(lines.readline())["kind"] for _ in range(5)]
        assert rest[-1] == "worker_exited"
        assert relay.wait(30) == 0
        assert theirs.getblocking()
        lines.close()


def test_a_terminal_may_be_the_consumer() -> None:
    """WW-NONBLOCK-RESTORED"""
    shown = subprocess.run(
        ["script", "-qec", " ".join([*OURS, "--no-sideband", "echo", "hello"]), "/dev/null"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=30,
    )
    assert b'{"kind":"stdout","data":"hello\\n"}' in shown.stdout


def test_interrupts_are_answered_quickly_under_a_flood(tmp_path: Path) -> None:
    """WW-INTERRUPT: each reaches the worker although nobody reads the events."""
    told = fifo(tmp_path, "told")
    code = f"signal.signal(signal.SIGINT, lambda *_: tell({str(told)!r}))\nwhile True: write(1, b'flood' * 10_000)"
    with RelayProcess(OURS, worker(code), reading=False) as process:
        process.first_event()
        time.sleep(0.2)
        took = []
        for number in range(10):
            begun = time.monotonic()
            process.send(frame("interrupt", request_id=number))
            await_gate(told)
            took.append(time.monotonic() - begun)
        assert sorted(took)[5] < 0.25


@pytest.mark.parametrize(("option", "leads"), [([], False), (["--own-group"], True)])
def test_the_worker_leads_a_process_group_only_when_that_is_asked_for(option: list[str], leads: bool) -> None:
    """WW-OWN-GROUP"""
    with RelayProcess([*OURS, "--no-sideband", *option], worker("say(str(os.getpgrp() == os.getpid()))")) as process:
        events = process.finish()
        assert stream(events, "stdout") == str(leads).encode()
        assert process.status == 0


def test_an_interrupt_reaches_the_direct_worker_alone_also_in_a_group_of_its_own() -> None:
    """WW-OWN-GROUP"""
    code = "trap 'echo child got it' INT; echo up; sleep 0.2 & wait; wait; echo child over"
    parent = f"trap 'echo got it' INT; bash -c {shlex.quote(code)} & wait; wait"
    with RelayProcess([*OURS, "--no-sideband", "--own-group"], ["bash", "-c", parent]) as process:
        process.wait_for_bytes("stdout", 3)
        process.send(frame("interrupt", request_id=1))
        events = process.finish()
        assert sorted(stream(events, "stdout").split(b"\n")) == [b"", b"child over", b"got it", b"up"]
