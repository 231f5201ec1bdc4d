"""A real claudectl as the other machine: links, conversations and leases, both ways.

It is built from crates.io at a named version, once, below the user's cache folder; that takes some minutes and cargo.
CLAUDECTL names a binary that is there already.
"""

import hashlib
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hub_machines import Machine, machines, wait_for

VERSION = "0.92.4"
BUILD_SECONDS = 1200
pytestmark = pytest.mark.timeout(BUILD_SECONDS + 300)


@pytest.fixture(name="binary", scope="session")
def _binary() -> str:
    if named := os.environ.get("CLAUDECTL"):
        return named
    if shutil.which("cargo") is None:
        pytest.skip("no cargo here to build claudectl with")
    root = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "hopline-tests" / f"claudectl-{VERSION}"
    if not (root / "bin" / "claudectl").exists():
        words = ["cargo", "install", "claudectl", "--version", VERSION, "--debug", "--root", str(root)]
        subprocess.run(words, check=True, capture_output=True, timeout=BUILD_SECONDS)
    return str(root / "bin" / "claudectl")


class Claudectl:
    """One home of claudectl, with its relay serving on loopback."""

    def __init__(self, binary: str, home: Path) -> None:
        self.home = home
        self._binary = binary
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        home.mkdir()
        self.set_authority("")
        self.identity = self.run("relay", "identity").split()[-1]
        self._serving: subprocess.Popen[bytes] | None = None

    def set_authority(self, identity: str) -> None:
        folder = self.home / ".config" / "claudectl"
        folder.mkdir(parents=True, exist_ok=True)
        lines = ["[relay]", f"listen_port = {self.port}", 'listen_addr = "127.0.0.1"', "lan_announce = false"]
        lines += [f'lease_authority = "{identity}"'] if identity else []
        (folder / "config.toml").write_text("\n".join([*lines, ""]))

    def done(self, *words: str) -> "subprocess.CompletedProcess[str]":
        env = {"HOME": str(self.home), "PATH": os.environ["PATH"], "TERM": "dumb"}
        return subprocess.run(
            [self._binary, *words],
            env=env,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def run(self, *words: str) -> str:
        done = self.done(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def learn(self, hub: Machine) -> None:
        """Dial the hub once: it keeps the addresses that it dialled."""
        words = [self._binary, "relay", "connect", f"127.0.0.1:{hub.address[1]}"]
        env = {"HOME": str(self.home), "PATH": os.environ["PATH"], "TERM": "dumb"}
        dialling = subprocess.Popen(
            words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_for(lambda: hub.connected(self.identity), "the link that it dialled")
        dialling.terminate()
        dialling.wait(20)

    def serve(self) -> None:
        words = [self._binary, "relay", "serve", "--port", str(self.port)]
        env = {"HOME": str(self.home), "PATH": os.environ["PATH"], "TERM": "dumb"}
        self._serving = subprocess.Popen(
            words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def stop(self) -> None:
        if self._serving is not None:
            self._serving.terminate()
            self._serving.wait(20)
            self._serving = None


@pytest.fixture(name="both")
def _both(binary: str) -> Iterator[tuple[Machine, Claudectl]]:
    with TemporaryDirectory(prefix="hl-") as place, machines(Path(place), "a", heartbeat_interval_secs=30) as (hub,):
        other = Claudectl(binary, Path(place) / "other")
        try:
            hub.start()
            code = next(line for line in hub.run("peer", "pair").stdout.decode().splitlines() if "code:" in line)
            other.run("relay", "accept", code.split()[-1], hub.identity)
            other.learn(hub)
            other.serve()
            wait_for(lambda: hub.run("peer", "connect", f"127.0.0.1:{other.port}").returncode == 0, "the link")
            wait_for(lambda: hub.connected(other.identity), "the link in peer ls")
            yield hub, other
        finally:
            other.stop()


def test_the_link_is_proto_1_with_binary_frames_and_leases(both: tuple[Machine, Claudectl]) -> None:
    hub, other = both
    row = hub.row(other.identity)
    assert (row["proto"], row["framing"]) == (1, "frame-bin")
    assert set(row["features"]) == {"frame-bin", "lease-fleet", "unknown-ok"}


def test_conversations_go_both_ways_with_the_same_sha_256(both: tuple[Machine, Claudectl]) -> None:
    hub, other = both
    path = hub.user_home / "talk.jsonl"
    path.write_text("".join(json.dumps({"type": "user", "n": n, "text": "w" * 60}) + "\n" for n in range(30_000)))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    project = other.home / "project"  # a claudectl refuses, without a word, a folder that it has not got
    project.mkdir()
    words = ("session", "send", other.identity, "out-1", "--transcript", str(path), "--cwd", str(project))
    sent = hub.told(*words, seconds=60)
    assert (sent["state"], sent["digest"]) == ("received", digest)
    placed = Path(sent["remote_path"])
    assert placed.is_relative_to(other.home)
    assert hashlib.sha256(placed.read_bytes()).hexdigest() == digest
    told = other.run("relay", "send-session", hub.identity, "talk", "--transcript", str(path), "--cwd", "/srv/q")
    assert "--fork-session" in told
    here = hub.user_home / ".claude" / "projects" / "-srv-q" / "talk.jsonl"
    assert hashlib.sha256(here.read_bytes()).hexdigest() == digest


def test_our_hub_keeps_its_leases(both: tuple[Machine, Claudectl]) -> None:
    hub, other = both
    hub.write_settings(lease_authority=hub.identity)
    other.set_authority(hub.identity)
    other.run("coord", "claim", "--session", "s1", "--path", "src/**", "--fleet", "--ttl", "120")
    refused = hub.run("lease", "claim", "path_glob:src/a.py", "--session", "me")
    assert refused.returncode == 1
    assert f"s1@{other.identity}".encode() in refused.stderr
    (lease,) = hub.told("lease", "ls")["leases"]
    other.run("coord", "release", lease["id"], "--fleet", "--session", "s1")
    assert hub.run("lease", "claim", "path_glob:src/a.py", "--session", "me").returncode == 0
    assert other.done("coord", "claim", "--session", "s1", "--path", "src/a.py", "--fleet").returncode != 0


def test_it_keeps_ours(both: tuple[Machine, Claudectl]) -> None:
    hub, other = both
    other.set_authority(other.identity)
    other.stop()
    other.serve()
    hub.write_settings(lease_authority=other.identity)
    claim = ("lease", "claim", "path_glob:docs/", "--session", "me", "--ttl", "2m")
    wait_for(lambda: hub.run(*claim).returncode == 0, "the lease", 40)
    assert hub.run("lease", "claim", "path_glob:docs/a", "--session", "you").returncode == 1
    (lease,) = hub.told("lease", "ls")["leases"]
    assert lease["owner_session_id"] == f"me@{hub.identity}"
    assert hub.run("lease", "release", "path_glob:docs/", "--session", "me").returncode == 0
    assert hub.told("lease", "ls")["leases"] == []
