"""What a run left behind when nothing encloses it: found in two ways, said how, and ended on request.

A run server makes itself the subreaper of its descendants, so that orphans of the run become its children; and every
process of the run carries HOPLINE_RUN=<id> in the environment it was started with. Only when both looks find nothing
are the descendants called gone. A subtree that carries another HOPLINE_SERVER or HOPLINE_RUN is another run's.
"""

import asyncio
import contextlib
import ctypes
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hopline.clock import rfc3339
from hopline.errors import Unavailable
from hopline.worker import processes
from hopline.worker.processes import Process

SETTLE_SECONDS = 0.2
"""How long a process that is already dying may take before it counts as a survivor."""

_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37

State = Literal["gone", "remaining", "unknown"]

_own_children: set[int] = set()
_starting = threading.Lock()


@dataclass(frozen=True, slots=True)
class Survivor:
    """A process of the run that outlived its worker."""

    pid: int
    name: str
    started_at: str
    """RFC 3339, for people."""
    start_time: float
    """Seconds from boot to its start; with the pid it names exactly this process."""


@dataclass(frozen=True, slots=True)
class Descendants:
    """What is known of a generation's descendants once its launcher was reaped."""

    state: State
    how: str
    """What was looked at, for people."""
    processes: list[Survivor]


@dataclass(frozen=True, slots=True)
class Ending:
    """What `end` has proven."""

    state: Literal["ended", "gone", "other", "denied", "remaining"]
    """ended: it ran, was signalled and has exited. gone: no such process any more. other: the pid belongs to another
    process now, which was left alone. denied: it may not be signalled. remaining: it runs on."""
    signal: int | None
    """The last signal that was sent."""


def become_subreaper() -> None:
    """Make this process the parent of every orphan among its descendants. Raises Unavailable.

    From then on every child that `start_own` did not start counts as left behind by a run and is reaped when it
    ends: a run server starts no other processes.
    """
    if _prctl(_PR_SET_CHILD_SUBREAPER, 1) != 0:
        raise Unavailable(f"cannot become a subreaper: {os.strerror(ctypes.get_errno())}; survivors may go unseen.")


def is_subreaper() -> bool:
    """Whether orphans among this process's descendants become its children."""
    value = ctypes.c_int(0)
    return _prctl(_PR_GET_CHILD_SUBREAPER, ctypes.addressof(value)) == 0 and value.value == 1


def start_own(command: Sequence[str], **options: Any) -> "subprocess.Popen[bytes]":
    """Start a child that its starter reaps itself, then hands to `disown`: no survivor, and not reaped here.

    Arguments and errors are those of `subprocess.Popen`.
    """
    # Held so that a child that ends at once is not taken for an orphan before it is known.
    with _starting:
        process = subprocess.Popen(command, **options)
        _own_children.add(process.pid)
    return process


def disown(pid: int) -> None:
    """A child that `start_own` started was reaped by its starter."""
    _own_children.discard(pid)


def reap_as_they_end() -> None:
    """Have the running loop reap adopted orphans whenever a child ends, if this process is a subreaper.

    For a loop on the main thread; elsewhere orphans are reaped when a launcher is.
    """
    if is_subreaper():
        with contextlib.suppress(ValueError, RuntimeError):
            asyncio.get_running_loop().add_signal_handler(signal.SIGCHLD, reap_adopted)


def reap_adopted() -> int:
    """Reap the orphans that have ended, if this process is a subreaper. Returns how many."""
    if not is_subreaper():
        return 0
    with _starting:
        return _reap_ended()


def _reap_ended() -> int:
    reaped = 0
    while True:
        try:
            child = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return reaped
        # A child of our own hides the ones behind it until its owner reaps it, who then calls again.
        if child is None or child.si_pid in _own_children:
            return reaped
        reaped += _reap(child.si_pid)


