"""Ends of a generation under a real relay. Edges 3, 4, 5, 6, 9, 10, 11, 17 and 19."""

import os
import signal
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
    until_blocked,
    worker,
)

OURS = RELAYS["hopline"]
both = pytest.mark.parametrize("relay", RELAYS.values(), ids=RELAYS.keys())
LATE_SECONDS = 4.0
"""How much later than its deadline something may come on a busy machine; never how much earlier."""
STUBBORN = 'signal.signal(signal.SIGINT, signal.SIG_IGN)\nput({"kind":"ready"})\ntime.sleep(600)'
FLOOD = 'signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: write(1, b"flood\\n" * 10_000)'


@both
def test_edge_03_the_end_inside_a_command_kills_and_obeys_nothing(relay: list[str]) -> None:
    """WW-NEWLINE WW-FATAL-AT-ONCE"""
    with RelayProcess(relay, worker(STUBBORN)) as process:
        process.wait_for("ready")
        process.send(frame("shutdown", grace_millis=500_000)[:-1])
        events = process.finish(close=True)
        assert kinds(events)[2:] == [
            "stdout_closed",
            "stderr_closed",
            "fatal",
            "worker_sideband_closed",
            "worker_signaled",
        ]
        assert process.status == 0


@both
def test_edge_04_a_shutdown_ends_parsing(relay: list[str]) -> None:
    """WW-SHUTDOWN-ENDS-PARSING"""
    with RelayProcess(relay, worker('put({"kind":"ready"})\nline(r)\nos._exit(2)')) as process:
        process.wait_for("ready")
        process.send(frame("shutdown", grace_millis=20_000) + b'{"broken\n{"kind":"stdin","da')
        events = process.finish(close=True)
        assert kinds(events)[2] == "shutdown_started"
        assert "fatal" not in kinds(events)
        assert events[-1] == {"kind": "worker_exited", "code": 2}


@both
def test_edge_05_a_deadline_is_not_renewed(relay: list[str]) -> None:
    """WW-DEADLINE-FIXED"""
    with RelayProcess(relay, worker(STUBBORN)) as process:
        process.wait_for("ready")
        begun = time.monotonic() - process.started_at
        for _ in range(3):
            process.send(frame("shutdown", grace_millis=600))
            time.sleep(0.1)
        events = process.finish(close=True)
        assert kinds(events).count("shutdown_started") == 1
        assert 0.59 <= process.time_of("worker_signaled") - begun <= 0.6 + LATE_SECONDS


@both
def test_edge_05_a_shutdown_does_not_renew_the_deadline_of_a_sideband_that_ended(relay: list[str]) -> None:
    """WW-DEADLINE-FIXED"""
    code = 'put({"kind":"ready"})\nline(0)\nos.close(w)\nos.close(r)\nsay("closed")\ntime.sleep(600)'
    with RelayProcess(relay, worker(code)) as process:
        process.wait_for("ready")
        process.send(frame("stdin", data="go\n"))
        process.wait_for("stdout")
        begun = process.time_of("stdout")
        process.send(frame("shutdown", grace_millis=500_000))
        events = process.finish()
        assert "shutdown_started" not in kinds(events)
        assert 0.9 <= process.time_of("worker_signaled") - begun <= 1.0 + LATE_SECONDS


def test_edge_06_a_blocked_consumer_stops_neither_interrupt_nor_shutdown(tmp_path: Path) -> None:
    """WW-READERS-WAIT WW-INTERRUPT WW-FLUSH-BOUND"""
    told = fifo(tmp_path, "told")
    code = f"signal.signal(signal.SIGINT, lambda *_: tell({str(told)!r}))\nwhile True: write(1, b'flood' * 10_000)"
    with RelayProcess(OURS, worker(code), reading=False) as process:
        pid = process.first_event()["pid"]
        until_blocked(pid)
        assert process.resident_bytes() < 60_000_000
        process.send(frame("interrupt", request_id=1))
        await_gate(told)
        begun = time.monotonic()
        process.send(frame("shutdown", grace_millis=200))
        assert process.process.wait(30) == 1
        assert 1.19 <= time.monotonic() - begun <= 1.2 + LATE_SECONDS
        assert process_state(pid) == ""
        assert "took nothing" in process.diagnostics()


