"""A relay process under test, ours or the oracle: commands in, timed event lines out, nothing left behind."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent
RELAYS = {
    "hopline": [sys.executable, "-I", "-m", "hopline", "worker-relay"],
    "mcp-console": [str(BIN / "mcp-console"), "worker-relay"],
}
PATIENCE_SECONDS = 30.0
"""How long to wait for what must happen; generous, because machines are noisy."""

PRELUDE = r"""
import json, os, signal, sys, time
def _fd(ending):
    return next((int(value) for name, value in os.environ.items() if name.endswith(ending)), None)
r, w = _fd("_SIDEBAND_READ_FD"), _fd("_SIDEBAND_WRITE_FD")
def write(fd, data):
    data = data.encode() if isinstance(data, str) else data
    while data:
        data = data[os.write(fd, data):]
def put(frame):
    write(w, frame if isinstance(frame, bytes) else json.dumps(frame).encode() + b"\n")
def say(text):
    write(1, text)
def gate(path):
    with open(path, "rb") as fifo:
        fifo.read()
def tell(path):
    os.close(os.open(path, os.O_WRONLY))
def line(fd):
    data = b""
    while not data.endswith(b"\n"):
        byte = os.read(fd, 1)
        if not byte:
            break
        data += byte
    return data
"""


def worker(code: str) -> list[str]:
    """argv of a small Python worker: `put` to the sideband, `say` to stdout, `gate` and `tell` on FIFOs."""
    return [sys.executable, "-S", "-E", "-c", PRELUDE + code]


def fifo(folder: Path, name: str) -> Path:
    """A fresh FIFO."""
    path = folder / name
    os.mkfifo(path)
    return path


def open_gate(path: Path) -> None:
    """Let a worker pass its `gate`; waits until it stands there."""
    os.close(os.open(path, os.O_WRONLY))


def await_gate(path: Path) -> None:
    """Wait until a worker comes to its `tell`."""
    with path.open("rb") as told:
        told.read()


def frame(kind: str, **fields: object) -> bytes:
    """One command line."""
    return json.dumps({"kind": kind, **fields}).encode() + b"\n"


class RelayProcess:
    """One relay and its worker.

    Args:
        relay: argv prefix.
        argv: the worker's.
        reading: False to let the relay's consumer be blocked until `read_on`.
        pass_fds: descriptors that reach the worker through the relay.
        environment: instead of ours.
    """

    def __init__(
        self,
        relay: Sequence[str],
        argv: Sequence[str],
        *,
        reading: bool = True,
        pass_fds: Sequence[int] = (),
        environment: dict[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.started_at = time.monotonic()
        self.process = subprocess.Popen(
            [*relay, *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            pass_fds=pass_fds,
            env=environment,
            cwd=cwd,
            start_new_session=True,
        )
        self.lines: list[tuple[float, bytes]] = []
        """Whole event lines with the time at which they came, in seconds since the start."""
        self.tail = b""
        """What stood after the last newline."""
        self.news = threading.Condition()
        self.ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        if reading:
            self._reader.start()

    def __enter__(self) -> "RelayProcess":
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None and not (pipe is self.process.stdout and self._reader.is_alive()):
                pipe.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE_SECONDS)
        if self._reader.ident is not None:
            self._reader.join(PATIENCE_SECONDS)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        while data := os.read(fd, 1 << 20):
            now = time.monotonic() - self.started_at
            *whole, self.tail = (self.tail + data).split(b"\n")
            with self.news:
                self.lines += [(now, line) for line in whole]
                self.news.notify_all()
        with self.news:
            self.ended = True
            self.news.notify_all()

    def first_event(self) -> dict[str, Any]:
        """Read the first line and not a byte more; the consumer stays blocked."""
        assert self.process.stdout is not None
        line = b""
        while not line.endswith(b"\n"):
            line += os.read(self.process.stdout.fileno(), 1)
        self.lines.append((time.monotonic() - self.started_at, line[:-1]))
        return dict(json.loads(line))

    def read_on(self) -> None:
        """Begin to read the relay's events."""
        self._reader.start()

    def send(self, *lines: bytes) -> None:
        """Write commands in one write, waiting for room. A relay that is gone already takes nothing."""
        assert self.process.stdin is not None
        data = memoryview(b"".join(lines))
        try:
            while data:
                data = data[os.write(self.process.stdin.fileno(), data) :]
        except BrokenPipeError:
            pass

    def close_commands(self) -> None:
        """End of file for the relay's commands."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    @property
    def events(self) -> list[dict[str, Any]]:
        """All events so far."""
        return [json.loads(line) for _, line in list(self.lines)]

    def wait_for(self, kind: str, count: int = 1, where: Callable[[dict[str, Any]], bool] = bool) -> dict[str, Any]:
        """Wait for the `count`-th event of a kind that fulfils `where`, and return it."""

        def found(event: dict[str, Any]) -> bool:
            nonlocal count
            count -= event["kind"] == kind and where(event)
            return count == 0

        return self._wait(found, kind)

    def _wait(self, found: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
        """The first event, from the start, for which `found` is true; it sees each once."""
        at = 0
        deadline = time.monotonic() + PATIENCE_SECONDS
        with self.news:
            while True:
                for _, line in self.lines[at:]:
                    at += 1
                    event = json.loads(line)
                    if found(event):
                        return dict(event)
                left = deadline - time.monotonic()
                if self.ended or left <= 0 or not self.news.wait(left):
                    raise AssertionError(f"no {what!r} came; lines: {[line[:200] for _, line in self.lines[-20:]]}")

    def wait_for_bytes(self, name: str, size: int) -> None:
        """Wait until a raw stream has given `size` bytes.

        The oracle may lose what is still in a pipe when its worker ends (reference, section 17), so its worker has to
        stay until everything was seen.
        """
        got = 0

        def enough(event: dict[str, Any]) -> bool:
            nonlocal got
            got += len(stream([event], name))
            return got >= size

        self._wait(enough, f"{size} bytes of {name}")

    def finish(self, *, close: bool = False) -> list[dict[str, Any]]:
        """Wait for the relay's end and return all its events; what stands after the last newline is in `tail`."""
        if close:
            self.close_commands()
        self.process.wait(PATIENCE_SECONDS)
        self._reader.join(PATIENCE_SECONDS)
        assert not self._reader.is_alive(), "somebody still holds the relay's stdout"
        return self.events

    @property
    def status(self) -> int:
        """Exit status of the relay, which has ended."""
        return self.process.wait(PATIENCE_SECONDS)

    def diagnostics(self) -> str:
        """What the relay said on fd 2, after its end."""
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()

    def time_of(self, kind: str) -> float:
        """When the last event of a kind came, in seconds since the start."""
        return max(at for at, line in self.lines if json.loads(line)["kind"] == kind)

    def resident_bytes(self) -> int:
        """The relay's resident memory now."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


def until(condition: Callable[[], bool]) -> None:
    """Wait for what no pipe can tell, such as the state of a process."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.002)


