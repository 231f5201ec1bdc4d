"""Raw output through a real relay: every byte, in order, whoever reads how late. Edges 1, 2, 7, 8, 13 and 14."""

import os
import signal
import subprocess
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
    open_gate,
    process_state,
    stream,
    until,
    worker,
)

OURS = RELAYS["hopline"]
both = pytest.mark.parametrize("relay", RELAYS.values(), ids=RELAYS.keys())


@both
def test_edge_01_a_scalar_over_a_chunk_edge_keeps_its_bytes(relay: list[str], tmp_path: Path) -> None:
    """WW-CHUNKS"""
    gate = fifo(tmp_path, "gate")
    code = f"""
write(1, b"a" * 8191 + "étail".encode())
write(2, b"\\xf0\\x9f")
gate({str(gate)!r})
write(2, b"\\x98\\x80")
line(r)
"""
    with RelayProcess(relay, worker(code)) as process:
        process.wait_for("stderr_bytes")
        open_gate(gate)
        process.wait_for_bytes("stdout", 8197)
        process.wait_for_bytes("stderr", 4)
        process.send(frame("shutdown", grace_millis=20_000))
        events = process.finish()
        assert stream(events, "stdout") == b"a" * 8191 + "étail".encode()
        assert stream(events, "stderr") == "😀".encode()
        assert_orderly(events)


def test_edge_02_frames_of_three_floods_never_interleave() -> None:
    """WW-ONE-WRITER WW-READERS-WAIT"""
    size, frames = 4_000_000, 1500
    code = f"""
import threading
def flood(fd, byte):
    for _ in range({size} // 50_000):
        write(fd, byte * 50_000)
floods = [threading.Thread(target=flood, args=(1, b"o")), threading.Thread(target=flood, args=(2, b"\\xff"))]
for thread in floods: thread.start()
for number in range({frames}):
    put({{"kind": "console_output", "data": "%d " % number + "s" * 2000}})
for thread in floods: thread.join()
"""
    with RelayProcess(OURS, worker(code), reading=False) as process:
        process.first_event()
        time.sleep(0.2)
        process.read_on()
        events = process.finish()
        assert process.tail == b""
        assert_orderly(events)
        assert stream(events, "stdout") == b"o" * size
        assert stream(events, "stderr") == b"\xff" * size
        numbers = [int(event["data"].split()[0]) for event in events if event["kind"] == "console_output"]
        assert numbers == list(range(frames))


@both
def test_edge_07_a_consumer_that_comes_late_gets_everything(relay: list[str]) -> None:
    """WW-READERS-WAIT"""
    block = bytes(range(256)) * 256
    code = "block = bytes(range(256)) * 256\nfor n in range(320): write(1, n.to_bytes(4, 'big') + block)\nline(r)"
    with RelayProcess(relay, worker(code), reading=False) as process:
        process.first_event()
        time.sleep(0.3)
        process.read_on()
        process.wait_for_bytes("stdout", 320 * (len(block) + 4))
        process.send(frame("shutdown", grace_millis=20_000))
        events = process.finish()
        assert stream(events, "stdout") == b"".join(n.to_bytes(4, "big") + block for n in range(320))
        assert process.status == 0


@both
def test_edge_08_frames_larger_than_the_queue_pass_whole(relay: list[str]) -> None:
    """WW-OVERSIZED-ALONE"""
    code = """
for letter in "abc": put({"kind": "console_output", "data": letter * 9_000_000})
put({"kind": "completed"})
line(r)
"""
    with RelayProcess(relay, worker(code)) as process:
        process.wait_for("completed")
        process.send(frame("shutdown", grace_millis=20_000))
        events = process.finish()
        assert_orderly(events)
        data = [event["data"] for event in events if event["kind"] == "console_output"]
        assert [text[:1] * len(text) == text and (text[0], len(text)) for text in data] == [
            ("a", 9_000_000),
            ("b", 9_000_000),
            ("c", 9_000_000),
        ]
        assert kinds(events)[4] == "completed"


def test_edge_13_worker_started_comes_first_when_the_worker_writes_at_once() -> None:
    """WW-STARTED-FIRST"""
    for _ in range(20):
        with RelayProcess(OURS, ["sh", "-c", "echo out; echo err >&2"]) as process:
            events = process.finish()
            assert_orderly(events)
            assert (stream(events, "stdout"), stream(events, "stderr")) == (b"out\n", b"err\n")


