"""One connection to a run server: blocking, over any pair of descriptors, so that a bridge serves as well as a socket.

One connection carries one role: requests one after another, or one subscription (docs/wire/client.md, "Roles").
"""

import errno
import os
import select
import time
from collections import deque
from pathlib import Path

import msgspec

from hopline.errors import ConnectDenied, ConnectFailed, Refused, RunGone, Unavailable
from hopline.settings import private_folder, runtime_folder
from hopline.wire.client.requests import QueryEvents, Request, encode_request
from hopline.wire.client.responses import Response, ResponseRefused, decode_response
from hopline.wire.client.streams import MAX_LINE_BYTES
from hopline.wire.jsonl import LineSplitter

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 30.0
"""How long a Response may take, unless the request says more (reference 13)."""

WRITE_SECONDS = 40.0
"""How long the server may take no byte of a request (reference 11.1, status 7)."""

FIRST_ANSWER_SECONDS = 5.0
"""How long a server of this machine may take for its first answer: its loop never blocks, so it is stopped or stuck."""

READ_BYTES = 1 << 20

_UNREAD = ("", "unknown")
"""Request ids of refusals by a server that has not read the request."""

CLIENT_ID = "hopline-" + os.urandom(8).hex()
"""Names this process on every request (WP-IDENTITY)."""


class Connection:
    """Sends requests and gives back whole lines, in order.

    Args:
        read_fd, write_fd: connected descriptors, owned from now on; they may be one and the same.
        peer: what is at the other end, for messages.
        pid: the server's process, of this machine; 0 when it is elsewhere or not known.
    """

    def __init__(self, read_fd: int, write_fd: int, peer: str, pid: int = 0) -> None:
        self.peer = peer
        self._pid = pid
        self._answered = not pid
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._splitter = LineSplitter(MAX_LINE_BYTES)
        self._lines: deque[bytes] = deque()
        self.ended = False
        """The server closed; lines that came before may still be waiting."""

    def fileno(self) -> int:
        """The descriptor to wait on before `fill`."""
        return self._read_fd

    def send(self, request: Request) -> str:
        """Write one request. Returns its id; raises RunGone when the server has left, Unavailable when it is stuck."""
        request_id = os.urandom(16).hex()
        rest = memoryview(encode_request(msgspec.structs.replace(request, request_id=request_id, client_id=CLIENT_ID)))
        try:
            while rest:
                if not _ready(self._write_fd, select.POLLOUT, WRITE_SECONDS):
                    raise Unavailable(f"{self.peer} takes no requests; look at it: hopline doctor")
                rest = rest[os.write(self._write_fd, rest) :]
        except (BrokenPipeError, ConnectionError) as error:
            self._raise_what_was_answered()
            raise RunGone(f"{self.peer} has left; look at the run: hopline ls --all") from error
        return request_id

    def fill(self) -> bool:
        """Read once, as much as is there; waits if nothing is. Returns False at the end of the stream."""
        if self.ended:
            return False
        try:
            data = os.read(self._read_fd, READ_BYTES)
        except ConnectionError:
            data = b""
        if not data:
            self.ended = True
            return False
        for line in self._splitter.receive(data):
            if line is None:
                raise ConnectFailed(f"{self.peer} sent a line of more than {MAX_LINE_BYTES} bytes.")
            self._lines.append(line)
        return True

    def take_line(self) -> bytes | None:
        """The oldest whole line read so far; None when there is none."""
        return self._lines.popleft() if self._lines else None

    def receive(self, seconds: float) -> bytes | None:
        """The next line, waiting up to `seconds`. Returns None at the end of the stream; raises Unavailable.

        A server of this machine that has never answered is given no more than FIRST_ANSWER_SECONDS.
        """
        if not self._answered:
            seconds = min(seconds, FIRST_ANSWER_SECONDS)
        deadline = time.monotonic() + seconds
        while (line := self.take_line()) is None:
            if self.ended:
                return None
            if not _ready(self._read_fd, select.POLLIN, deadline - time.monotonic()):
                raise Unavailable(self._silence(seconds))
            self.fill()
        self._answered = True
        return line

    def ask(self, request: Request, seconds: float = ANSWER_SECONDS) -> Response:
        """The Response to `request`. Raises Refused when it failed, RunGone when the server left before answering."""
        request_id = self.send(request)
        while (line := self.receive(seconds)) is not None:
            response = answer(line, self.peer)
            if response.request_id in (request_id, *(() if response.ok else _UNREAD)):
                return accepted(response)
        raise RunGone(f"{self.peer} left before it answered; look at the run: hopline ls --all")

    def check(self, seconds: float = FIRST_ANSWER_SECONDS) -> None:
        """Ask for nothing, to see that the server answers before a command is sent. Raises as `ask` does."""
        self.ask(QueryEvents(after_sequence=0, before_sequence=1), seconds)

    def _silence(self, seconds: float) -> str:
        if self._pid:
            return f"{self.peer} (pid {self._pid}) does not answer; it may be stopped: kill -CONT {self._pid}"
        return f"{self.peer} did not answer within {seconds:g} s; look at it: hopline doctor"

    def _raise_what_was_answered(self) -> None:
        """A server that hangs up before it reads, such as one with too many connections, has said why."""
        try:
            while _ready(self._read_fd, select.POLLIN, 0) and self.fill():
                pass
        except (OSError, ConnectFailed):
            return
        while (line := self.take_line()) is not None:
            try:
                response = answer(line, self.peer)
            except ConnectFailed:
                continue
            accepted(response)

    def close(self) -> None:
        """Hang up; a second time does nothing."""
        for descriptor in {self._read_fd, self._write_fd} - {-1}:
            os.close(descriptor)
        self._read_fd = self._write_fd = -1
        self.ended = True

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def answer(line: bytes, peer: str) -> Response:
    """The Response in `line`. Raises ConnectFailed when it is none."""
    try:
        return decode_response(line)
    except ResponseRefused as error:
        raise ConnectFailed(f"{peer}: {error}") from error


