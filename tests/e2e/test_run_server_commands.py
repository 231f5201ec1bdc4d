"""Commands to a live run: each answers what is proven and nothing more, also under a flood."""

import base64
import statistics
import time

from run_servers import ENDS, Dialled, RunningServer, eventually, written

FLOOD = ("sh", "-c", "trap '' INT; exec yes")


def test_an_interrupt_is_proven_delivered_while_the_flood_goes_on() -> None:
    server = RunningServer(*FLOOD)
    with server.dial() as control, server.dial() as watcher:
        watcher.subscribe(tail=1_000_000)
        watcher.events_until("subprocess_output")
        times = []
        for _ in range(20):
            before = time.monotonic()
            assert control.ask(type="command.interrupt")["ack"] == {"action": "interrupt", "status": "delivered"}
            times.append(time.monotonic() - before)
        assert statistics.median(times) < 0.2
        watcher.events_until("subprocess_output")
        assert control.ask(type="command.stop", grace_ms=200)["ack"] == {"action": "stop", "status": "pending"}
        events = watcher.events_until(*ENDS)
    facts = [event for event in events if event["type"] != "subprocess_output"]
    assert [event["text"] for event in facts if event["type"] == "control"][-2:] == ["/stop", "/stop"]
    kinds = [event["type"] for event in facts]
    assert kinds[-5:] == ["worker_signaled", "worker_retired", "run_status_changed", "control", "run_interrupted"]
    assert [event["data"]["signal"] for event in facts if event["type"] == "worker_signaled"] == [9]
    assert server.leaves() == 0


def test_an_interrupt_reaches_a_worker_that_handles_it() -> None:
    server = RunningServer("sh", "-c", "trap 'echo caught; exit 3' INT; echo up; while :; do sleep 0.05; done")
    with server.dial() as control, server.dial() as watcher:
        watcher.subscribe()
        watcher.events_until("subprocess_output")
        assert control.ask(type="command.interrupt")["ack"]["status"] == "delivered"
        events = watcher.events_until(*ENDS)
    assert [event["data"]["content"] for event in events if event["type"] == "subprocess_output"] == ["caught\n"]
    assert events[-1]["diagnostic"]["summary"] == "The worker exited with status 3."
    assert server.leaves() == 0


def test_input_arrives_whole_in_text_and_in_bytes_and_ends() -> None:
    server = RunningServer("cat", attached=True)
    every_byte = bytes(range(256))
    with server.dial() as control, server.dial() as watcher:
        watcher.subscribe()
        assert control.ask(type="command.input", text="grüße\n")["ok"]
        assert control.ask(type="command.input", bytes_base64=base64.b64encode(every_byte).decode())["ok"]
        assert control.ask(type="command.input", text="last", close=True)["ok"]
        events = watcher.events_until(*ENDS)
        refused = control.ask(type="command.input", text="more")
    assert written(events) == "grüße\n".encode() + every_byte + b"last"
    assert refused["diagnostic"]["code"] in ("worker_ended", "input_closed")
    assert server.leaves() == 0


def test_input_that_the_worker_does_not_read_waits_and_stop_still_answers() -> None:
    server = RunningServer("sleep", "60")
    with server.dial() as feeding, server.dial() as control:
        accepted = 0
        feeding.socket.settimeout(1.5)
        try:
            while accepted < 20:
                assert feeding.ask(type="command.input", text="x" * 500_000)["ok"]
                accepted += 1
        except TimeoutError:
            pass
        assert 1 <= accepted < 20
        before = time.monotonic()
        assert control.ask(type="command.interrupt")["ok"]
        assert control.ask(type="command.stop", grace_ms=100)["ok"]
        assert time.monotonic() - before < 2
    assert server.leaves() == 0


def test_a_restart_starts_the_next_generation_once_the_first_is_gone() -> None:
    server = RunningServer("sh", "-c", "echo generation $HOPLINE_GENERATION; exec sleep 60")
    with server.dial() as control, server.dial() as watcher:
        watcher.subscribe()
        first = watcher.events_until("subprocess_output")
        assert control.ask(type="command.restart", grace_ms=100)["ack"] == {"action": "restart", "status": "pending"}
        second = watcher.events_until("worker_started")
        kinds = [event["type"] for event in second if event["type"].startswith("worker_")]
        assert kinds == ["worker_signaled", "worker_retired", "worker_started"]
        assert second[-1]["data"]["generation"] == 2
        output = watcher.events_until("subprocess_output")[-1]["data"]
        assert (output["process_id"], output["offset"], output["content"]) == ("worker-2", 0, "generation 2\n")
        assert first[-1]["data"]["process_id"] == "worker-1"
        eventually(lambda: server.record_now()["generation"] == 2)
        control.ask(type="command.stop", grace_ms=0)
    assert server.leaves() == 0


def test_a_snapshot_and_a_resume_follow_the_run() -> None:
    server = RunningServer("sh", "-c", "while read line; do echo $line; done", attached=True)
    with server.dial() as control:
        control.ask(type="command.input", text="one\n")
        found = eventually(lambda: _outputs(control))
        snapshot = control.ask(type="query.snapshot")["snapshot"]
        assert (snapshot["status"], snapshot["run_id"]) == ("running", server.id)
        with server.dial() as first:
            first.subscribe()
            batch = first.receive()
            assert batch is not None
        cursor, store_id = batch["through_sequence"], batch["store_id"]
        control.ask(type="command.input", text="two\n", close=True)
        with server.dial() as resumed:
            resumed.subscribe(after_sequence=cursor, store_id=store_id)
            events = resumed.events_until(*ENDS)
        assert [event["sequence"] for event in events] == list(range(cursor + 1, events[-1]["sequence"] + 1))
        assert [event["data"]["content"] for event in events if event["type"] == "subprocess_output"] == ["two\n"]
        assert found
    assert server.leaves() == 0


def _outputs(control: Dialled) -> list[str]:
    events = control.ask(type="query.events", timeout_ms=1000)["events"]
    return [event["data"]["content"] for event in events if event["type"] == "subprocess_output"]