def test_edge_09_more_interrupts_than_the_allowance_end_the_relay_cleanly() -> None:
    """WW-SUPERVISOR-ALLOWANCE"""
    with RelayProcess(OURS, worker(FLOOD), reading=False) as process:
        pid = process.first_event()["pid"]
        until_blocked(pid)
        process.send(*(frame("interrupt", request_id=number) for number in range(40)))
        until(lambda: process_state(pid) in ("Z", ""))
        process.read_on()
        events = process.finish()
        results = [event["request_id"] for event in events if event["kind"] == "interrupt_result"]
        assert results == list(range(len(results)))
        assert len(results) <= 16
        order = kinds(events)
        if results:
            assert set(order[: order.index("interrupt_result")]) == {"worker_started", "stdout"}
        if process.status == 0:  # we were back within the flush bound
            assert_orderly(events)
            assert len(results) == 16
            assert "fatal" in order


@both
def test_edge_10_a_descendant_with_the_streams_open_delays_nothing(relay: list[str], tmp_path: Path) -> None:
    """WW-DRAIN-AVAILABLE"""
    alive = fifo(tmp_path, "alive")
    code = f"""
if os.fork() == 0:
    os.setsid()
    os.close(r), os.close(w)
    gate({str(alive)!r})
    tell({str(alive)!r})
    os._exit(0)
say("mine")
line(0)
"""
    with RelayProcess(relay, worker(code)) as process:
        process.wait_for("stdout")
        begun = time.monotonic()
        process.send(frame("stdin", data="\n"))
        events = process.finish()
        assert time.monotonic() - begun < LATE_SECONDS
        assert_orderly(events)
        open_gate(alive)
        await_gate(alive)


@both
def test_edge_10_a_descendant_that_writes_for_ever_is_cut(relay: list[str]) -> None:
    """WW-DRAIN-AVAILABLE"""
    code = """
if os.fork() == 0:
    os.setsid()
    os.close(r), os.close(w)
    while True: write(1, b"more\\n" * 5000)
line(0)
"""
    with RelayProcess(relay, worker(code)) as process:
        process.wait_for("stdout", 50)
        begun = time.monotonic()
        process.send(frame("stdin", data="\n"))
        events = process.finish()
        assert time.monotonic() - begun < LATE_SECONDS
        assert_orderly(events)


@both
def test_edge_11_a_descendant_with_half_a_frame_in_the_sideband_delays_nothing(relay: list[str]) -> None:
    """WW-SIDEBAND-TAIL WW-DRAIN-AVAILABLE"""
    code = """
if os.fork() == 0:
    os.setsid()
    time.sleep(600)
put({"kind": "ready"})
write(w, '{"kind":"comp')
line(0)
"""
    with RelayProcess(relay, worker(code)) as process:
        process.wait_for("ready")
        begun = time.monotonic()
        process.send(frame("stdin", data="\n"))
        events = process.finish()
        assert time.monotonic() - begun < LATE_SECONDS
        assert_orderly(events)
        assert "completed" not in kinds(events)


@both
def test_edge_17_a_stopped_worker_is_killed_at_its_deadline(relay: list[str]) -> None:
    """WW-DEADLINE-FIXED WW-EXIT-UNREAPED"""
    with RelayProcess(relay, worker(STUBBORN)) as process:
        process.wait_for("ready")
        pid = process.events[0]["pid"]
        os.kill(pid, signal.SIGSTOP)
        until(lambda: process_state(pid) == "T")
        begun = time.monotonic() - process.started_at
        process.send(frame("shutdown", grace_millis=500))
        events = process.finish()
        assert events[-1] == {"kind": "worker_signaled", "signal": 9}
        assert 0.49 <= process.time_of("worker_signaled") - begun <= 0.5 + LATE_SECONDS


