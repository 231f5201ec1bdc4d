"""Hubs of a benchmark: each with a home of its own, paired by their key files, started in the foreground."""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import product
from benchmarks.context import Context
from benchmarks.processes import Stage, until

RIGS = Path(__file__).parent.parent / "tests" / "rigs"


@dataclass(frozen=True, slots=True)
class HubPlace:
    """One machine's home and settings.

    Attributes:
        name: its identity, too.
    """

    context: Context
    stage: Stage
    room: Path
    name: str

    @property
    def peers(self) -> Path:
        """The folder of its keys."""
        return self.room / self.name / "fleet" / "peers"

    @property
    def user_home(self) -> Path:
        """$HOME there; conversations are placed below it."""
        return self.room / f"{self.name}-user"

    @property
    def environment(self) -> dict[str, str]:
        """Of its hub and its commands."""
        return {
            "HOPLINE_HOME": str(self.room / self.name),
            "HOPLINE_CONFIG": str(self.room / f"{self.name}.toml"),
            "HOME": str(self.user_home),
        }

    def make(self, **relay: Any) -> "HubPlace":
        """Its folders, its identity and its settings."""
        self.peers.mkdir(parents=True)
        for folder in (self.peers, self.peers.parent, self.peers.parent.parent):
            folder.chmod(0o700)
        self.user_home.mkdir()
        (self.peers.parent / "identity").write_text(self.name)
        lines = [f"{key} = {json.dumps(value)}" for key, value in {"lan_announce": False, **relay}.items()]
        (self.room / f"{self.name}.toml").write_text("\n".join(["[relay]", *lines, ""]))
        return self

    def know(self, name: str, key: bytes, address: str | None = None) -> None:
        """Pair it with `name`, which it dials at `address`."""
        path = self.peers / f"{name}.key"
        path.write_text(key.hex())
        path.chmod(0o600)
        if address is not None:
            (self.peers / f"{name}.meta").write_text(json.dumps({"addr": address, "last_seen": 0}))

    def serve(self, program: list[str] | None = None, **environment: str) -> dict[str, Any]:
        """Start the hub, or `program` as one, on a free port of loopback; what it says of itself, its pid included."""
        output, into_output = self.stage.pipe()
        argv = [*(program or [product.program(self.context)]), "hub-server", "--json", "--listen", "127.0.0.1:0"]
        with (self.room / f"{self.name}.log").open("wb") as log:
            self.stage.start(
                argv, env=self.environment | environment, stdin=subprocess.DEVNULL, stdout=into_output, stderr=log
            )
        self.stage.close(into_output)
        line = os.read(output, 65536).partition(b"\n")[0]
        if not line:
            raise RuntimeError((self.room / f"{self.name}.log").read_text().strip() or "hub serve said nothing")
        told: dict[str, Any] = json.loads(line)
        return told

    def run(self, *words: str, seconds: float = 120.0) -> bytes:
        """What a command of this machine prints. Raises RuntimeError with its complaint."""
        argv = [product.program(self.context), *words]
        environment = {**self.context.environment, **self.environment}
        done = subprocess.run(argv, env=environment, capture_output=True, timeout=seconds, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode().strip())
        return done.stdout

    def linked(self, name: str, seconds: float = 20.0) -> None:
        """Wait until the link to `name` is up. Raises TookTooLong."""
        for _ in until(seconds, 0.05):
            rows = json.loads(self.run("peer", "ls", "--json"))["peers"]
            if any(row["peer"] == name and row["state"] == "connected" for row in rows):
                return


@contextmanager
def places(context: Context, *names: str, **relay: Any) -> Iterator[list[HubPlace]]:
    """Homes of machines that share the block's stage; what was started ends with it."""
    with context.room("hubs") as room, context.stage() as stage:
        yield [HubPlace(context, stage, room, name).make(**relay) for name in names]


@contextmanager
def pair(context: Context, **relay: Any) -> Iterator[tuple[HubPlace, HubPlace]]:
    """Two machines whose hubs are linked: `near-...` dialled `far-...`."""
    with places(context, "near-00000001", "far-00000002", **relay) as (near, far):
        key = os.urandom(32)
        far.know(near.name, key)
        near.know(far.name, key, far.serve()["listen"])
        near.serve()
        near.linked(far.name)
        yield near, far


@contextmanager
def at_home(place: HubPlace) -> Iterator[None]:
    """This process speaks to the hub of `place`."""
    wanted = {**place.environment, "XDG_RUNTIME_DIR": place.context.environment["XDG_RUNTIME_DIR"]}
    kept = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in kept.items():
            with contextlib.suppress(KeyError):
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
