"""Connects to a run's socket, within a deadline; a failure is the end of a bridge that never began."""

import errno
import os
import socket
import struct
from pathlib import Path

from hopline.errors import ConnectDenied, HoplineError
from hopline.serve.bridge import BridgeLimits
from hopline.serve.bridge_outcomes import ChannelEnd, Outcome
from hopline.settings import private_folder, runtime_folder

_OUTCOMES = {
    errno.ENOENT: Outcome.RUN_GONE,
    errno.ENOTDIR: Outcome.RUN_GONE,
    errno.ECONNREFUSED: Outcome.RUN_GONE,
    errno.EACCES: Outcome.CONNECT_DENIED,
    errno.EPERM: Outcome.CONNECT_DENIED,
}

_SHOWN = {
    Outcome.RUN_GONE: "nothing listens at {path}; the run has ended or was never there: hopline ls --all",
    Outcome.CONNECT_DENIED: "you may not connect to {path}; it belongs to somebody else.",
    Outcome.CONNECT_FAILED: "cannot connect to {path}: {reason}; look at it: hopline doctor",
}


def dial(path: str, limits: BridgeLimits) -> socket.socket | ChannelEnd:
    """A connection to the Unix socket at `path`, or why there is none. Never starts anything (WB-STARTS-NOTHING)."""
    try:
        if Path(path).is_relative_to(runtime_folder()) and runtime_folder().exists():
            private_folder(runtime_folder())
    except ConnectDenied as error:
        return ChannelEnd(Outcome.CONNECT_DENIED, str(error))
    except (OSError, HoplineError) as error:
        return ChannelEnd(Outcome.CONNECT_FAILED, str(error))
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # A full backlog makes a nonblocking connect fail at once; the send timeout makes a blocking one wait for room.
        server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _timeval(limits.connect_timeout_seconds))
        server.connect(path)
    except (OSError, ValueError) as error:
        server.close()
        return _not_connected(path, error, limits)
    server.setblocking(False)
    return server


def dial_own(path: str, limits: BridgeLimits) -> socket.socket | ChannelEnd:
    """As `dial`, for a path that was looked up and not given: only to this user's server or root's (WB-OWN-SERVER)."""
    server = dial(path, limits)
    if isinstance(server, ChannelEnd):
        return server
    credentials = server.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", credentials)
    if uid in (os.getuid(), 0):
        return server
    server.close()
    return ChannelEnd(Outcome.CONNECT_DENIED, f"{path} is served by user {uid}, not by you; set XDG_RUNTIME_DIR.")


def hang_up(server: socket.socket) -> None:
    """Close the connection so that the server reads an ordinary end of stream (WB-CLIENT-END).

    Closing with replies unread would reset it instead: no more may come, then what is there is dropped.
    """
    try:
        server.shutdown(socket.SHUT_RDWR)
        server.setblocking(False)
        while server.recv(1 << 18):
            pass
    except OSError:
        pass  # it has gone already
    server.close()


def _not_connected(path: str, error: OSError | ValueError, limits: BridgeLimits) -> ChannelEnd:
    number = error.errno if isinstance(error, OSError) else None
    outcome = _OUTCOMES.get(number or 0, Outcome.CONNECT_FAILED)
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    if number == errno.EAGAIN:
        reason = f"it did not answer within {limits.connect_timeout_seconds:g} s"
    return ChannelEnd(outcome, _SHOWN[outcome].format(path=path, reason=reason))


def _timeval(seconds: float) -> bytes:
    micros = max(1, round(seconds * 1_000_000))  # zero would wait without end
    return struct.pack("@ll", micros // 1_000_000, micros % 1_000_000)
