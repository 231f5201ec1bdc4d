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
from hopline.worker import descriptors, survivors

PIPE_BYTES = 1024 * 1024
"""Asked for on the relay's event pipe; the kernel's bound for an unprivileged user may make it less."""

_BOOT = "import sys; sys.path[:0] = {paths!r}; from hopline.worker.relay import main; sys.exit(main(sys.argv[1:]))"

_SCARCE = frozenset({errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC})


def relay_command(argv: Sequence[str], *, sideband: bool, terminal: tuple[int, int] | None = None) -> list[str]:
    """The command line of a relay for a worker.

    The interpreter is isolated from the worker's environment and folder, which may name other modules; it finds the
    very modules that this process runs.
    """
    paths = list(dict.fromkeys(str(Path(module.__file__ or "").parents[1]) for module in (hopline, msgspec)))
    options = ["--patient", "--own-group"] if sideband else ["--patient", "--own-group", "--no-sideband"]
    if terminal is not None:
        options.append("--pty={}x{}".format(*terminal))
    if (limit := descriptors.of_worker()) is not None:
        options.append(f"--descriptors={limit}")
    return [sys.executable, "-I", "-S", "-c", _BOOT.format(paths=paths), *options, "--", *argv]


class Launcher:
    """One child process, this end of its three pipes, and the fact of its end.

    Attributes:
        pid: of the child; never to be signalled but through `signal`.
        commands, events, diagnostics: nonblocking descriptors of its fd 0, 1 and 2, which their owner closes.
        exited: set when it was reaped, or given up.
        status: its exit status as `subprocess` gives it, negative for a signal; None until it was reaped.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", pidfd: int, pipes: tuple[int, int, int]) -> None:
        self.pid = process.pid
        self.commands, self.events, self.diagnostics = pipes
        self.exited = asyncio.Event()
        self.status: int | None = None
        self._process = process
        self._pidfd = pidfd
        self._loop = asyncio.get_running_loop()
        # The pidfd tells of the exit even when a descendant holds the pipes.
        self._loop.add_reader(pidfd, self._reap)

    def signal(self, number: int) -> bool:
        """Send a signal; False, and nothing is sent, once the child was reaped."""
        if self.status is not None:
            return False
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)
        return True

    def give_up(self) -> None:
        """Nobody waits for the child any more; it is still reaped if it ever ends."""
        self.exited.set()

    def _reap(self) -> None:
        self.status = self._process.wait()
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        survivors.disown(self.pid)
        survivors.reap_adopted()
        self.exited.set()


def start(command: Sequence[str], *, cwd: str, env: dict[str, str], pass_fds: Sequence[int] = ()) -> Launcher:
    """Start a launcher in the server's session, in a process group of its own.

    What signals that group reaches this generation at most, never the server. Raises Refused when the folder is not
    there or the command line cannot be one, Unavailable when the machine has no descriptors, processes or memory left;
    then nothing was started and nothing is left open.
    """
    with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
        try:
            child_in, commands = _pipe(theirs, ours)
            events, child_out = _pipe(ours, theirs)
            diagnostics, child_err = _pipe(ours, theirs)
            with contextlib.suppress(OSError):
                fcntl.fcntl(events, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            process = survivors.start_own(
                command,
                stdin=child_in,
                stdout=child_out,
                stderr=child_err,
                cwd=cwd,
                env=env,
                pass_fds=pass_fds,
                process_group=0,
            )
            pidfd = _pin(process)
        except OSError as error:
            raise explained(error, command[0], cwd) from error
        except ValueError as error:
            raise Refused(f"this cannot be a command line and environment: {error}.") from error
        pipes = (commands, events, diagnostics)
        for descriptor in pipes:
            os.set_blocking(descriptor, False)
        ours.pop_all()
    return Launcher(process, pidfd, pipes)


def _pipe(reader: contextlib.ExitStack, writer: contextlib.ExitStack) -> tuple[int, int]:
    read, write = os.pipe2(os.O_CLOEXEC)
    reader.callback(os.close, read)
    writer.callback(os.close, write)
    return read, write


def _pin(process: "subprocess.Popen[bytes]") -> int:
    try:
        return os.pidfd_open(process.pid)
    except OSError:
        process.kill()
        process.wait()
        survivors.disown(process.pid)
        raise


def explained(error: OSError, program: str, cwd: str) -> Refused | Unavailable:
    """What kept a launcher from being started, for a person."""
    if error.filename == cwd:
        return Refused(f"cannot enter {cwd}: {error.strerror}; start the run in a folder that is there.")
    if error.errno == errno.E2BIG:
        return Refused("the command line and environment are too long for this machine; pass data by stdin or a file.")
    if error.errno in _SCARCE:
        return Unavailable(
            f"cannot start a process: {error.strerror}; end some processes or raise `ulimit`, then retry."
        )
    return Unavailable(f"cannot start {program}: {error.strerror}.")
