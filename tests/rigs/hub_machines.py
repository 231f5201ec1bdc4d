"""Machines of a fleet on this one: each has a home of its own, its settings, and a hub while it runs."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from peer_speaker import Speaker

HOPLINE = str(Path(sys.executable).with_name("hopline"))
SECONDS = 20.0
BEAT = 1
"""Seconds between the heartbeats of a hub under test; it is dead after three of them."""


def wait_for(condition: Callable[[], Any], what: str, seconds: float = SECONDS) -> Any:
    """The first true value of `condition`. AssertionError that names `what` when the time is over."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        time.sleep(0.02)
    return found


class Machine:
    """One home.

    Args:
        place: a folder of the test's; the home is `place/name`.
        name: also the first part of the identity, which is settled here.
        prefix: put before every command, such as ("ip", "netns", "exec", NAME).
        relay: settings of the table [relay].
    """

    def __init__(self, place: Path, name: str, *, prefix: Sequence[str] = (), **relay: Any) -> None:
        self.home = place / name
        self.identity = f"{name}-0000000a"
        self.process: subprocess.Popen[bytes] | None = None
        self.address = ("", 0)
        self._prefix = list(prefix)
        self._spawned: list[subprocess.Popen[bytes]] = []
        self._record: dict[str, Any] = {}
        self._config = place / f"{name}.toml"
        self._log = place / f"{name}.log"
        self.peers_folder.mkdir(parents=True, mode=0o700)
        self.user_home.mkdir()
        (place / "run").mkdir(mode=0o700, exist_ok=True)
        for folder in (self.home, self.fleet):
            folder.chmod(0o700)
        (self.fleet / "identity").write_text(self.identity)
        self.settings = {"heartbeat_interval_secs": BEAT, "lan_announce": False} | relay
        self.write_settings()

    def write_settings(self, **changes: Any) -> None:
        """Write config.toml anew."""
        self.settings |= changes
        lines = (f"{name} = {json.dumps(value)}" for name, value in self.settings.items())
        self._config.write_text("\n".join(["[relay]", *lines, ""]))

    @property
    def fleet(self) -> Path:
        """The hub's folder."""
        return self.home / "fleet"

    @property
    def peers_folder(self) -> Path:
        """Keys and addresses of peers."""
        return self.fleet / "peers"

    @property
    def env(self) -> dict[str, str]:
        """The environment of every command of this machine."""
        ours = {"HOPLINE_HOME": self.home, "HOPLINE_CONFIG": self._config, "HOME": self.user_home}
        ours["XDG_RUNTIME_DIR"] = self.home.parent / "run"
        return os.environ | {name: str(value) for name, value in ours.items()} | {"NO_COLOR": "1"}

    @property
    def user_home(self) -> Path:
        """$HOME of whoever owns this machine; conversations are placed below it."""
        return self.home.with_name(f"{self.home.name}-user")

    @property
    def log(self) -> str:
        """What the hubs of this machine said so far."""
        return self._log.read_text() if self._log.exists() else ""

    def know(self, peer: str, key: bytes, address: tuple[str, int] | None = None) -> None:
        """As after a pairing; a hub that runs learns of it at its next start."""
        path = self.peers_folder / f"{peer}.key"
        path.write_text(key.hex())
        path.chmod(0o600)
        if address is not None:
            meta = {"addr": f"{address[0]}:{address[1]}", "last_seen": int(time.time())}
            (self.peers_folder / f"{peer}.meta").write_text(json.dumps(meta))

    def start(self, listen: str = "127.0.0.1:0") -> "Machine":
        """Start the hub in the foreground and wait until it serves."""
        argv = [*self._prefix, HOPLINE, "hub", "serve", "--json", "--listen", listen]
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                argv, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the hub did not start: {self.log}"
        self._record = json.loads(line)
        assert self._record["identity"] == self.identity
        host, _, port = self._record["listen"].rpartition(":")
        self.address = (host.strip("[]"), int(port))
        return self

    def restart(self) -> "Machine":
        """Start it again where it listened."""
        return self.start(f"{self.address[0]}:{self.address[1]}")

    @property
    def pid(self) -> int:
        """Of the hub itself."""
        return int(self._record["pid"])

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Signal the hub and wait for its end; its status."""
        assert self.process is not None
        assert self.process.stdout is not None
        os.kill(self.pid, number)
        status = self.process.wait(SECONDS)
        self.process.stdout.close()
        self.process = None
        return status

    def run(self, *arguments: str, seconds: float = SECONDS, **options: Any) -> "subprocess.CompletedProcess[bytes]":
        """A finished `hopline` command of this machine."""
        argv = [*self._prefix, HOPLINE, *arguments]
        options.setdefault("stdin", subprocess.DEVNULL)
        env = self.env | options.pop("env", {})
        return subprocess.run(argv, env=env, capture_output=True, timeout=seconds, check=False, **options)

    def told(self, *arguments: str, seconds: float = SECONDS) -> Any:
        """The JSON that a command prints; it must succeed."""
        done = self.run(*arguments, "--json", seconds=seconds)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    def spawn(self, *arguments: str) -> "subprocess.Popen[bytes]":
        """A command of this machine that is not waited for."""
        argv = [*self._prefix, HOPLINE, *arguments]
        started = subprocess.Popen(
            argv, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._spawned.append(started)
        return started

    def row(self, peer: str) -> dict[str, Any]:
        """What `peer ls` says of a peer; empty for nobody."""
        rows = self.told("peer", "ls")["peers"]
        return next((row for row in rows if row["peer"] == peer), {})

    def connected(self, peer: str) -> bool:
        """Whether its link is up."""
        return self.row(peer).get("state") == "connected"

    def session_ids(self, peer: str) -> set[str]:
        """What `peer fleet` says that a peer runs."""
        machines = self.told("peer", "fleet")["machines"]
        return {one["session_id"] for each in machines if each["peer"] == peer for one in each["sessions"]}

    def close(self) -> None:
        """End whatever runs with this home."""
        if self.process is not None and self.process.poll() is None and not self._prefix:
            self.process.kill()
        for process in psutil.process_iter():
            try:
                if process.pid != os.getpid() and process.environ().get("HOPLINE_HOME") == str(self.home):
                    process.kill()
            except psutil.Error:
                continue
        for started in [*self._spawned, *([self.process] if self.process is not None else [])]:
            started.wait(SECONDS)
            for stream in (started.stdout, started.stderr):
                if stream is not None:
                    stream.close()


def befriend(machine: Machine, speaker: Speaker, address: tuple[str, int] | None = None) -> None:
    """Give both the same key; `address` is where the machine dials the speaker."""
    key = speaker.keys.setdefault(machine.identity, os.urandom(32))
    machine.know(speaker.identity, key, address)


def marry(left: Machine, right: Machine) -> None:
    """Give two machines the same key."""
    key = os.urandom(32)
    left.know(right.identity, key)
    right.know(left.identity, key)


@contextmanager
def machines(place: Path, *names: str, **relay: Any) -> Iterator[list[Machine]]:
    """Machines whose hubs are ended with the block."""
    made = [Machine(place, name, **relay) for name in names]
    try:
        yield made
    finally:
        for machine in made:
            machine.close()
