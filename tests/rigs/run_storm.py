"""Runs whose server, relay or worker is killed at a random moment; what was shown must be kept, and nobody is left."""

import contextlib
import json
import random
import signal
import socket
import threading
import time
from typing import Any

import psutil
from run_servers import ENDS, PATIENCE, RunningServer, eventually

from hopline.records import ENDED, read_record, shown_status
from hopline.worker import survivors

WORKERS = [
    "while :; do echo a line of output; done",
    "exec yes 'many lines of output that come as fast as they can'",
    "exec head -c 20000000 /dev/urandom",
    "setsid sleep 30 & exec sleep 30",
    "exec cat",
]


class Watcher(threading.Thread):
    """Keeps every whole line that the server writes, until it hangs up."""

    def __init__(self, path: str) -> None:
        super().__init__(daemon=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(path)
        self._socket.sendall(b'{"type":"subscribe"}\n')
        self._received: list[bytes] = []
        self.start()

    def run(self) -> None:
        with self._socket, contextlib.suppress(ConnectionResetError):  # killed before it read the request
            while data := self._socket.recv(1 << 20):
                self._received.append(data)

    def events(self) -> list[dict[str, Any]]:
        """Everything shown; a line that a kill cut short was not."""
        self.join(PATIENCE)
        assert not self.is_alive(), "the server did not hang up"
        lines = b"".join(self._received).split(b"\n")[:-1]
        return [event for line in lines for event in json.loads(line).get("events", ())]


def storm(lives: int, seed: int) -> None:
    """Live `lives` runs; the seed is part of every failure's message."""
    chance = random.Random(seed)
    for number in range(lives):
        try:
            _one_life(chance)
        except AssertionError as failure:
            raise AssertionError(f"life {number} of seed {seed}: {failure}") from failure


def _one_life(chance: random.Random) -> None:
    server = RunningServer("sh", "-c", chance.choice(WORKERS), stop_grace_seconds=0.2)
    watcher = Watcher(server.record["socket_path"])
    victim = chance.choice(["server", "relay", "worker"])
    time.sleep(chance.random() * 0.2)
    if not _kill(server, victim) and server.process.poll() is None:
        server.process.send_signal(signal.SIGTERM)  # what was to be killed had ended or not begun
    server.leaves()
    shown = watcher.events()
    stored = server.stored()
    assert stored[: len(shown)] == shown, "something that was shown is not in the journal"
    assert [event["sequence"] for event in stored] == list(range(1, len(stored) + 1))
    record = read_record(server.id)
    if server.process.returncode == -signal.SIGKILL:
        was_over = any(event["type"] in ENDS for event in stored)
        assert shown_status(record) == "interrupted" or was_over, f"it is called {shown_status(record)}"
        reported: set[int] = set()
    else:
        assert shown == stored, "something that was stored was not shown"
        assert record.status in ENDED, f"it is called {record.status}"
        reported = _reported(stored)
    # A server that was killed could report nobody: the marker finds them, as `hopline doctor` does.
    eventually(lambda: _unreported(server.id, reported) <= 0, 5)


def _kill(server: RunningServer, victim: str) -> bool:
    try:
        process = psutil.Process(server.process.pid)
        relays = [child for child in process.children() if "worker.relay" in " ".join(child.cmdline())]
        workers = [one for relay in relays for one in relay.children()]
        for one in {"server": [process], "relay": relays, "worker": workers}[victim][:1]:
            one.send_signal(signal.SIGKILL)
            return True
    except psutil.NoSuchProcess:
        pass
    return False


def _reported(stored: list[dict[str, Any]]) -> set[int]:
    retired = [event["data"]["descendants"] for event in stored if event["type"] == "worker_retired"]
    assert len(retired) == 1, "the generation's end is not recorded once"
    return {process["pid"] for process in retired[0]["processes"]}


def _unreported(run_id: str, reported: set[int]) -> int:
    """How many processes of the run nobody has named; those that sleep are ended here."""
    found = survivors.find(run_id).processes
    sleeping = [one for one in found if one.name == "sleep"]
    for one in sleeping:
        survivors.end(one.pid, one.start_time, 0.0)
    named = reported | {one.pid for one in sleeping}
    return len([one for one in found if one.pid not in named])