@both
def test_edge_19_writes_that_the_worker_blocks_are_cancelled(relay: list[str]) -> None:
    """WW-TELL-WORKER WW-INTERRUPT"""
    with RelayProcess(relay, worker(STUBBORN)) as process:
        process.wait_for("ready")
        for _ in range(20):
            process.send(frame("stdin", data="x" * 1_000_000))
        process.send(frame("evaluate", language="python", source="y" * 5_000_000))
        process.send(frame("interrupt", request_id=1))
        process.wait_for("interrupt_result")
        begun = time.monotonic() - process.started_at
        process.send(frame("shutdown", grace_millis=400))
        events = process.finish()
        assert events[-1] == {"kind": "worker_signaled", "signal": 9}
        assert 0.39 <= process.time_of("worker_signaled") - begun <= 0.4 + LATE_SECONDS


def test_edge_19_nothing_follows_a_cell_that_was_cut_short(tmp_path: Path) -> None:
    """WW-ABORTED-FRAME WW-TELL-WORKER"""
    gate = fifo(tmp_path, "gate")
    code = f"""
put({{"kind": "ready"}})
gate({str(gate)!r})
data = b""
while piece := os.read(r, 1 << 16): data += piece
say("ended" if b"shutdown" not in data and data.startswith(b'{{"kind":"evaluate"') else "wrong")
"""
    with RelayProcess(OURS, worker(code)) as process:
        process.wait_for("ready")
        process.send(frame("evaluate", language="python", source="y" * 5_000_000))
        process.send(frame("shutdown", grace_millis=20_000))
        process.wait_for("shutdown_started")
        open_gate(gate)
        events = process.finish()
        assert stream(events, "stdout") == b"ended"
        assert events[-1] == {"kind": "worker_exited", "code": 0}


def test_a_relay_that_was_not_scheduled_does_not_blame_its_consumer() -> None:
    """WW-FLUSH-BOUND"""
    with RelayProcess(OURS, worker("write(1, b'x' * 2_000_000)"), reading=False) as process:
        pid = process.first_event()["pid"]
        until(lambda: process_state(pid) == "Z")
        os.kill(process.process.pid, signal.SIGSTOP)
        process.send(frame("interrupt", request_id=1))
        time.sleep(1.2)
        process.read_on()
        process.wait_for("stdout", 3)
        time.sleep(0.05)
        os.kill(process.process.pid, signal.SIGCONT)
        events = process.finish()
        assert_orderly(events)
        assert stream(events, "stdout") == b"x" * 2_000_000
        assert process.status == 0


def test_a_patient_relay_keeps_the_tail_for_a_controller_that_holds_output_back() -> None:
    """WW-PATIENT"""
    code = "write(1, b'x' * 2_000_000)"
    with RelayProcess([*OURS, "--patient"], worker(code), reading=False) as process:
        pid = process.first_event()["pid"]
        until(lambda: process_state(pid) == "Z")
        time.sleep(1.3)
        assert process.process.poll() is None
        process.read_on()
        events = process.finish()
        assert_orderly(events)
        assert stream(events, "stdout") == b"x" * 2_000_000
        assert process.status == 0


@pytest.mark.parametrize("how", ["shutdown", "end"])
def test_a_patient_relay_is_no_longer_patient_when_its_commands_end(how: str) -> None:
    """WW-PATIENT WW-FLUSH-BOUND"""
    with RelayProcess([*OURS, "--patient"], worker("write(1, b'x' * 2_000_000)"), reading=False) as process:
        pid = process.first_event()["pid"]
        until(lambda: process_state(pid) == "Z")
        if how == "end":
            process.close_commands()
        else:
            process.send(frame("shutdown", grace_millis=0))
        assert process.process.wait(30) == 1


def test_a_relay_that_is_killed_leaves_the_worker_the_end_of_its_input(tmp_path: Path) -> None:
    """WW-CLEAN-START: no descriptor of the relay's lives on in the worker."""
    told = fifo(tmp_path, "told")
    code = f"put({{'kind':'ready'}})\nwhile line(0): pass\nwhile line(r): pass\ntell({str(told)!r})"
    with RelayProcess(OURS, worker(code)) as process:
        process.wait_for("ready")
        process.process.kill()
        await_gate(told)
