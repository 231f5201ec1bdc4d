"""Starts the direct worker with fresh pipes or a terminal and default signal dispositions, or says why it cannot.

Source: docs/wire/worker.md, "Processes and descriptors" (WW-CLEAN-START, WW-LAUNCH-FATAL).
"""

import contextlib
import errno
import os
import signal
from functools import partial

from hopline.worker import relay_terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SIDEBAND_READ_FD = "HOPLINE_SIDEBAND_READ_FD"
SIDEBAND_WRITE_FD = "HOPLINE_SIDEBAND_WRITE_FD"


class LaunchFailed(Exception):
    """There is no worker; the message is one sentence for a person."""


class LaunchedWorker:
    """Our ends of one worker, all nonblocking and closed on exec.

    A plain class, because nothing heavy may be imported before the worker runs.

    Args:
        pid: of the direct worker.
        pidfd: pins it.
        stdin: written by us.
        stdout: read by us.
        stderr: read by us; None when the three are one terminal, which `stdin` and `stdout` then both stand for.
        sideband: the end we write and the end we read, or None.
    """

    __slots__ = ("pid", "pidfd", "sideband", "stderr", "stdin", "stdout")

    def __init__(
        self, pid: int, pidfd: int, stdin: int, stdout: int, stderr: "int | None", sideband: "tuple[int, int] | None"
    ) -> None:
        self.pid = pid
        self.pidfd = pidfd
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.sideband = sideband

    @property
    def terminal(self) -> bool:
        """Whether it has a terminal instead of pipes."""
        return self.stderr is None

    def end(self) -> None:
        """Kill and reap it, if that was not done."""
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
            os.waitpid(self.pid, 0)


def launch(
    argv: "Sequence[str]", *, sideband: bool, own_group: bool = False, terminal: "tuple[int, int] | None" = None
) -> LaunchedWorker:
    """Start `argv`, found on PATH, with our folder and environment.

    Args:
        argv: program and arguments.
        sideband: whether to give it one.
        own_group: whether it leads a process group of its own, or is in ours (WW-OWN-GROUP).
        terminal: (columns, rows) of the terminal that it gets in a session of its own (WW-TERMINAL), or None.

    Raises:
        LaunchFailed: nothing was started.
    """
    environment = {
        name: value for name, value in os.environ.items() if name not in (SIDEBAND_READ_FD, SIDEBAND_WRITE_FD)
    }
    opened: list[int] = []
    theirs: list[int] = []

    def pipe(*, ours_reads: bool) -> tuple[int, int]:
        read, write = os.pipe2(os.O_CLOEXEC)
        opened.extend((read, write))
        mine, their = (read, write) if ours_reads else (write, read)
        os.set_blocking(mine, False)
        theirs.append(their)
        return mine, their

    try:
        stderr = ours = None
        actions: list[tuple[object, ...]]
        if terminal:
            stdout, theirs_of_terminal = relay_terminal.open_terminal(*terminal)
            opened += (stdout, theirs_of_terminal)
            theirs.append(theirs_of_terminal)
            stdin = os.dup(stdout)
            opened.append(stdin)
            actions = relay_terminal.spawn_actions(theirs_of_terminal)
            spawn = partial(os.posix_spawnp, setsid=True)
        else:
            stdin, their_stdin = pipe(ours_reads=False)
            stdout, their_stdout = pipe(ours_reads=True)
            stderr, their_stderr = pipe(ours_reads=True)
            actions = [
                (os.POSIX_SPAWN_DUP2, their, fd) for fd, their in enumerate((their_stdin, their_stdout, their_stderr))
            ]
            spawn = partial(os.posix_spawnp, setpgroup=0) if own_group else partial(os.posix_spawnp)
        if sideband:
            to_worker, their_read = pipe(ours_reads=False)
            from_worker, their_write = pipe(ours_reads=True)
            ours = (to_worker, from_worker)
            for name, number in ((SIDEBAND_READ_FD, their_read), (SIDEBAND_WRITE_FD, their_write)):
                os.set_inheritable(number, True)
                environment[name] = str(number)
        pid = spawn(
            argv[0],
            list(argv),
            environment,
            file_actions=actions,
            setsigmask=(),
            setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
        )
    except OSError as error:
        for fd in opened:
            os.close(fd)
        raise LaunchFailed(_sentence(argv[0], error)) from error
    for fd in theirs:
        os.close(fd)
    try:
        pidfd = os.pidfd_open(pid)
    except OSError as error:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise LaunchFailed(f"cannot watch {argv[0]!r}, so it was killed: {error.strerror}") from error
    return LaunchedWorker(pid, pidfd, stdin, stdout, stderr, ours)


def _sentence(program: str, error: OSError) -> str:
    hint = {
        errno.ENOENT: "check the name, PATH, and the interpreter its first line names",
        errno.EACCES: "it must be an executable file",
        errno.ENOEXEC: "it is neither a program nor a script with a #! line",
        errno.EMFILE: "raise the limit of open files",
        errno.EAGAIN: "raise the limit of processes",
        errno.ENOSPC: "no terminal is free",
    }.get(error.errno or 0, "")
    return f"cannot start {program!r}: {error.strerror}" + (f" ({hint})" if hint else "")
