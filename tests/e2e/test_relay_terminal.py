"""A worker on a terminal of its own, under a real relay."""

import base64
import hashlib
import random
import sys

import pytest
from relay_rig import RELAYS, RelayProcess, assert_orderly, frame, kinds, stream

RELAY = [*RELAYS["hopline"], "--no-sideband", "--patient", "--own-group"]
PTY = [*RELAY, "--pty"]


def shell(code: str, *relay: str) -> RelayProcess:
    """A bash script on a terminal."""
    return RelayProcess([*RELAY, *(relay or ("--pty",))], ["bash", "-c", code])


def test_the_worker_leads_a_session_on_one_terminal_that_is_its_own() -> None:
    """WW-TERMINAL"""
    code = """
import os
names = {os.ttyname(fd) for fd in (0, 1, 2)}
opened = os.open("/dev/tty", os.O_RDWR)
same = os.getsid(0) == os.getpgrp() == os.getpid() == os.tcgetpgrp(opened)
print(len(names), same, *os.get_terminal_size(2), sorted(map(int, os.listdir("/proc/self/fd"))))
os.write(2, b"to stderr\\n")
"""
    with RelayProcess([*RELAY, "--pty=100x30"], [sys.executable, "-S", "-E", "-c", code]) as process:
        events = process.finish()
        assert stream(events, "stdout") == b"1 True 100 30 [0, 1, 2, 3, 4]\r\nto stderr\r\n"
        assert stream(events, "stderr") == b""
        assert_orderly(events)
        assert kinds(events)[-4:] == ["stdout_closed", "stderr_closed", "worker_sideband_closed", "worker_exited"]
        assert process.status == 0


@pytest.mark.parametrize("size", ["0x24", "80x0", "80", "x", "", "80x65536", "-1x5", "80x24x", "٣x٣"])
def test_a_size_that_no_terminal_has_is_a_wrong_argument(size: str) -> None:
    with RelayProcess([*RELAY, f"--pty={size}"], ["true"]) as process:
        assert process.finish() == []
        assert process.status == 2
        assert "is no size" in process.diagnostics()


def test_a_program_that_cannot_be_started_on_a_terminal_is_one_fatal() -> None:
    """WW-LAUNCH-FATAL"""
    with RelayProcess(PTY, ["/nowhere/program"]) as process:
        assert kinds(process.finish()) == ["fatal"]
        assert process.status == 1


def test_a_new_size_is_told_by_the_system_and_seen_by_the_worker() -> None:
    """WW-TERMINAL"""
    with shell("trap 'stty size; exit 3' WINCH; echo up; while :; do sleep 0.05; done") as process:
        process.wait_for_bytes("stdout", 4)
        process.send(frame("resize", columns=61, rows=19))
        events = process.finish()
        assert stream(events, "stdout") == b"up\r\n19 61\r\n"
        assert events[-1] == {"kind": "worker_exited", "code": 3}


@pytest.mark.parametrize(("typed", "told"), [("abc", b"abcabc"), ("abc\n", b"abc\r\nabc\r\n"), ("", b"")])
def test_the_end_of_input_ends_a_reader_of_lines_and_nothing_more(typed: str, told: bytes) -> None:
    """WW-TERMINAL"""
    with shell("cat; printf :; cat; exit 4") as process:
        process.send(frame("stdin", data=typed, request_id=1), frame("stdin_close"))
        process.wait_for_bytes("stdout", len(told) + 1)
        process.send(frame("stdin", data="x\n", request_id=2), frame("stdin_close"))
        events = process.finish()
        assert stream(events, "stdout") == told + b":x\r\nx\r\n"
        assert [event for event in events if event["kind"] == "stdin_result"] == [
            {"kind": "stdin_result", "request_id": 1},
            {"kind": "stdin_result", "request_id": 2},
        ]
        assert events[-1]["code"] == 4


def test_the_end_of_input_is_one_ctrl_d_for_a_program_that_reads_keys() -> None:
    """WW-TERMINAL"""
    with shell("stty raw -echo; printf up; head -c 4 | od -An -tx1") as process:
        process.wait_for_bytes("stdout", 2)
        process.send(frame("stdin", data="a"), frame("stdin_close"), frame("stdin", data="bc"))
        assert stream(process.finish(), "stdout") == b"up 61 04 62 63\n"


