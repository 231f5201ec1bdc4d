"""One ssh channel: a command on another machine with one connected descriptor for its stdin and stdout.

A channel carries one role of the client wire (docs/wire/bridge.md). How it ended is told by the bridge's exit status
and its one line on stderr; ssh's own failures are told in ssh's words.
"""

import os
import select
import shlex
import signal
import socket
from collections.abc import Sequence

import msgspec

from hopline.client.connection import Connection
from hopline.client.targets import OverSsh
from hopline.errors import ConnectDenied, ConnectFailed, HoplineError, RunGone, Unavailable, UsageError

ALIVE_OPTIONS = ("-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3")
"""A line that is dead for 45 s is given up, which the bridge leaves to ssh."""

LEAVE_SECONDS = 2.0
"""How long ssh may take to leave once we have hung up; then it is ended."""

SSH_FAILED = 255
NOT_FOUND = 127
COMPLAINT_BYTES = 4096


class _End(msgspec.Struct):
    """The bridge's line on stderr."""

    outcome: str
    exit_status: int
    detail: str


_end = msgspec.json.Decoder(_End)


def ssh_command(target: OverSsh, remote: Sequence[str]) -> list[str]:
    """The command that runs `remote` on the target's host; HOPLINE_SSH replaces everything before it.

    Raises UsageError when HOPLINE_SSH cannot be taken apart.
    """
    override = os.environ.get("HOPLINE_SSH", "")
    try:
        prefix = shlex.split(override)
    except ValueError as error:
        raise UsageError(f"HOPLINE_SSH is {override!r}, which is no command: {error}.") from error
    if not prefix:
        port = () if target.port is None else ("-p", str(target.port))
        prefix = ["ssh", "-T", *ALIVE_OPTIONS, *port, "--", target.host]
    return [*prefix, *map(shlex.quote, remote)]


class SshChannel:
    """A started ssh. `take_socket` gives its one end; `explain` says how it ended; `close` sees it off.

    Ctrl-C at a terminal does not reach it, so that an interrupt for the worker does not cut the line it takes.

    Args:
        target: where.
        remote: what runs there.

    Raises Unavailable when ssh cannot be started.
    """

    def __init__(self, target: OverSsh, remote: Sequence[str]) -> None:
        self.host = target.host
        command = ssh_command(target, remote)
        ours, theirs = socket.socketpair()
        self._socket: socket.socket | None = ours
        self._complaints = os.memfd_create("hopline-ssh-errors")
        self._status: int | None = None
        try:
            with theirs:
                self._pid = os.posix_spawnp(
                    command[0],
                    command,
                    os.environ,
                    file_actions=[
                        (os.POSIX_SPAWN_DUP2, theirs.fileno(), 0),
                        (os.POSIX_SPAWN_DUP2, theirs.fileno(), 1),
                        (os.POSIX_SPAWN_DUP2, self._complaints, 2),
                    ],
                    setsigmask=[signal.SIGINT, signal.SIGQUIT],
                    setsigdef=[signal.SIGPIPE],
                )
        except OSError as error:
            ours.close()
            os.close(self._complaints)
            raise Unavailable(f"cannot start {command[0]}: {error.strerror}; set HOPLINE_SSH to what does.") from error

    def take_socket(self) -> socket.socket:
        """The descriptor, once; the caller's from now on."""
        taken, self._socket = self._socket, None
        assert taken is not None, "its socket was taken before"
        return taken

    def put_back(self, taken: socket.socket) -> None:
        """The socket that was taken, for somebody else to take."""
        self._socket = taken

    def explain(self, seconds: float = LEAVE_SECONDS) -> HoplineError | None:
        """Why it ended, waiting up to `seconds` for that; None for an ordinary end, or when it has not ended."""
        status = self._wait(seconds)
        if status is None or status in (0, 3):
            return None
        return ssh_failure(status, self._complaint(), self.host)

    def close(self, seconds: float = LEAVE_SECONDS) -> None:
        """Hang up if that was left to us, and reap; past `seconds` it is ended. A second time does nothing."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._wait(seconds) is None:
            os.kill(self._pid, signal.SIGTERM)
            if self._wait(seconds) is None:
                os.kill(self._pid, signal.SIGKILL)
                self._wait(seconds)
        if self._complaints >= 0:
            os.close(self._complaints)
            self._complaints = -1

    def _wait(self, seconds: float) -> int | None:
        """Its exit status, 128 + signal; None when it is still there after `seconds`."""
        if self._status is None:
            descriptor = os.pidfd_open(self._pid)
            try:
                poller = select.poll()
                poller.register(descriptor, select.POLLIN)
                if poller.poll(seconds * 1000):
                    self._status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
            finally:
                os.close(descriptor)
        if self._status is not None and self._status < 0:
            return 128 - self._status
        return self._status

    def _complaint(self) -> str:
        if self._complaints < 0:
            return ""
        size = os.fstat(self._complaints).st_size
        start = max(0, size - COMPLAINT_BYTES)
        return os.pread(self._complaints, COMPLAINT_BYTES, start).decode("utf-8", "replace")


class SshConnection(Connection):
    """A blocking connection over a channel, which is owned from now on.

    An end before the first answer is explained by the error that it means.
    """

    def __init__(self, channel: SshChannel) -> None:
        descriptor = channel.take_socket().detach()
        super().__init__(descriptor, descriptor, f"the bridge on {channel.host}")
        self._channel = channel
        self._heard = False

    def fill(self) -> bool:
        """As Connection's. Raises RunGone, ConnectDenied, Unavailable when the bridge could not be had."""
        more = super().fill()
        if not more and not self._heard and (error := self._channel.explain()) is not None:
            raise error
        self._heard = self._heard or more
        return more

    def close(self) -> None:
        """Hang up and see ssh off."""
        super().close()
        self._channel.close()


def ssh_failure(status: int, complaint: str, host: str) -> HoplineError:
    """The error that an exit status other than 0 and 3 means, with what was said on stderr. Pure."""
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    last = "".join(character for character in lines[-1] if character.isprintable()) if lines else ""
    if status == SSH_FAILED:
        return Unavailable(f"ssh to {host} failed: {last or 'it said nothing'}")
    if status == NOT_FOUND:
        return Unavailable(f"{host} has no hopline on its PATH ({last}); install it there.")
    try:
        detail = _end.decode(last.encode()).detail
    except msgspec.MsgspecError:
        return Unavailable(f"the bridge on {host} ended with status {status}: {last or 'it said nothing'}")
    kind = {2: UsageError, 4: RunGone, 5: ConnectDenied, 6: ConnectFailed}.get(status, Unavailable)
    return kind(f"{host}: {detail}")
