"""The bubblewrap runner: the relay and all it starts live in one PID namespace, and end with it.

bubblewrap names the namespace and its first process on a status pipe. The kernel lets that first process end only
after every other process of the namespace has, so its end, seen through a pidfd, is the proof that nothing is left.
"""

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import msgspec

from hopline.worker.survivors import Descendants

NAMESPACE_SECONDS = 1.0
"""How long the namespace may take to end after its launcher was reaped; killed at half of it."""

_OPTIONS = ("--unshare-pid", "--die-with-parent", "--dev-bind", "/", "/", "--proc", "/proc")


class _Status(msgspec.Struct, rename="kebab"):
    child_pid: int
    pid_namespace: int


def bwrap_command(command: Sequence[str], *options: str) -> list[str]:
    """`command` in a PID namespace of its own that dies with this process; the file system is this one's.

    bubblewrap is looked up on this process's PATH, never on the worker's.
    """
    return [shutil.which("bwrap") or "bwrap", *_OPTIONS, *options, "--", *command]


class BwrapRunner:
    """One generation's namespace."""

    kind: ClassVar[str] = "bwrap"

    def __init__(self) -> None:
        self._status, self._status_of_launcher = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._status, False)
        self.pass_fds: Sequence[int] = (self._status_of_launcher,)
        self._text = b""
        self._namespace = 0
        self._first_process: int | None = None
        """Pidfd of the namespace's first process, while there is one."""

    def command(self, relay: Sequence[str]) -> list[str]:
        """The launcher's command line, which names the namespace on our status pipe."""
        return bwrap_command(relay, "--json-status-fd", str(self._status_of_launcher))

    def launched(self, *, started: bool) -> None:
        """The launcher was started, or could not be."""
        os.close(self._status_of_launcher)
        if started:
            asyncio.get_running_loop().add_reader(self._status, self._read_status)
        else:
            os.close(self._status)

    def worker_started(self, pid: int, launcher_pid: int) -> None:
        """Nothing to do: `pid` is of the namespace and must never be signalled here (WW-PID-LOCAL)."""

    async def descendants(self, run_id: str, *, worker_reaped: bool) -> Descendants:
        """The proof, after the launcher was reaped; a namespace that lingers is killed. Asked once."""
        self._read_status()
        asyncio.get_running_loop().remove_reader(self._status)
        os.close(self._status)
        if not self._namespace:
            return Descendants("unknown", "bwrap named no pid namespace", [])
        how = f"pid namespace {self._namespace} ended"
        if self._first_process is None:
            return Descendants("gone", how, [])
        try:
            ended = await _exits_within(self._first_process, NAMESPACE_SECONDS / 2)
            if not ended:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._first_process, signal.SIGKILL)
                ended = await _exits_within(self._first_process, NAMESPACE_SECONDS / 2)
        finally:
            os.close(self._first_process)
        if ended:
            return Descendants("gone", how, [])
        return Descendants("unknown", f"pid namespace {self._namespace} did not end within {NAMESPACE_SECONDS:g} s", [])

    def _read_status(self) -> None:
        try:
            data = os.read(self._status, 65536)
        except BlockingIOError:
            return
        self._text += data
        line, newline, _ = self._text.partition(b"\n")
        if newline and not self._namespace:
            with contextlib.suppress(msgspec.MsgspecError):
                status = msgspec.json.decode(line, type=_Status)
                self._namespace = status.pid_namespace
                self._first_process = _pinned(status)
        if not data:
            asyncio.get_running_loop().remove_reader(self._status)


def _pinned(status: _Status) -> int | None:
    """A pidfd of the namespace's first process; None when that has ended and its pid is free or another's."""
    try:
        descriptor = os.pidfd_open(status.child_pid)
    except ProcessLookupError:
        return None
    # Looked at after the descriptor was opened: a reused pid is in another namespace.
    try:
        namespace = Path(f"/proc/{status.child_pid}/ns/pid").stat().st_ino
    except OSError:
        namespace = 0
    if namespace == status.pid_namespace:
        return descriptor
    os.close(descriptor)
    return None


async def _exits_within(pidfd: int, seconds: float) -> bool:
    loop = asyncio.get_running_loop()
    exited = asyncio.Event()
    loop.add_reader(pidfd, exited.set)
    try:
        await asyncio.wait_for(exited.wait(), seconds)
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(pidfd)
    return True
