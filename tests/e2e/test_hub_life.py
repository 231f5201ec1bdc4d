"""A hub from its start to its end, and links that come back whatever happened to one."""

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from hub_machines import HOPLINE, Machine, machines, marry, wait_for


@pytest.fixture(name="alone")
def _alone(private_place: Path) -> Iterator[Machine]:
    with machines(private_place, "solo", listen_port=0) as (machine,):
        yield machine


@pytest.fixture(name="linked")
def _linked(private_place: Path) -> Iterator[tuple[Machine, Machine]]:
    with machines(private_place, "a", "b") as (a, b):
        marry(a, b)
        a.start()
        b.know(a.identity, bytes.fromhex((b.peers_folder / f"{a.identity}.key").read_text()), a.address)
        b.start()
        both(a, b)
        yield a, b


def both(a: Machine, b: Machine, seconds: float = 20.0) -> None:
    wait_for(lambda: a.connected(b.identity) and b.connected(a.identity), "the link", seconds)


@pytest.mark.parametrize("victim", ["a", "b"])
def test_a_killed_hub_is_missed_at_once_and_linked_again_when_it_is_back(
    linked: tuple[Machine, Machine], victim: str
) -> None:
    a, b = linked
    dead, other = (a, b) if victim == "a" else (b, a)
    dead.stop(signal.SIGKILL)
    wait_for(lambda: not other.connected(dead.identity), "the loss", 2)
    dead.restart()
    both(a, b)


