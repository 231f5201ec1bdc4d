"""One run from its start report to its server's leaving, with real processes."""

import hashlib
import os
import signal
import socket
import stat
import time
from pathlib import Path

import psutil
import pytest
from run_servers import ENDS, Dialled, RunningServer, eventually, home, written


def test_a_run_is_recorded_in_order_and_served_until_it_is_over() -> None:
    server = RunningServer("sh", "-c", "echo out; echo err >&2; exit 7", attached=True)
    with server.dial() as watcher:
        watcher.subscribe()
        events = watcher.events_until(*ENDS)
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    kinds = [event["type"] for event in events]
    assert kinds[:5] == ["server_started", "run_started", "run_status_changed", "server_ready", "worker_started"]
    assert sorted(kinds[5:7]) == ["subprocess_output", "subprocess_output"]
    assert kinds[7:] == ["worker_exited", "worker_retired", "run_status_changed", "run_failed"]
    started, exited, retired = (events[kinds.index(kind)]["data"] for kind in kinds if kind.startswith("worker_"))
    assert started == {
        "kind": "worker_started",
        "generation": 1,
        "pid": started["pid"],
        "argv": ["sh", "-c", "echo out; echo err >&2; exit 7"],
        "cwd": "/",
        "runner": "direct",
    }
    assert exited == {"kind": "worker_exited", "generation": 1, "code": 7}
    assert retired["descendants"] == {"state": "gone", "processes": []}
    assert (written(events), written(events, "stderr")) == (b"out\n", b"err\n")
    assert server.leaves() == 0
    record = server.record_now()
    assert (record["status"], record["exit_code"], record["signal"]) == ("failed", 7, None)
    assert record["ended_at"] is not None
    assert not Path(record["socket_path"]).exists()
    assert server.stored() == events


def test_its_places_are_private() -> None:
    server = RunningServer("sleep", "60")
    path = Path(server.record["socket_path"])
    for folder in (path.parent, path.parent.parent, home() / "runs" / server.id):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for file in (path, home() / "runs" / server.id / "record.json", home() / "runs" / server.id / "server.log"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    server.process.send_signal(signal.SIGTERM)
    assert server.leaves() == 0


def test_a_detached_run_that_nobody_watches_ends_and_its_server_leaves() -> None:
    server = RunningServer("sh", "-c", "head -c 20000000 /dev/zero")
    assert server.leaves() == 0
    assert server.record_now()["status"] == "completed"
    assert len(written(server.stored())) == 20_000_000


def test_any_bytes_come_back_exactly() -> None:
    script = "import os,sys; sys.stdout.buffer.write(bytes(range(256))*300 + 'é🚀'.encode()*5000 + os.urandom(300000))"
    server = RunningServer("sh", "-c", f'python3 -c "{script}" | tee "$COPY"', env={"COPY": str(home() / "copy")})
    assert server.leaves() == 0
    got = hashlib.sha256(written(server.stored())).hexdigest()
    assert got == hashlib.sha256((home() / "copy").read_bytes()).hexdigest()


def test_an_attached_server_waits_for_its_starter_to_come() -> None:
    server = RunningServer("true", attached=True)
    eventually(lambda: server.record_now()["status"] == "completed")
    with server.dial() as late:
        late.subscribe()
        assert late.events_until("run_finished")
    assert server.leaves() == 0


def test_a_watcher_that_stays_is_left_after_it_has_everything() -> None:
    server = RunningServer("true", attached=True)
    with server.dial() as watcher:
        watcher.subscribe()
        watcher.events_until("run_finished")
        before = time.monotonic()
        assert watcher.receive() is None
        assert 0.5 < time.monotonic() - before < 5
    assert server.leaves() == 0


def test_the_worker_gets_the_persons_signals_mask_and_names() -> None:
    script = (
        "import os,signal;"
        "print(os.umask(0o22), signal.getsignal(signal.SIGHUP) is signal.SIG_DFL,"
        "signal.getsignal(signal.SIGPIPE), *(os.environ.get(n) for n in"
        "('HOPLINE_RUN','HOPLINE_SESSION','HOPLINE_GENERATION','HOPLINE_SERVER','MINE')))"
    )
    before = os.umask(0o027)
    try:
        server = RunningServer("python3", "-c", script, env={"MINE": "yes"})
    finally:
        os.umask(before)
    server.leaves()
    assert written(server.stored()).split() == [
        b"23",
        b"True",
        b"1",
        *(server.id.encode(), server.id.encode(), b"1", b"None", b"yes"),
    ]


def test_a_closed_terminal_changes_nothing() -> None:
    server = RunningServer("sh", "-c", "read line; echo got $line", attached=True)
    server.process.send_signal(signal.SIGHUP)
    with server.dial() as control, server.dial() as watcher:
        watcher.subscribe()
        assert control.ask(type="command.input", text="it\n")["ack"] == {"action": "input", "status": "delivered"}
        assert written(watcher.events_until(*ENDS)) == b"got it\n"
    assert server.leaves() == 0


def test_a_terminated_server_ends_its_run_in_order_and_names_the_signal() -> None:
    server = RunningServer("sleep", "60")
    with server.dial() as watcher:
        watcher.subscribe()
        watcher.events_until("worker_started")
        server.process.send_signal(signal.SIGTERM)
        events = watcher.events_until(*ENDS)
    assert events[-1]["data"] == {"kind": "run_interrupted", "reason": "its server got SIGTERM", "signal": 15}
    assert server.leaves() == 0
    assert server.record_now()["status"] == "stopped"


def test_a_blocked_watcher_stalls_nobody_and_memory_stays_bounded() -> None:
    server = RunningServer("sh", "-c", "head -c 100000000 /dev/zero | tr '\\0' 'x'; read line", attached=True)
    with server.dial() as frozen, server.dial() as control, server.dial() as watcher:
        frozen.send(type="subscribe")
        watcher.subscribe(tail=1)
        asked = control.ask(type="query.snapshot")
        assert asked["snapshot"]["status"] == "running"
        size = 0
        while size < 100_000_000:
            event = watcher.receive()
            assert event is not None
            for one in event["events"]:
                if one["type"] == "subprocess_output":
                    size = one["data"]["offset"] + len(one["data"]["content"])
        peak = sum(_peak_bytes(process) for process in _server_and_relay(server.process.pid))
        assert peak < 120_000_000
        control.ask(type="command.input", close=True)
        watcher.events_until(*ENDS)
    assert server.leaves() == 0


def _server_and_relay(pid: int) -> list[psutil.Process]:
    server = psutil.Process(pid)
    return [server, *(child for child in server.children() if "worker.relay" in " ".join(child.cmdline()))]


def _peak_bytes(process: psutil.Process) -> int:
    status = Path(f"/proc/{process.pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


@pytest.mark.parametrize("half_way", [b"", b'{"type":"subscr', b"\xff\x00\n", b"[" * 5000])
def test_garbage_and_half_requests_do_no_harm(half_way: bytes) -> None:
    server = RunningServer("sleep", "60")
    rude = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    rude.connect(server.record["socket_path"])
    rude.sendall(half_way)
    rude.close()
    with Dialled(server.record["socket_path"]) as control:
        assert control.ask(type="command.stop", grace_ms=0)["ok"]
    assert server.leaves() == 0