def test_a_ctrl_c_byte_reaches_the_foreground_group_and_an_interrupt_the_direct_worker_alone() -> None:
    """WW-TERMINAL WW-INTERRUPT"""
    child = "trap 'echo child' INT; echo up; sleep 0.2 & wait; wait"
    with shell(f"trap 'echo parent' INT; bash -c \"{child}\" & wait; wait; echo over") as process:
        process.wait_for_bytes("stdout", 4)
        process.send(frame("interrupt", request_id=1))
        assert stream(process.finish(), "stdout").split() == [b"up", b"parent", b"over"]
    with shell(f"trap 'echo parent' INT; bash -c \"{child}\"; echo over") as process:
        process.wait_for_bytes("stdout", 4)
        process.send(frame("stdin", data="\x03"))
        assert sorted(stream(process.finish(), "stdout").split()) == [b"^Cchild", b"over", b"parent", b"up"]


def test_retirement_hangs_up_and_what_is_said_meanwhile_is_delivered() -> None:
    """WW-TELL-WORKER WW-TERMINAL"""
    with shell("trap 'echo saved; exit 7' HUP; echo up; while :; do sleep 0.05; done") as process:
        process.wait_for_bytes("stdout", 4)
        process.send(frame("shutdown", grace_millis=20_000))
        events = process.finish()
        assert stream(events, "stdout") == b"up\r\nsaved\r\n"
        assert events[-1] == {"kind": "worker_exited", "code": 7}


def test_a_worker_that_ignores_the_hang_up_is_killed_at_the_deadline() -> None:
    with shell("trap '' HUP; echo up; while :; do sleep 0.05; done") as process:
        process.wait_for_bytes("stdout", 4)
        process.send(frame("shutdown", grace_millis=100))
        assert process.finish()[-1] == {"kind": "worker_signaled", "signal": 9}


def test_a_worker_that_closes_its_terminal_lives_on_without_output() -> None:
    with shell("echo up; exec <&- >&- 2>&-; sleep 0.2; exit 5") as process:
        events = process.finish()
        assert (stream(events, "stdout"), events[-1]["code"]) == (b"up\r\n", 5)
        assert process.status == 0


def test_nothing_written_before_the_exit_is_lost_also_when_a_descendant_keeps_the_terminal() -> None:
    """WW-DRAIN-AVAILABLE WW-TERMINAL"""
    for tail in ("", "sleep 9 & "):
        with RelayProcess(
            PTY, ["bash", "-c", f"stty -opost; {tail}printf '%06000d' 7; exit 1"], reading=False
        ) as process:
            process.first_event()
            process.read_on()
            events = process.finish()
            assert stream(events, "stdout") == b"7".rjust(6000, b"0")
            assert events[-1]["code"] == 1


def test_fifty_megabytes_cross_a_terminal_unchanged() -> None:
    """WW-CHUNKS WW-TERMINAL"""
    code = "stty raw -echo; head -c 50000000 /dev/zero | openssl enc -aes-128-ctr -K 00 -iv 00 2>/dev/null"
    with RelayProcess(RELAY, ["bash", "-c", code.removeprefix("stty raw -echo; ")]) as process:
        piped = stream(process.finish(), "stdout")
    with shell(code) as process:
        drawn = stream(process.finish(), "stdout")
    assert len(piped) == 50_000_000
    assert hashlib.sha256(drawn).digest() == hashlib.sha256(piped).digest()


def test_what_is_typed_faster_than_it_is_read_waits_and_arrives_whole() -> None:
    """WW-STDIN-STREAM"""
    typed = random.Random(1).randbytes(3_000_000)
    with shell(f"stty raw -echo; printf up; head -c {len(typed)}") as process:
        process.wait_for_bytes("stdout", 2)
        for at in range(0, len(typed), 100_000):
            process.send(frame("stdin_bytes", data=base64.b64encode(typed[at : at + 100_000]).decode()))
        assert stream(process.finish(), "stdout") == b"up" + typed


def test_a_flood_of_lines_is_whole() -> None:
    with shell("seq 200000") as process:
        assert stream(process.finish(), "stdout") == b"".join(b"%d\r\n" % number for number in range(1, 200_001))
