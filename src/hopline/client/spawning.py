"""Starts daemons of ours: detached from the terminal at once, and ours to end until they have reported in one line."""

import contextlib
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from hopline.errors import Corrupt, HoplineError, RunGone, Unavailable, UsageError
from hopline.records import StartFailed

START_SECONDS = 30.0
"""How long a daemon may take to report that it listens."""

LEAVE_SECONDS = 5.0
"""How long one that reported a failure may take to undo what it made."""

MAX_REPORT_BYTES = 1 << 20

_FRAME = " |+-\t\r"
"""What a trace is drawn with."""

T = TypeVar("T")


class DaemonStart:
    """A daemon that has been started and has not reported yet.

    Args:
        what: names it in messages, such as "the run's server".
        arguments: after `hopline`.
        env: its whole environment.
    """

    def __init__(self, what: str, arguments: tuple[str, ...], env: dict[str, str]) -> None:
        self._what = what
        self._pid = -1
        descriptors: list[int] = []
        try:
            request_read, self._request = os.pipe()
            descriptors += (request_read, self._request)
            self._reports, report_write = os.pipe()
            descriptors += (self._reports, report_write)
            self._complaints = os.memfd_create("hopline-server-errors")
            descriptors.append(self._complaints)
            self._pid = _spawn(arguments, env, request_read, report_write, self._complaints)
        except OSError as error:
            for descriptor in descriptors:
                os.close(descriptor)
            raise Unavailable(
                f"cannot start {what}: {error.strerror}; end something or raise the limits (ulimit -n, -u)."
            ) from error
        os.close(request_read)
        os.close(report_write)

    def report(self, request: bytes, decode: Callable[[bytes], T | StartFailed]) -> T:
        """Write `request` to its fd 0, end that, and wait for the first line of its fd 1.

        Raises the error that it reports, or Unavailable when it says nothing in time; then it is ended.

        Args:
            decode: reads the line; raises ValueError when it is no report.
        """
        try:
            with contextlib.suppress(BrokenPipeError):  # it has left; what it said is in its report
                _write_all(self._request, request)
            os.close(self._request)
            self._request = -1
            report = self._wait_for_report(decode)
        except BaseException:
            if self._pid > 0:
                os.kill(self._pid, signal.SIGTERM)
                self._see_off()
            raise
        if isinstance(report, StartFailed):
            self._see_off()
            raise _told(report)
        self._close()
        return report

    def abandon(self) -> None:
        """End the daemon before anything is asked of it."""
        self._close()
        if self._pid > 0:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            self._pid = -1

    def _see_off(self) -> None:
        """It is leaving: wait for it to undo what it made; end it when that takes too long."""
        descriptor = os.pidfd_open(self._pid)
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        if poller.poll(LEAVE_SECONDS * 1000):
            os.waitpid(self._pid, 0)
            self._pid = -1
        os.close(descriptor)
        self.abandon()

    def _close(self) -> None:
        for descriptor in (self._request, self._reports, self._complaints):
            if descriptor >= 0:
                os.close(descriptor)
        self._request = self._reports = self._complaints = -1

    def _wait_for_report(self, decode: Callable[[bytes], T | StartFailed]) -> T | StartFailed:
        deadline = time.monotonic() + START_SECONDS
        poller = select.poll()
        poller.register(self._reports, select.POLLIN)
        received = b""
        while b"\n" not in received:
            if not poller.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise Unavailable(f"{self._what} did not report within {START_SECONDS:g} s; try again.")
            data = os.read(self._reports, 1 << 16)
            if not data or len(received) > MAX_REPORT_BYTES:
                raise Unavailable(f"{self._what} left without a word{self._last_complaint()}")
            received += data
        try:
            return decode(received.partition(b"\n")[0])
        except ValueError as error:
            raise Unavailable(f"{self._what} said {received[:80]!r}, which is no report: {error}") from error

    def _last_complaint(self) -> str:
        size = os.fstat(self._complaints).st_size
        lines = os.pread(self._complaints, 4096, max(0, size - 4096)).decode("utf-8", "replace").split("\n")
        said = [line.strip(_FRAME) for line in lines if line.strip(_FRAME)]
        return f": {said[-1]}" if said else "; the system may have ended it: check memory and limits."


def daemon_environment() -> dict[str, str]:
    """Ours, without what belongs to the run that we may be a part of."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in ("HOPLINE_RUN", "HOPLINE_SESSION", "HOPLINE_GENERATION")
    }


def _spawn(arguments: tuple[str, ...], env: dict[str, str], stdin: int, stdout: int, stderr: int) -> int:
    # posix_spawn cannot close what others left open for us, and a detached server must not keep it.
    with os.scandir("/proc/self/fd") as entries:
        names = [entry.name for entry in entries]
    inherited = [int(name) for name in names if int(name) > 2]
    close = [
        (os.POSIX_SPAWN_CLOSE, descriptor)
        for descriptor in inherited
        if descriptor not in (stdin, stdout, stderr) and _inheritable(descriptor)
    ]
    # It takes no number past the limit that holds now, though such a descriptor may be open since before it did.
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    beyond = [descriptor for _, descriptor in close if 0 <= limit <= descriptor]
    for descriptor in beyond:
        os.set_inheritable(descriptor, False)
    try:
        return os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "hopline", *arguments],
            env,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, stdin, 0),
                (os.POSIX_SPAWN_DUP2, stdout, 1),
                (os.POSIX_SPAWN_DUP2, stderr, 2),
                *(one for one in close if one[1] not in beyond),
            ],
            setsid=True,
            setsigmask=[],
            setsigdef=[signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ],
        )
    finally:
        for descriptor in beyond:
            os.set_inheritable(descriptor, True)


def _inheritable(descriptor: int) -> bool:
    try:
        return os.get_inheritable(descriptor)
    except OSError:
        return False


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _told(report: StartFailed) -> HoplineError:
    kinds = {2: UsageError, 4: RunGone}
    if report.code == "corrupt":
        return Corrupt(report.message)
    error = kinds.get(report.exit_code, Unavailable)(report.message)
    error.exit_status = report.exit_code
    return error