def test_edge_14_the_tail_is_delivered_before_the_closures() -> None:
    """WW-DRAIN-AVAILABLE WW-TERMINAL-ORDER"""
    code = """
for number in range(1024): put({"kind": "console_output", "data": str(number)})
write(1, b"x" * 1_000_000)
write(2, b"y" * 1_000_000)
os._exit(0)
"""
    with RelayProcess(OURS, worker(code)) as process:
        events = process.finish()
        assert_orderly(events)
        assert [event["data"] for event in events if event["kind"] == "console_output"] == list(map(str, range(1024)))
        assert stream(events, "stdout") == b"x" * 1_000_000
        assert stream(events, "stderr") == b"y" * 1_000_000


def test_one_write_and_an_exit_never_lose_a_byte() -> None:
    """WW-DRAIN-AVAILABLE; 2,000 times in tests/soak."""
    for _ in range(40):
        with RelayProcess([*OURS, "--no-sideband"], ["/bin/sh", "-c", "printf x; exit 3"]) as process:
            events = process.finish()
            assert stream(events, "stdout") == b"x"
            assert events[-1] == {"kind": "worker_exited", "code": 3}


def test_output_is_kept_when_the_relay_was_not_scheduled_around_the_exit(tmp_path: Path) -> None:
    """WW-DRAIN-AVAILABLE: the clock alone never ends a drain."""
    ready, gate = fifo(tmp_path, "ready"), fifo(tmp_path, "gate")
    code = f"""
tell({str(ready)!r})
gate({str(gate)!r})
write(1, b"x" * 60_000)
write(2, b"y" * 60_000)
put({{"kind": "completed"}})
"""
    with RelayProcess(OURS, worker(code)) as process:
        await_gate(ready)
        pid = process.wait_for("worker_started")["pid"]
        os.kill(process.process.pid, signal.SIGSTOP)
        open_gate(gate)
        until(lambda: process_state(pid) == "Z")
        time.sleep(0.4)
        os.kill(process.process.pid, signal.SIGCONT)
        events = process.finish()
        assert stream(events, "stdout") == b"x" * 60_000
        assert stream(events, "stderr") == b"y" * 60_000
        assert "completed" in kinds(events)


def test_raw_output_may_come_on_either_side_of_completed_but_is_never_lost() -> None:
    """WW-READERS-WAIT: nothing is implied between producers."""
    for _ in range(10):
        with RelayProcess(OURS, worker('say("x")\nput({"kind":"completed"})\nline(r)')) as process:
            process.wait_for("completed")
            process.send(frame("shutdown", grace_millis=20_000))
            events = process.finish()
            assert stream(events, "stdout") == b"x"


def test_a_regular_file_takes_the_events_and_keeps_its_flags(tmp_path: Path) -> None:
    """WW-NONBLOCK-RESTORED"""
    path = tmp_path / "events.jsonl"
    with path.open("wb") as file:
        argv = [*OURS, *worker("write(1, b'z' * 3_000_000)\nos._exit(4)")]
        done = subprocess.run(argv, stdin=subprocess.PIPE, stdout=file, check=False, timeout=30)
        assert os.get_blocking(file.fileno())
    assert done.returncode == 0
    lines = path.read_bytes().splitlines()
    assert lines[-1] == b'{"kind":"worker_exited","code":4}'
    assert sum(line.count(b"z") for line in lines) == 3_000_000


@pytest.mark.parametrize("blocking", [True, False])
def test_o_nonblock_of_both_descriptors_is_afterwards_what_it_was(blocking: bool) -> None:
    """WW-NONBLOCK-RESTORED: it is shared by every duplicate of a descriptor."""
    commands_end, commands = os.pipe()
    events, events_end = os.pipe()
    try:
        for fd in (commands_end, events_end):
            os.set_blocking(fd, blocking)
        relay = subprocess.Popen([*OURS, "true"], stdin=commands_end, stdout=events_end)
        assert os.read(events, 15) == b'{"kind":"worker'
        assert relay.wait(30) == 0
        assert os.get_blocking(commands_end) == os.get_blocking(events_end) == blocking
    finally:
        for fd in (commands_end, commands, events, events_end):
            os.close(fd)


def test_the_relay_stays_small_under_a_flood() -> None:
    """WW-READERS-WAIT"""
    with RelayProcess(OURS, ["sh", "-c", "head -c 30000000 /dev/zero | tr '\\0' e"], reading=False) as process:
        process.first_event()
        time.sleep(0.3)
        blocked = process.resident_bytes()
        process.read_on()
        assert len(stream(process.finish(), "stdout")) == 30_000_000
        assert blocked < 60_000_000