def test_a_hub_that_stopped_answering_is_missed_after_three_heartbeats(linked: tuple[Machine, Machine]) -> None:
    a, b = linked
    os.kill(a.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        wait_for(lambda: not b.connected(a.identity), "the loss", 10)
        assert time.monotonic() - began > 1.5
    finally:
        os.kill(a.pid, signal.SIGCONT)
    both(a, b)


def test_sigterm_ends_a_hub_cleanly(linked: tuple[Machine, Machine]) -> None:
    a, b = linked
    assert a.stop(signal.SIGTERM) == 0
    wait_for(lambda: not b.connected(a.identity), "the loss", 2)
    assert "Traceback" not in a.log
    assert "ends" in a.log
    assert a.run("hub", "status").returncode == 4


def test_commands_that_start_together_start_one_hub(alone: Machine) -> None:
    commands = [alone.spawn("peer", "id") for _ in range(6)]
    said = {command.communicate(timeout=30)[0] for command in commands}
    assert said == {f"{alone.identity}\n".encode()}
    assert len(hubs_of(alone)) == 1


def test_no_start_starts_nothing_and_says_how(alone: Machine) -> None:
    done = alone.run("peer", "ls", "--no-start")
    assert done.returncode == 4
    assert done.stderr == b"hopline: no hub runs here; start it: hopline hub serve\n"
    assert hubs_of(alone) == []


def test_stop_ends_it_and_has_nothing_to_do_the_second_time(alone: Machine) -> None:
    alone.run("peer", "id")
    (hub,) = hubs_of(alone)
    done = alone.run("hub", "stop")
    assert done.stdout == f"stopped (pid {hub.pid})\n".encode()
    assert hubs_of(alone) == []
    assert alone.run("hub", "stop").stdout == b"no hub runs here\n"


def test_a_second_hub_of_a_home_is_refused(alone: Machine) -> None:
    alone.start()
    done = alone.run("hub", "serve")
    assert done.returncode == 1
    assert f"runs already (pid {alone.pid}".encode() in done.stderr


def test_a_hub_started_by_a_command_belongs_to_no_terminal_and_no_run(alone: Machine) -> None:
    run = json.loads(alone.run("run", "--detach", "--", HOPLINE, "peer", "id").stdout)["id"]
    wait_for(lambda: hubs_of(alone), "the hub")
    (hub,) = hubs_of(alone)
    shown = wait_for(
        lambda: next((one for one in alone.told("ls", "--all")["instances"] if one["status"] == "completed"), None),
        "the end of the run",
    )
    assert shown["id"] == run
    assert hub.is_running()
    assert os.getsid(hub.pid) == hub.pid
    assert hub.terminal() is None


def test_a_taken_port_gives_way_to_another_unless_it_was_asked_for(private_place: Path) -> None:
    with machines(private_place, "x") as (machine,), socket.socket() as usual:
        usual.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if usual.connect_ex(("127.0.0.1", 9847)) != 0:
            usual.close()
            holder = socket.create_server(("127.0.0.1", 9847))
        else:
            holder = usual
        with holder:
            first = machine.told("peer", "id")["listen"]
            assert first != "127.0.0.1:9847"
            assert "usual port was taken" in machine.run("hub", "status").stdout.decode()
            machine.run("hub", "stop")
            assert machine.told("peer", "id")["listen"] == first
            machine.run("hub", "stop")
            done = machine.run("hub", "serve", "--listen", "127.0.0.1:9847")
            assert done.returncode == 1
            assert b"cannot listen at 127.0.0.1:9847: Address already in use" in done.stderr


@pytest.mark.parametrize("where", ["nowhere:1", "127.0.0.1:99999", "127.0.0.1:x"])
def test_where_nobody_can_listen_is_wrong_use(alone: Machine, where: str) -> None:
    done = alone.run("hub", "serve", "--listen", where)
    assert done.returncode == 2
    assert b"is no ADDR:PORT" in done.stderr


def test_wrong_settings_are_told_by_the_command_that_would_start_the_hub(alone: Machine) -> None:
    alone.write_settings(max_peers=0)
    done = alone.run("peer", "ls")
    assert done.returncode == 2
    assert b"relay.max_peers = 0" in done.stderr
    assert hubs_of(alone) == []


def test_the_foreground_log_reads_well_and_the_first_line_of_json_says_where_it_is(alone: Machine) -> None:
    alone.start()
    record = json.loads((alone.fleet / "hub.json").read_text())
    assert record["pid"] == alone.pid
    assert record["listen"] == f"127.0.0.1:{alone.address[1]}"
    assert alone.log.endswith(f" {alone.identity} listens at {record['listen']}\n")
    assert "\x1b" not in alone.log


def test_a_hub_starts_fast(alone: Machine) -> None:
    best = min(_start_seconds(alone) for _ in range(3))
    assert best < 1.5, f"{best:.2f} s"


def _start_seconds(machine: Machine) -> float:
    began = time.monotonic()
    assert machine.run("peer", "id").returncode == 0
    took = time.monotonic() - began
    machine.run("hub", "stop")
    return took


def hubs_of(machine: Machine) -> list[psutil.Process]:
    """The hub processes of that home, without those that are about to become a tool that a hub asks."""
    found: dict[int, tuple[psutil.Process, int]] = {}
    for process in psutil.process_iter():
        try:
            if "hub-server" in process.cmdline() and process.environ().get("HOPLINE_HOME") == str(machine.home):
                found[process.pid] = (process, process.ppid())
        except (psutil.Error, OSError):
            continue
    return [process for process, parent in found.values() if parent not in found]


def test_a_damaged_record_of_no_hub_stops_nothing(alone: Machine) -> None:
    for text in ("", "garbage", "{}"):
        (alone.fleet / "hub.json").write_text(text)
        assert alone.run("hub", "status").returncode == 4
        assert alone.run("peer", "id").stdout == f"{alone.identity}\n".encode()
        assert alone.run("hub", "stop").returncode == 0


def test_another_runtime_folder_finds_the_hub_of_the_same_home(alone: Machine, private_place: Path) -> None:
    alone.start()
    other = private_place / "elsewhere"
    other.mkdir(mode=0o700)
    env = {"XDG_RUNTIME_DIR": str(other)}
    assert f"pid {alone.pid}" in alone.run("hub", "status", env=env).stdout.decode()
    assert alone.run("peer", "id", env=env).stdout == f"{alone.identity}\n".encode()
    assert list(other.iterdir()) == []
    hidden = alone.fleet / "hub.json"
    record = json.loads(hidden.read_text())
    hidden.write_text(json.dumps(record | {"socket": str(other / "nowhere")}))
    told = alone.run("hub", "status", env=env)
    assert told.returncode == 4
    assert alone.run("hub", "stop", env=env).stderr == told.stderr
    assert f"the hub of this home (pid {alone.pid}) does not answer at {other / 'nowhere'}".encode() in told.stderr


@pytest.mark.parametrize("words", [("hub", "serve"), ("peer", "id")])
def test_a_hub_that_cannot_write_its_record_says_so_in_a_sentence(alone: Machine, words: tuple[str, ...]) -> None:
    (alone.fleet / "hub.json.new").symlink_to("/dev/full")
    (alone.fleet / "hub.json").write_text("{}")
    told = alone.run(*words)
    assert told.returncode == 1
    assert told.stderr.count(b"\n") == 1, told.stderr.decode()
    assert b"hub.json" in told.stderr


def test_stop_says_as_json_whether_there_was_one(alone: Machine) -> None:
    alone.start()
    assert alone.told("hub", "stop") == {"stopped": True, "pid": alone.pid}
    assert alone.told("hub", "stop") == {"stopped": False, "pid": None}
