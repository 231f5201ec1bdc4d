"""Starts run servers: the process comes first, what it is to do follows, so that both ends import at the same time."""

import os
import resource
import select
import signal
import sys
import time

import msgspec

from hopline.errors import Corrupt, HoplineError, RunGone, Unavailable, UsageError
from hopline.records import RunRecord, RunSpec, StartFailed, StartReport

START_SECONDS = 30.0
"""How long a run server may take to report that it listens."""

LEAVE_SECONDS = 5.0
"""How long one that reported a failure may take to undo what it made."""

MAX_REPORT_BYTES = 1 << 20

_report: "msgspec.json.Decoder[StartReport]" = msgspec.json.Decoder(StartReport)


class ServerStart:
    """A run server that has been started and has not reported yet.

    The process is detached from the terminal at once; until it reports it is ours to end.

    Args:
        run_id: the run it will serve; stands in its environment, so that nobody takes it for a run's descendant.
        arguments: after `hopline run-server`.
    """

    def __init__(self, run_id: str, *arguments: str) -> None:
        self._pid = -1
        descriptors: list[int] = []
        try:
            request_read, self._request = os.pipe()
            descriptors += (request_read, self._request)
            self._reports, report_write = os.pipe()
            descriptors += (self._reports, report_write)
            self._complaints = os.memfd_create("hopline-server-errors")
            descriptors.append(self._complaints)
            self._pid = _spawn(arguments, _environment(run_id), request_read, report_write, self._complaints)
        except OSError as error:
            for descriptor in descriptors:
                os.close(descriptor)
            raise Unavailable(
                f"cannot start the run's server: {error.strerror}; end something or raise the limits (ulimit -n, -u)."
            ) from error
        os.close(request_read)
        os.close(report_write)

    def begin(self, spec: RunSpec | None = None) -> RunRecord:
        """Hand over what to run and wait for the report. Returns the record of the run that now listens.

        Raises the error that the server reports, or Unavailable when it says nothing in time; then it is ended.
        """
        try:
            try:
                if spec is not None:
                    _write_all(self._request, msgspec.json.encode(spec) + b"\n")
            except BrokenPipeError:
                pass  # it has left; what it said is in its report
            os.close(self._request)
            self._request = -1
            report = self._wait_for_report()
        except BaseException:
            if self._pid > 0:
                os.kill(self._pid, signal.SIGTERM)
                self._see_off()
            raise
        if isinstance(report, StartFailed):
            self._see_off()
            raise _told(report)
        self._close()
        return report.record

    def abandon(self) -> None:
        """End the server before anything is asked of it."""
        self._close()
        if self._pid > 0:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            self._pid = -1

    def _see_off(self) -> None:
        """The server is leaving: wait for it to undo what it made; end it when that takes too long."""
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

    def _wait_for_report(self) -> StartReport:
        deadline = time.monotonic() + START_SECONDS
        poller = select.poll()
        poller.register(self._reports, select.POLLIN)
        received = b""
        while b"\n" not in received:
            if not poller.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise Unavailable(f"the run's server did not report within {START_SECONDS:g} s; try again.")
            data = os.read(self._reports, 1 << 16)
            if not data or len(received) > MAX_REPORT_BYTES:
                raise Unavailable(f"the run's server left without a word{self._last_complaint()}")
            received += data
        try:
            return _report.decode(received.partition(b"\n")[0])
        except msgspec.MsgspecError as error:
            raise Unavailable(f"the run's server said {received[:80]!r}, which is no report: {error}") from error

    def _last_complaint(self) -> str:
        size = os.fstat(self._complaints).st_size
        lines = os.pread(self._complaints, 4096, max(0, size - 4096)).decode("utf-8", "replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return f": {said[-1]}" if said else "; the system may have ended it: check memory and limits."


def start_run(run_id: str) -> ServerStart:
    """A server for a new run; `begin(spec)` tells it what to do."""
    return ServerStart(run_id)


def reopen(run_id: str) -> ServerStart:
    """A short-lived server that only replays the run; `begin()` waits for it. One that serves it already is found."""
    return ServerStart(run_id, "--reopen", run_id)


def _environment(run_id: str) -> dict[str, str]:
    env = dict(os.environ)
    for name in ("HOPLINE_RUN", "HOPLINE_SESSION", "HOPLINE_GENERATION"):
        env.pop(name, None)
    env["HOPLINE_SERVER"] = run_id
    return env


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
            [sys.executable, "-m", "hopline", "run-server", *arguments],
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