def find(run_id: str) -> Descendants:
    """Look once for processes of a run, besides this one and its own children. Blocks for as long as /proc takes.

    In a process that is not the run's subreaper, such as `hopline doctor`, finding nothing proves nothing: the state
    is then unknown.
    """
    subreaper = is_subreaper()
    how = "subreaper and environment marker" if subreaper else "environment marker"
    try:
        seen = {process.pid: process for process in processes.every()}
        booted = processes.boot_time()
    except OSError as error:
        return Descendants("unknown", f"/proc cannot be read: {error}", [])
    found = _of_run(run_id, seen, adopted=subreaper)
    survivors = [
        Survivor(one.pid, one.name, rfc3339(booted + one.start_time), one.start_time)
        for one in sorted(found, key=lambda process: (process.start_time, process.pid))
    ]
    if survivors:
        return Descendants("remaining", how, survivors)
    return Descendants("gone" if subreaper else "unknown", how, [])


def find_settled(run_id: str) -> Descendants:
    """As `find`, but gives what it finds SETTLE_SECONDS to finish dying. Blocks; call it off the loop."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        reap_adopted()
        found = find(run_id)
        if found.state != "remaining" or time.monotonic() >= deadline:
            return found
        time.sleep(0.02)


def end(pid: int, start_time: float, grace_seconds: float) -> Ending:
    """End one survivor, named by pid and start time: SIGTERM, then SIGKILL after the grace. Blocks at most grace + 1 s.

    A pid that was reused has another start time and is left alone.
    """
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return Ending("gone", None)
    try:
        # Looked up after the descriptor was opened: if the start time is right now, the descriptor is that process.
        process = processes.look_up(pid)
        if process is None or process.ended:
            return Ending("gone", None)
        if process.start_time != start_time:
            return Ending("other", None)
        for number, seconds in ((signal.SIGTERM, grace_seconds), (signal.SIGKILL, 1.0)):
            try:
                signal.pidfd_send_signal(descriptor, number)
            except ProcessLookupError:
                return Ending("ended", number)
            except PermissionError:
                return Ending("denied", None)
            if _exits_within(descriptor, seconds):
                if process.parent == os.getpid() and pid not in _own_children:
                    _reap(pid)
                return Ending("ended", number)
        return Ending("remaining", signal.SIGKILL)
    finally:
        os.close(descriptor)


def _of_run(run_id: str, seen: dict[int, Process], *, adopted: bool) -> list[Process]:
    children: dict[int, list[int]] = {}
    for process in seen.values():
        children.setdefault(process.parent, []).append(process.pid)
    marker = run_id.encode()
    me = os.getpid()
    environments = {pid: processes.environment(pid) or {} for pid in seen if pid != me}
    foreign = {pid for pid, variables in environments.items() if _of_another(variables, marker)}
    excluded = _subtrees(foreign, children) | {me}
    roots = {pid for pid, variables in environments.items() if variables.get(b"HOPLINE_RUN") == marker}
    if adopted:
        roots.update(children.get(me, ()))
    roots -= _own_children
    return [seen[pid] for pid in _subtrees(roots, children) - excluded - _own_children if not seen[pid].ended]


def _of_another(variables: dict[bytes, bytes], run_id: bytes) -> bool:
    """Whether a process serves, or is of, a run that a worker of this one started: its own server reports it."""
    return any(variables.get(name, b"") not in (b"", run_id) for name in (b"HOPLINE_SERVER", b"HOPLINE_RUN"))


def _subtrees(roots: Iterable[int], children: dict[int, list[int]]) -> set[int]:
    found: set[int] = set()
    waiting = list(roots)
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting.extend(children.get(pid, ()))
    return found


def _reap(pid: int) -> int:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] and 1
    except ChildProcessError:
        return 0


def _exits_within(descriptor: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(max(0.0, seconds) * 1000))


def _prctl(option: int, argument: int) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    return int(library.prctl(option, ctypes.c_ulong(argument), 0, 0, 0))
