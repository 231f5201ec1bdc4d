"""The servers of the fan-out rows, each on a private socket in a private folder, and the one client that loads them.

In a flood servers have the first CPU and the client the last, so that none of them can take the client's time for its
own. Where delays are measured nothing is pinned: a busy neighbour on one CPU would be all that is seen.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.context import Context
from benchmarks.harness import NotMeasured
from benchmarks.processes import Stage, until
from benchmarks.workloads import PROGRAMS
from hopline.settings import MAX_SOCKET_PATH_BYTES

PAYLOAD_BYTES = 500
WINDOW = 2048
"""How many messages the publisher may be ahead of the slowest reader in a flood: 1 MB."""

OURS_ENVIRONMENT = {
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(32 << 20),
    "MALLOC_TOP_PAD_": str(4 << 20),
}
"""What a run server asks of malloc when it starts."""


class Measured(msgspec.Struct, frozen=True):
    """What the client says at its end."""

    deliveries: int
    published: int
    seconds: float
    cpu_seconds: float
    """Of the server, while it was measured."""
    kb_before: int
    """Resident memory of the server before the first subscriber, and at the end."""
    kb_after: int
    timed: int
    p50_ms: float
    p99_ms: float
    client_cpu_seconds: float

    @property
    def rate(self) -> float:
        """Deliveries a second."""
        return self.deliveries / self.seconds

    @property
    def cpu_micros(self) -> float:
        """Microseconds of the server's CPU a delivery."""
        return self.cpu_seconds / max(1, self.deliveries) * 1e6


@dataclass(frozen=True, slots=True)
class Serving:
    """A server that takes subscribers.

    Attributes:
        wire: what its client speaks.
        subscribe: where, a path or a port; `publish` likewise.
    """

    wire: str
    pid: int
    subscribe: str
    publish: str
    store_id: str = ""

    def over(self, wire: str, port: int) -> "Serving":
        """The same server through its gateway."""
        return Serving(wire, self.pid, str(port), self.publish, self.store_id)


@dataclass(frozen=True, slots=True)
class Load:
    """What a client does.

    Attributes:
        rate: messages a second; 0 for as many as are taken.
        stalled: further subscribers that never read.
    """

    subscribers: int
    rate: int = 0
    stalled: int = 0
    warm_seconds: float = 1.0
    seconds: float = 2.0


def client(context: Context) -> Path:
    """The compiled client. Raises NotMeasured without a C compiler: in Python it would be slower than the servers."""
    program = context.folder / "fanout"
    if program.exists():
        return program
    compiler = shutil.which("gcc") or shutil.which("cc")
    if context.programs.kind != "C" or compiler is None:
        raise NotMeasured("needs a C compiler: a client in Python is slower than the servers")
    subprocess.run([compiler, "-O2", "-o", str(program), str(PROGRAMS / "fanout.c")], check=True, capture_output=True)
    return program


def on_cpu(number: int) -> list[str]:
    """argv that puts a program on the first (0) or the last (-1) CPU, where there are two and `taskset`."""
    cpus = sorted(os.sched_getaffinity(0))
    return ["taskset", "-c", str(cpus[number])] if len(cpus) > 1 and shutil.which("taskset") else []


@contextmanager
def short_room(context: Context) -> Iterator[Path]:
    """A folder whose sockets' paths are short enough."""
    with context.room("f") as room:
        if len(str(room)) + 4 > MAX_SOCKET_PATH_BYTES:
            raise NotMeasured(f"{room} is too long for a socket's path")
        yield room


@contextmanager
def hopline(context: Context, wire: str, events: int = 0, *, pinned: bool = True) -> Iterator[Serving]:
    """programs/fanout_server.py, reached over `wire` (unix or web), with so many events to begin with."""
    with short_room(context) as room, context.stage() as stage:
        stdin, into_stdin = stage.pipe()
        said, into_said = stage.pipe()
        argv = [context.program("python"), PROGRAMS / "fanout_server.py", room, str(events)]
        if pinned:
            argv = [*on_cpu(0), *argv]
        pid = stage.start(argv, env=OURS_ENVIRONMENT, stdin=stdin, stdout=into_said)
        stage.close(stdin, into_said)
        told: dict[str, Any] = json.loads(os.read(said, 4096) or b"{}")
        if not told:
            raise RuntimeError("the server of the fan-out rows did not start")
        serving = Serving("unix", pid, f"{room}/s", f"{room}/p", told["store_id"])
        yield serving if wire == "unix" else serving.over(wire, told["port"])
        stage.close(into_stdin)
        stage.finish(pid, 10)


@contextmanager
def redis(context: Context) -> Iterator[Serving]:
    """redis-server on a Unix socket, without persistence and without its bound on a slow subscriber."""
    with short_room(context) as room, context.stage() as stage:
        program = found("redis-server")
        options = f"--port 0 --unixsocket {room}/s --dir {room} --appendonly no --save".split()
        limit = ["--client-output-buffer-limit", "pubsub 0 0 0"]
        pid = stage.start([*on_cpu(0), program, *options, "", *limit])
        wait_listening(f"{room}/s")
        yield Serving("redis", pid, f"{room}/s", f"{room}/s")


@contextmanager
def nats(context: Context) -> Iterator[Serving]:
    """nats-server on a free port of loopback; it has no Unix sockets."""
    with context.stage() as stage:
        program = found("nats-server")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        pid = stage.start([*on_cpu(0), program, "-a", "127.0.0.1", "-p", str(port)])
        wait_listening(str(port))
        yield Serving("nats", pid, str(port), str(port))


def found(program: str) -> str:
    """Its path. Raises NotMeasured without it."""
    path = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None:
        raise NotMeasured(f"{program} is not installed; scripts/system-packages.sh bench installs it")
    return path


def wait_listening(where: str) -> None:
    """Return when something accepts there. Raises TookTooLong."""
    path = where.startswith("/")
    for _ in until(10, 0.02):
        with socket.socket(socket.AF_UNIX if path else socket.AF_INET) as end, contextlib.suppress(OSError):
            end.connect(where if path else ("127.0.0.1", int(where)))
            return


def loaded(context: Context, serving: Serving, load: Load) -> Measured:
    """One load on a server that has had none. Raises RuntimeError with what the client said when it failed."""
    argv = [
        *(() if load.rate else on_cpu(-1)),
        client(context),
        serving.wire,
        serving.subscribe,
        serving.publish,
        serving.pid,
    ]
    argv += [load.subscribers, load.stalled, load.rate, WINDOW, load.warm_seconds * 1000, load.seconds * 1000]
    words = [str(int(word)) if isinstance(word, float) else str(word) for word in argv]
    with context.stage() as stage:
        return _finished(stage, words, load.warm_seconds + load.seconds + 60)


def _finished(stage: Stage, words: list[str], seconds: float) -> Measured:
    said, into_said = stage.pipe()
    complaint, into_complaint = stage.pipe()
    pid = stage.start(words, stdout=into_said, stderr=into_complaint)
    stage.close(into_said, into_complaint)
    ended = stage.finish(pid, seconds)
    if ended.status != 0:
        raise RuntimeError(os.read(complaint, 4096).decode().strip() or f"the client ended with {ended.status}")
    return msgspec.json.decode(os.read(said, 65536), type=Measured)
