"""Asks this machine's hub, starting it when it does not run. Blocking; one connection, one question at a time."""

import os
import select
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from hopline.client.hub_holder import is_held, read_record
from hopline.client.spawning import DaemonStart, daemon_environment
from hopline.errors import HoplineError, Misuse, Unavailable
from hopline.records import StartFailed
from hopline.settings import hub_socket_path
from hopline.wire.hub.frames import MAX_LINE_BYTES, HubError, HubRequest, decode_reply, encode
from hopline.wire.hub.peers import HubRecord, HubServing

T = TypeVar("T", bound=msgspec.Struct)
P = TypeVar("P", bound=msgspec.Struct)

READ_BYTES = 1 << 16

_report: "msgspec.json.Decoder[HubServing | StartFailed]" = msgspec.json.Decoder(HubServing | StartFailed)


class HubGone(Unavailable):
    """No hub runs for this home."""

    exit_status = 4


class HubLeft(Unavailable):
    """The hub has left before it answered, without a word: it was killed."""


class HubRefused(HoplineError):
    """The hub's refusal: its sentence, its exit status and `code` for programs."""

    def __init__(self, error: HubError) -> None:
        super().__init__(error.message)
        self.exit_status = error.exit_status
        self.code = error.code


class HubClient:
    """A connection to the hub of this home. Close it, or use it as a context manager.

    Args:
        connection: connected to the hub's control socket; owned from now on.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._received = bytearray()

    @classmethod
    def open(cls, start: bool = True) -> Self:
        """Connect to the hub of HOPLINE_HOME, starting one when none runs and `start` is set.

        Raises HubGone without one, Unavailable when it cannot be started or reached.
        """
        connection = _connected()
        if connection is None:
            if not start:
                raise HubGone(_gone())
            start_hub()
            connection = _connected()
            if connection is None:
                raise HubGone("the hub was started and has left already; see why: hopline hub serve")
        return cls(connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up: an operation that is under way is given up by the hub, unless it is one that goes on by itself."""
        self._connection.close()

    def call(
        self,
        op: str,
        args: msgspec.Struct,
        result: type[T],
        progress: tuple[type[P], Callable[[P], None]] | None = None,
    ) -> T:
        """Ask, and wait for the answer as long as the hub takes.

        Args:
            op: `<room>.<verb>`.
            progress: what progress lines hold, and what each is given to.

        Raises HubRefused with the hub's sentence, HubLeft when it leaves before it has answered.
        """
        try:
            self._connection.sendall(encode(HubRequest(op, msgspec.Raw(msgspec.json.encode(args)))))
            while True:
                reply = decode_reply(self._line(op))
                if reply.error is not None:
                    raise HubRefused(reply.error)
                if reply.result is not msgspec.UNSET:
                    return msgspec.json.decode(reply.result, type=result)
                if reply.progress is not msgspec.UNSET and progress is not None:
                    progress[1](msgspec.json.decode(reply.progress, type=progress[0]))
        except msgspec.MsgspecError as error:
            self.close()
            raise Unavailable(
                f"the hub's answer to {op} makes no sense ({error}); restart it: hopline hub stop"
            ) from None
        except OSError as error:
            self.close()
            raise HubLeft(f"the hub has left before it answered {op} ({error.strerror}); try again.") from error

    def left(self, seconds: float) -> bool:
        """Wait until the hub closes this connection. Returns False when it has not by then."""
        poller = select.poll()
        poller.register(self._connection, select.POLLIN)
        return bool(poller.poll(seconds * 1000)) and not self._connection.recv(READ_BYTES)

    def _line(self, op: str) -> bytes:
        searched = 0
        while (end := self._received.find(b"\n", searched)) < 0:
            searched = len(self._received)
            if searched > MAX_LINE_BYTES:
                raise Misuse(f"the hub's answer to {op} has no end")
            data = self._connection.recv(READ_BYTES)
            if not data:
                raise ConnectionResetError(0, "it closed the connection")
            self._received += data
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line


def start_hub() -> HubRecord:
    """Start the hub of HOPLINE_HOME, detached, and wait until it serves. One that serves already is found.

    Raises the error that it reports, Unavailable when it reports nothing.
    """
    environment = {**daemon_environment(), "HOPLINE_SERVER": "hub"}
    return DaemonStart("the hub", ("hub-server", "--detached"), environment).report(b"", _report.decode).record


def _gone() -> str:
    record = read_record() if is_held() else None
    if record is None:
        return "no hub runs here; start it: hopline hub serve"
    return (
        f"the hub of this home (pid {record.pid}) does not answer at {record.socket}: it is about to serve or to "
        "leave, or that socket is not to be seen from here; try again."
    )


def _connected() -> socket.socket | None:
    """By the socket that goes with our XDG_RUNTIME_DIR, else by the one that the hub of this home went by."""
    path = hub_socket_path()
    connection = _connected_at(path)
    if connection is None and is_held() and (record := read_record()) is not None and record.socket != str(path):
        connection = _connected_at(Path(record.socket))
    return connection


def _connected_at(path: Path) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(path))
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    except OSError as error:
        connection.close()
        raise Unavailable(f"cannot reach the hub at {path}: {error.strerror}; check who owns it.") from error
    if path.lstat().st_uid != os.getuid():
        connection.close()
        raise Unavailable(f"{path} belongs to somebody else; set XDG_RUNTIME_DIR to a folder of yours.")
    return connection
