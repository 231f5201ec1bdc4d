"""Real bridges for tests: the process, a server of a few lines at its other end, and how it all ended."""

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hopline.serve.bridge import BridgeLimits

HOPLINE = str(Path(sys.executable).with_name("hopline"))

WITH_LIMITS = """
import json, sys
from hopline.cli.bridge import bridge_socket
from hopline.serve.bridge import BridgeLimits
sys.exit(bridge_socket(sys.argv[1], BridgeLimits(**json.loads(sys.argv[2]))))
"""

AS_NOBODY = """
import json, os, sys
from hopline.cli.bridge import bridge_socket
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
sys.exit(bridge_socket(sys.argv[1]))
"""

OVER_UDP = """
import socket, sys
from hopline.cli.bridge import over_stdio
from hopline.serve.bridge import BridgeLimits
from hopline.serve.bridge_loop import copy
free = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
free.bind(("127.0.0.1", 0))
address = free.getsockname()
free.close()
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.connect(address)
server.setblocking(False)
sys.exit(over_stdio(lambda out: copy(server, 0, out, BridgeLimits())))
"""
"""A socket that the kernel answers with an error: nobody has the port, and the next read says so."""


class FarServer:
    """Listens on a Unix socket in the test's own process."""

    def __init__(self, path: Path, backlog: int = 8) -> None:
        self.path = str(path)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen(backlog)
        self.listener.settimeout(10)
        self.connections: list[socket.socket] = []

    def accept(self) -> socket.socket:
        """The next bridge's connection."""
        connection, _ = self.listener.accept()
        connection.settimeout(10)
        self.connections.append(connection)
        return connection

    def close(self) -> None:
        """Listen no more; the socket file stays, as after a kill."""
        self.listener.close()


class Bridge:
    """A started bridge; fd 0, 1 and 2 are pipes unless the caller gives others."""

    def __init__(self, command: list[str], **streams: Any) -> None:
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
        self.process = subprocess.Popen(command, bufsize=0, **streams)

    def send(self, data: bytes) -> None:
        """Write all of `data` on its stdin."""
        assert self.process.stdin is not None
        rest = memoryview(data)
        while rest:
            rest = rest[self.process.stdin.write(rest) :]

    def end_stdin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def read(self, size: int, seconds: float = 10.0) -> bytes:
        """Exactly `size` bytes of its stdout, or what came before its end."""
        assert self.process.stdout is not None
        descriptor, received = self.process.stdout.fileno(), b""
        deadline = time.monotonic() + seconds
        while len(received) < size:
            assert select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0], received[-200:]
            data = os.read(descriptor, size - len(received))
            if not data:
                break
            received += data
        return received

    def read_line(self) -> bytes:
        """One line of its stdout, and nothing behind it."""
        line = b""
        while not line.endswith(b"\n"):
            data = self.read(1)
            assert data, line
            line += data
        return line

    def ended(self, seconds: float = 10.0) -> tuple[int, dict[str, Any] | None]:
        """Its exit status, and its stderr as the one JSON line that it must be, or None when it said nothing."""
        assert self.process.stderr is not None
        status = self.process.wait(seconds)
        said = self.process.stderr.read()
        self.close_streams()
        if not said:
            return status, None
        assert said.endswith(b"\n") and said.count(b"\n") == 1, said.decode()
        found: dict[str, Any] = json.loads(said)
        assert set(found) == {"outcome", "exit_status", "detail"}
        assert found["exit_status"] == status
        return status, found

    def close_streams(self) -> None:
        """Close our ends of its descriptors."""
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def outcome(self, seconds: float = 10.0) -> tuple[int, str | None]:
        """Its exit status and the outcome that it told."""
        status, said = self.ended(seconds)
        return status, None if said is None else said["outcome"]


class Rig:
    """What one test starts and opens; all of it is gone when it is closed.

    Args:
        place: a short folder for sockets.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self._servers: list[FarServer] = []
        self._bridges: list[Bridge] = []
        self._sockets: list[socket.socket] = []

    def listen(self, name: str = "s", backlog: int = 8) -> FarServer:
        """A server at `place`/`name`."""
        self._servers.append(FarServer(self.place / name, backlog))
        return self._servers[-1]

    def start(self, command: list[str], **streams: Any) -> Bridge:
        """Any program with the bridge's ends."""
        self._bridges.append(Bridge(command, **streams))
        return self._bridges[-1]

    def bridge(self, path: str | Path, limits: BridgeLimits | None = None, **streams: Any) -> Bridge:
        """`hopline bridge --socket PATH`; with `limits`, the same program under other bounds."""
        if limits is None:
            return self.start([HOPLINE, "bridge", "--socket", str(path)], **streams)
        bounds = {name: getattr(limits, name) for name in BridgeLimits.__dataclass_fields__}
        return self.start([sys.executable, "-c", WITH_LIMITS, str(path), json.dumps(bounds)], **streams)

    def dial(self, path: str) -> socket.socket:
        """A plain connection."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._sockets.append(connection)
        connection.connect(path)
        return connection

    def close(self) -> None:
        """End and close everything."""
        for connection in self._sockets:
            connection.close()
        for bridge in self._bridges:
            bridge.process.kill()
            bridge.process.wait()
            bridge.close_streams()
        for server in self._servers:
            server.close()
            for connection in server.connections:
                connection.close()


def receive(connection: socket.socket, size: int) -> bytes:
    """Exactly `size` bytes, or what came before the end."""
    received = b""
    while len(received) < size and (data := connection.recv(size - len(received))):
        received += data
    return received


def until(what: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait for something that nothing announces."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)
