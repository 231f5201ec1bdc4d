"""A journal without room holds the worker back, says so, goes on when there is room, and never loses a byte."""

import resource
from pathlib import Path

import psutil
from run_servers import ENDS, RunningServer, eventually, written


def test_a_journal_that_cannot_be_written_holds_the_worker_and_goes_on_when_it_can() -> None:
    server = RunningServer(
        "sh", "-c", "yes | head -c 9000000; echo done", shell="ulimit -S -f 2000", journal_reserve=0, attached=True
    )
    with server.dial() as control, server.dial() as watcher:
        watcher.subscribe()
        eventually(lambda: server.record_now()["waiting"])
        assert "cannot be written" in server.record_now()["waiting"]
        assert control.ask(type="query.snapshot")["snapshot"]["status"] == "running"
        psutil.Process(server.process.pid).rlimit(
            resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        )
        events = watcher.events_until(*ENDS)
    assert written(events) == b"y\n" * 4_500_000 + b"done\n"
    warnings = [event["data"]["summary"] for event in events if event["type"] == "framework_warning"]
    assert [summary.split(":")[0] for summary in warnings] == [
        "The worker waits",
        "The worker goes on",
    ]
    assert server.leaves() == 0
    assert (server.record_now()["status"], server.record_now()["waiting"]) == ("completed", None)


def test_one_signal_ends_a_run_whose_disk_takes_nothing_more() -> None:
    server = RunningServer("sh", "-c", "exec yes", shell="ulimit -S -f 2000", journal_reserve=0)
    eventually(lambda: server.record_now()["waiting"])
    server.process.terminate()
    assert server.leaves() == 0


def test_a_run_at_its_bound_waits_and_can_be_stopped() -> None:
    server = RunningServer("sh", "-c", "exec yes", max_journal=2_000_000, journal_reserve=0)
    with server.dial() as control, server.dial() as watcher:
        watcher.subscribe()
        eventually(lambda: server.record_now()["waiting"])
        assert "bound" in server.record_now()["waiting"]
        assert control.ask(type="command.interrupt")["ok"]
        control.ask(type="command.stop", grace_ms=0)
        events = watcher.events_until(*ENDS)
    assert events[-1]["type"] in ENDS
    assert server.leaves() == 0
    assert server.record_now()["waiting"] is None


def test_a_run_at_its_bound_cannot_use_its_grace_to_write_on() -> None:
    server = RunningServer("sh", "-c", "exec yes", max_journal=2_000_000, journal_reserve=0)
    with server.dial() as control, server.dial() as watcher:
        watcher.subscribe()
        eventually(lambda: server.record_now()["waiting"])
        control.ask(type="command.stop", grace_ms=1500)
        watcher.events_until(*ENDS)
    assert server.leaves() == 0
    segments = (Path(server.record_now()["journal"]) / "segments").glob("*.jsonl")
    assert sum(path.stat().st_size for path in segments) < 2_000_000 + 32 * 2**20


def test_a_run_that_drops_its_oldest_says_which_and_a_subscriber_is_told_the_floor() -> None:
    server = RunningServer(
        "sh",
        "-c",
        "yes 'a line of some length' | head -c 30000000; read line",
        max_journal=4_000_000,
        when_journal_full="drop-oldest",
        journal_reserve=0,
    )
    with server.dial() as control, server.dial() as watcher:
        watcher.subscribe(tail=1000)
        seen = 0
        while seen < 30_000_000:
            event = watcher.events_until("subprocess_output")[-1]
            seen = event["data"]["offset"] + len(event["data"]["content"])
        with server.dial() as late:
            late.subscribe()
            batch = late.receive()
        assert batch is not None
        floor = batch["history_after_sequence"]
        assert floor > 0
        kinds = [event["type"] for event in batch["events"] if event["sequence"] <= floor]
        assert kinds[:3] == ["run_started", "run_status_changed", "worker_started"]
        dropped = [event["data"] for event in batch["events"] if event["type"] == "journal_dropped"]
        assert dropped and all(one["bytes"] > 0 for one in dropped)
        assert max(one["last_sequence"] for one in dropped) <= floor
        control.ask(type="command.input", close=True)
        watcher.events_until(*ENDS)
    assert server.leaves() == 0
