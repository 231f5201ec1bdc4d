"""Starts a generation's launcher, the one child of the run server, and is the only place that signals or reaps it.

The launcher is the relay itself, or the native runner that the relay runs in.
"""

import asyncio
import contextlib
import errno
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

import hopline
from hopline.errors import Refused, Unavailable
from hopline.worker import survivors

PIPE_BYTES = 1024 * 1024
"""Asked for on the relay's event pipe; the kernel's bound for an unprivileged user may make it less."""

_BOOT = "import sys; sys.path[:0] = {paths!r}; from hopline.worker.relay import main; sys.exit(main(sys.argv[1:]))"

_SCARCE = frozenset({errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC})


def relay_command(argv: Sequence[str], *, sideband: bool) -> list[str]:
    """The command line of a relay for a worker.

    The interpreter is isolated from the worker's environment and folder, which may name other modules; it finds the
    very modules that this process runs.
    """
    paths = list(dict.fromkeys(str(Path(module.__file__ or "").parents[1]) for module in (hopline, msgspec)))
    options = ["--patient"] if sideband else ["--patient", "--no-sideband"]
    return [sys.executable, "-I", "-S", "-c", _BOOT.format(paths=paths), *options, "--", *argv]


class Launcher:
    """One child process, its three pipes, and the fact of its end.

    Attributes:
        pid: of the child; never to be signalled but through `signal`.
        commands: descriptor of its fd 0, nonblocking; the owner closes it.
        events: descriptor of its fd 1, nonblocking; the owner closes it.
        diagnostics: descriptor of its fd 2, nonblocking; the owner closes it.
        exited: set when it was reaped.
        status: its exit status as `subprocess` gives it, negative for a signal; None until it was reaped.
    """

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self.pid = process.pid
        self.commands = _detach(process.stdin.fileno())
        self.events = _detach(process.stdout.fileno())
        self.diagnostics = _detach(process.stderr.fileno())
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()
        with contextlib.suppress(OSError):
            fcntl.fcntl(self.events, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self.exited = asyncio.Event()
        self.status: int | None = None
        self._process = process
        self._pidfd = os.pidfd_open(process.pid)
        self._loop = asyncio.get_running_loop()
        # The pidfd tells of the exit even when a descendant holds the pipes.
        self._loop.add_reader(self._pidfd, self._reap)

    def signal(self, number: int) -> bool:
        """Send a signal; False, and nothing is sent, once the child was reaped."""
        if self.status is not None:
            return False
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)
        return True

    def _reap(self) -> None:
        self.status = self._process.wait()
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        survivors.disown(self.pid)
        survivors.reap_adopted()
        self.exited.set()


def start(command: Sequence[str], *, cwd: str, env: dict[str, str], pass_fds: Sequence[int] = ()) -> Launcher:
    """Start a launcher in the server's session, in a process group of its own.

    A worker's `kill 0` therefore reaches its own relay at most, never the server. Raises Refused when the folder is
    not there or the command line is too long, Unavailable when the machine has no descriptors, processes or memory
    left.
    """
    try:
        process = survivors.start_own(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=env,
            pass_fds=pass_fds,
            process_group=0,
            bufsize=0,
        )
    except OSError as error:
        raise _explained(error, command, cwd) from error
    return Launcher(process)


def _explained(error: OSError, command: Sequence[str], cwd: str) -> Refused | Unavailable:
    if error.filename == cwd:
        return Refused(f"cannot enter {cwd}: {error.strerror}; start the run in a folder that is there.")
    if error.errno == errno.E2BIG:
        return Refused("the command line and environment are too long for this machine; pass data by stdin or a file.")
    if error.errno in _SCARCE:
        return Unavailable(
            f"cannot start a process: {error.strerror}; end some processes or raise `ulimit`, then retry."
        )
    return Unavailable(f"cannot start {command[0]}: {error.strerror}.")


def _detach(descriptor: int) -> int:
    copy = os.dup(descriptor)
    os.set_blocking(copy, False)
    return copy
