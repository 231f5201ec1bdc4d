"""A run that is over, or whose server was killed, is served again read-only."""

import signal
from pathlib import Path

import psutil
from run_servers import PATIENCE, Reopened, RunningServer, eventually, home, start_report


def test_a_finished_run_is_replayed_exactly_and_refuses_commands() -> None:
    server = RunningServer("sh", "-c", "echo one; echo two")
    server.leaves()
    stored = server.stored()
    view = Reopened(server.id)
    assert view.report["record"]["status"] == "completed"
    with view.dial() as watcher, view.dial() as control:
        subscribed = watcher.subscribe()
        assert subscribed["latest_sequence"] == len(stored)
        assert watcher.events_until("run_finished") == stored
        assert control.ask(type="query.snapshot")["snapshot"]["status"] == "completed"
        assert control.ask(type="query.events", after_sequence=2)["events"] == stored[2:]
        assert control.ask(type="command.input", text="x")["diagnostic"]["code"] == "run_read_only"
        second = Reopened(server.id)
        assert second.process.wait(PATIENCE) == 0
        assert second.report == view.report
    assert view.process.wait(PATIENCE) == 0
    assert not Path(view.report["record"]["socket_path"]).exists()
    assert server.stored() == stored


def test_a_live_run_is_found_and_not_served_twice() -> None:
    server = RunningServer("sleep", "60")
    again = Reopened(server.id)
    assert again.process.wait(PATIENCE) == 0
    assert again.report == {"outcome": "serving", "record": server.record}
    with again.dial() as control:
        assert control.ask(type="command.stop", grace_ms=0)["ok"]
    server.leaves()


def test_an_unknown_run_is_not_found() -> None:
    report, process = start_report("--reopen", "0123456789ab")
    assert (report["outcome"], report["exit_code"]) == ("failed", 4)
    assert process.wait(PATIENCE) == 1
    assert not (home() / "runs" / "0123456789ab").exists()


def test_a_killed_server_leaves_no_process_and_a_journal_that_replays_to_its_last_whole_event() -> None:
    server = RunningServer("sh", "-c", "exec yes 'a line of some length to fill the journal with'")
    with server.dial() as watcher:
        watcher.subscribe(tail=1)
        for _ in range(5):
            watcher.events_until("subprocess_output")
    family = psutil.Process(server.process.pid).children(recursive=True)
    server.process.send_signal(signal.SIGKILL)
    server.process.wait(PATIENCE)
    eventually(lambda: not any(_runs(process) for process in family))
    stored = server.stored()
    view = Reopened(server.id)
    assert view.report["record"]["status"] == "interrupted"
    with view.dial() as watcher:
        assert watcher.subscribe()["latest_sequence"] == len(stored)
        first = watcher.receive()
        assert first is not None and first["events"][0] == stored[0]
    with view.dial() as watcher:
        watcher.subscribe(tail=3)
        batch = watcher.receive()
        assert batch is not None
        assert [event["sequence"] for event in batch["events"]][-3:] == list(range(len(stored) - 2, len(stored) + 1))
    assert view.process.wait(PATIENCE) == 0
    assert server.stored() == stored


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