def process_state(pid: int) -> str:
    """The letter in /proc, or nothing when there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return ""


def until_blocked(pid: int) -> None:
    """Wait until a process that writes a flood has not got anything written for a while."""

    def written() -> str:
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
        return next(line for line in lines if line.startswith("wchar"))

    before, since = written(), time.monotonic()
    while time.monotonic() - since < 0.15:
        time.sleep(0.01)
        if before != (before := written()):
            since = time.monotonic()


def kinds(events: list[dict[str, Any]]) -> list[str]:
    """The kinds in order."""
    return [event["kind"] for event in events]


def stream(events: list[dict[str, Any]], name: str) -> bytes:
    """The exact bytes of one raw stream."""
    import base64

    parts = []
    for event in events:
        if event["kind"] == name:
            parts.append(event["data"].encode())
        elif event["kind"] == f"{name}_bytes":
            parts.append(base64.b64decode(event["data"], validate=True))
    return b"".join(parts)


CLOSURES = ["stdout_closed", "stderr_closed", "worker_sideband_closed"]


def assert_orderly(events: list[dict[str, Any]]) -> None:
    """What holds for every generation: started first, chunks before their closure, closures once, outcome last."""
    order = kinds(events)
    assert order[0] == "worker_started"
    assert order.count("worker_started") == 1
    assert order[-1] in ("worker_exited", "worker_signaled")
    assert [kind for kind in order if kind in CLOSURES] == CLOSURES
    for name in ("stdout", "stderr"):
        assert not {name, f"{name}_bytes"} & set(order[order.index(f"{name}_closed") :])
    assert order.count("fatal") <= 1