def accepted(response: Response) -> Response:
    """`response` itself when it succeeded. Raises Refused with the server's sentence and hint otherwise."""
    if response.ok:
        return response
    diagnostic = response.diagnostic
    if diagnostic is None:
        raise Refused(response.error or "the run refused the request.")
    parts = [part.strip().rstrip(".") for part in (diagnostic.summary, diagnostic.detail, diagnostic.hint) if part]
    raise Refused("; ".join(parts) + ".", code=diagnostic.code)


def connect(path: str) -> Connection:
    """A connection to the run server that listens at socket `path`.

    Raises RunGone when nothing listens there, ConnectDenied when it is not ours, ConnectFailed otherwise.
    """
    import socket

    if Path(path).is_relative_to(runtime_folder()) and runtime_folder().exists():
        private_folder(runtime_folder())
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        end.settimeout(CONNECT_SECONDS)
        end.connect(path)
        pid = _check_owner(end, path)
        end.setblocking(True)
    except OSError as error:
        end.close()
        raise _told(error, path) from error
    except ConnectDenied:
        end.close()
        raise
    descriptor = end.detach()
    return Connection(descriptor, descriptor, "the run's server", pid)


def _check_owner(end: "object", path: str) -> int:
    """The pid of whoever listens, 0 when the system does not tell. Raises ConnectDenied when it is not ours."""
    import socket
    import struct

    assert isinstance(end, socket.socket)
    if not hasattr(socket, "SO_PEERCRED"):
        return 0
    credentials = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, uid, _ = struct.unpack("3i", credentials)
    if uid not in (os.getuid(), 0):
        raise ConnectDenied(f"{path} is served by user {uid}, not by you; remove it or set XDG_RUNTIME_DIR.")
    return int(pid)


def _told(error: OSError, path: str) -> Exception:
    if error.errno in (errno.ENOENT, errno.ECONNREFUSED):
        return RunGone(f"nothing listens at {path}; the run has ended or its server was killed: hopline doctor")
    if error.errno in (errno.EACCES, errno.EPERM):
        return ConnectDenied(f"you may not connect to {path}; it belongs to somebody else.")
    return ConnectFailed(f"cannot connect to {path}: {error.strerror or 'no answer in time'}; try: hopline doctor")


def _ready(descriptor: int, events: int, seconds: float) -> bool:
    poller = select.poll()
    poller.register(descriptor, events)
    return bool(poller.poll(max(0.0, seconds) * 1000))
