"""The relay's edge cases as often as the reference asks."""

import os
import signal
import time

import pytest
from relay_rig import RELAYS, RelayProcess, assert_orderly, frame, kinds, process_state, stream, until, worker

OURS = RELAYS["hopline"]


@pytest.mark.timeout(1200)
def test_one_write_and_an_exit_never_lose_a_byte_in_2000_lives() -> None:
    """WW-DRAIN-AVAILABLE"""
    for _ in range(2000):
        with RelayProcess([*OURS, "--no-sideband"], ["/bin/sh", "-c", "printf x; exit 3"]) as process:
            events = process.finish()
            assert_orderly(events)
            assert stream(events, "stdout") == b"x"
            assert events[-1] == {"kind": "worker_exited", "code": 3}


@pytest.mark.timeout(1200)
def test_worker_started_comes_first_in_500_lives() -> None:
    """WW-STARTED-FIRST"""
    for _ in range(500):
        with RelayProcess(OURS, ["sh", "-c", "echo out; echo err >&2"]) as process:
            assert_orderly(process.finish())


@pytest.mark.timeout(1200)
def test_signals_that_race_an_exit_1000_times_find_a_pinned_process() -> None:
    """WW-EXIT-UNREAPED"""
    for number in range(1000):
        with RelayProcess([*OURS, "--no-sideband"], ["sh", "-c", "read x; exit 5"]) as process:
            pid = process.wait_for("worker_started")["pid"]
            process.send(frame("stdin", data="\n"))
            time.sleep(number % 50 * 0.0001)
            process.send(frame("interrupt", request_id=number), frame("shutdown", grace_millis=number % 3))
            events = process.finish()
            assert_orderly(events)
            assert "fatal" not in kinds(events)
            assert all("error" not in event for event in events)
            assert process_state(pid) == ""


@pytest.mark.timeout(1200)
def test_frames_of_three_floods_of_50_mb_never_interleave() -> None:
    """WW-ONE-WRITER WW-READERS-WAIT"""
    code = """
import threading
def flood(fd, byte):
    for _ in range(400): write(fd, byte * 50_000)
floods = [threading.Thread(target=flood, args=(1, b"o")), threading.Thread(target=flood, args=(2, b"\\xff"))]
for thread in floods: thread.start()
for number in range(5000): put({"kind": "console_output", "data": "%d " % number + "s" * 2000})
for thread in floods: thread.join()
"""
    with RelayProcess(OURS, worker(code), reading=False) as process:
        process.first_event()
        time.sleep(0.5)
        process.read_on()
        events = process.finish()
        assert_orderly(events)
        assert stream(events, "stdout") == b"o" * 20_000_000
        assert stream(events, "stderr") == b"\xff" * 20_000_000
        numbers = [int(event["data"].split()[0]) for event in events if event["kind"] == "console_output"]
        assert numbers == list(range(5000))


@pytest.mark.timeout(1200)
def test_random_stops_of_the_relay_never_lose_what_was_written() -> None:
    """WW-DRAIN-AVAILABLE: whenever the relay was not scheduled."""
    code = "write(1, b'x' * 50_000)\nwrite(2, b'y' * 50_000)\nput({'kind': 'completed'})\nos._exit(1)"
    for number in range(200):
        with RelayProcess(OURS, worker(code)) as process:
            time.sleep(number % 40 * 0.001)
            os.kill(process.process.pid, signal.SIGSTOP)
            until(lambda: process_state(process.process.pid) in "TZ")
            time.sleep(0.25)
            os.kill(process.process.pid, signal.SIGCONT)
            events = process.finish()
            assert_orderly(events)
            assert stream(events, "stdout") == b"x" * 50_000
            assert stream(events, "stderr") == b"y" * 50_000
            assert "completed" in kinds(events)
