"""Runners: what stands between the run server and the relay, and what it proves of the descendants at the end.

direct: nothing; survivors are looked for. bwrap: bubblewrap with a PID namespace, whose end is the end of every
process in it. auto: bwrap if it really works on this machine, else direct.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from typing import ClassVar, ParamSpec, TypeVar

from hopline.errors import Refused, Unavailable
from hopline.worker import processes, survivors
from hopline.worker.bwrap import BwrapRunner, bwrap_command
from hopline.worker.survivors import Descendants

_PROBE_SECONDS = 3.0

_P = ParamSpec("_P")
_R = TypeVar("_R")

_bwrap_works = False


class DirectRunner:
    """No enclosure: the relay is the launcher, and survivors are looked for in two ways."""

    kind: ClassVar[str] = "direct"
    pass_fds: Sequence[int] = ()

    def __init__(self) -> None:
        self._worker: int | None = None
        """Pidfd of the direct worker."""

    def command(self, relay: Sequence[str]) -> list[str]:
        """The relay's own command line."""
        return list(relay)

    def launched(self, *, started: bool) -> None:
        """Nothing to do."""

    def worker_started(self, pid: int, launcher_pid: int) -> None:
        """Pin the launcher's child, so that it can be ended if its relay dies without doing so.

        Never signalled by number (WW-PID-LOCAL): it must be seen here as the launcher's child.
        """
        with contextlib.suppress(OSError):
            descriptor = os.pidfd_open(pid)
            # Looked up after the descriptor was opened: the relay reaps last, so its child still has this pid.
            process = processes.look_up(pid)
            if process is not None and process.parent == launcher_pid:
                self._worker = descriptor
            else:
                os.close(descriptor)

    async def descendants(self, run_id: str, *, worker_reaped: bool) -> Descendants:
        """Both looks, off the loop, after the launcher was reaped. A worker whose relay left it behind is killed."""
        if self._worker is not None:
            if not worker_reaped:
                with contextlib.suppress(OSError):
                    signal.pidfd_send_signal(self._worker, signal.SIGKILL)
            os.close(self._worker)
        return await off_loop(survivors.find_settled, run_id)


Runner = DirectRunner | BwrapRunner


async def choose(name: str) -> Runner:
    """The runner that a run asked for: direct, bwrap or auto.

    Raises Refused for another name, Unavailable when bwrap was asked for and does not work here.
    """
    match name:
        case "direct":
            return DirectRunner()
        case "bwrap":
            if refusal := await off_loop(bwrap_refusal):
                raise Unavailable(f"the bwrap runner does not work here: {refusal}; use --runner direct or auto.")
            return BwrapRunner()
        case "auto":
            return DirectRunner() if await off_loop(bwrap_refusal) else BwrapRunner()
        case _:
            raise Refused(f"{name!r} is no runner; it must be direct, bwrap or auto.")


async def off_loop(block: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
    """Run what blocks in a thread, or on the loop when the machine has no thread left."""
    try:
        return await asyncio.to_thread(block, *args, **kwargs)
    except RuntimeError:
        return block(*args, **kwargs)


def bwrap_refusal() -> str | None:
    """Why bubblewrap does not work on this machine, or None when it does, which is tried only once. Blocks."""
    global _bwrap_works
    if _bwrap_works:
        return None
    refusal = _try_bwrap()
    _bwrap_works = refusal is None
    return refusal


def _try_bwrap() -> str | None:
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    try:
        tried = survivors.start_own(bwrap_command(["true"]), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    except OSError as error:
        return str(error.strerror)
    try:
        _, diagnostics = tried.communicate(timeout=_PROBE_SECONDS)
    except subprocess.TimeoutExpired:
        tried.kill()
        tried.communicate()
        return f"it did not start within {_PROBE_SECONDS:g} s"
    finally:
        survivors.disown(tried.pid)
    if tried.returncode == 0:
        return None
    return diagnostics.decode(errors="replace").strip() or f"it left with status {tried.returncode}"
