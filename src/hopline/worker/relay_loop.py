"""The poll loop around a relay machine: reads what it wants, writes what it offers, does its effects.

One thread and no hidden buffers; all policy is in `hopline.wire.worker.relay`.
"""

import os
import select
import signal
import stat
from time import monotonic
from typing import assert_never

from hopline.wire.worker.messages import Outcome, WorkerExited, WorkerSignaled
from hopline.wire.worker.relay import RelayMachine
from hopline.wire.worker.relay_ports import (
    CloseInput,
    Effect,
    EndTerminalInput,
    Finish,
    HangUp,
    KillWorker,
    ReapWorker,
    ResizeTerminal,
    SignalWorker,
    Source,
    Target,
)
from hopline.worker import relay_terminal
from hopline.worker.relay_launch import LaunchedWorker
from hopline.worker.relay_pipes import FULL_PIPE_BYTES, PipeGrowth, pipe_size
from hopline.worker.relay_watch import Watch

READ_BYTES = 256 * 1024
SIDEBAND_READ_BYTES = 32 * 1024
"""Small frames cost much more a byte than output does; commands must not wait behind too many."""
_RAW = (Source.STDOUT, Source.STDERR)
_LONGEST_POLL_MILLIS = 2.0**31 - 1
_COMMANDS_FD, _EVENTS_FD = 0, 1
_GONE = select.POLLERR | select.POLLHUP | select.POLLNVAL


class RelayLoop:
    """Runs one generation to its end.

    Args:
        machine: decides; `started` or `launch_failed` was already called.
        worker: our ends of it, or None when the launch failed.
    """

    def __init__(self, machine: RelayMachine, worker: LaunchedWorker | None) -> None:
        self._machine = machine
        self._worker = worker
        self._view = memoryview(bytearray(READ_BYTES))
        self._sideband_view = self._view[:SIDEBAND_READ_BYTES]
        self._sources = {Source.COMMANDS: _COMMANDS_FD}
        self._targets: dict[Target, int] = {}
        if worker is not None:
            self._sources[Source.STDOUT] = worker.stdout
            if worker.stderr is not None:
                self._sources[Source.STDERR] = worker.stderr
            self._targets[Target.STDIN] = worker.stdin
            if worker.sideband is not None:
                self._targets[Target.SIDEBAND], self._sources[Source.SIDEBAND] = worker.sideband
        self._terminal = Source.STDOUT if worker is not None and worker.terminal else None
        self._stalled: set[Target] = set()
        self._offered_last = False
        self._blocked = False
        self._consumer_lost = False
        self._exit_seen = worker is None
        self._finish: Finish | None = None
        self._watch = Watch()
        self._pipes = PipeGrowth()
        self._to_file = stat.S_ISREG(os.fstat(_EVENTS_FD).st_mode)

    def run(self) -> Finish:
        """Serve until the machine finishes. O_NONBLOCK of fd 1 is then as it was before (WW-NONBLOCK-RESTORED)."""
        if self._to_file:
            return self._serve()
        blocking = os.get_blocking(_EVENTS_FD)
        os.set_blocking(_EVENTS_FD, False)
        try:
            return self._serve()
        finally:
            os.set_blocking(_EVENTS_FD, blocking)

    def _serve(self) -> Finish:
        self._act()
        while self._finish is None:
            self._turn()
        return self._finish

    def _turn(self) -> None:
        """Wait for something, then let the machine see all that is ready: commands first, the exit last."""
        machine = self._machine
        before = monotonic()
        ready = self._wait()
        now = monotonic()
        if _EVENTS_FD in ready:
            if ready[_EVENTS_FD] & _GONE:
                self._lose_consumer("the reader closed its end", now)
            self._blocked = False
            self._act()
        self._stalled -= {target for target, fd in self._targets.items() if fd in ready}
        for source, fd in self._sources.items():
            hurry = machine.draining and source is not Source.COMMANDS
            if (fd in ready or hurry) and machine.wants(source):
                self._read(source, fd)
                self._act()
        if self._worker is not None and not self._exit_seen and self._worker.pidfd in ready:
            self._exit_seen = True
            machine.worker_ended(_outcome(self._worker.pidfd), self._pipe_sizes(), monotonic())
        self._act()
        machine.on_time(before)
        self._act()

    def _wait(self) -> dict[int, int]:
        """Poll for what the machine wants, until its deadline; what is ready, by descriptor."""
        machine = self._machine
        wanted = {fd: select.POLLIN for source, fd in self._sources.items() if machine.wants(source)}
        hurry = machine.draining and any(fd != _COMMANDS_FD for fd in wanted)
        for target in self._stalled:
            wanted[self._targets[target]] = select.POLLOUT
        if not self._to_file and not self._consumer_lost:
            wanted[_EVENTS_FD] = select.POLLOUT if self._blocked else 0
        if self._worker is not None and not self._exit_seen:
            wanted[self._worker.pidfd] = select.POLLIN
        self._watch.want(wanted)
        if hurry:
            return self._watch.wait(0)
        if self._watch.flooded and not self._blocked:
            raw = [self._sources[source] for source in _RAW if source in self._sources]
            for fd in raw:
                self._pipes.grow(fd)
            self._watch.gather(raw)
        deadline = machine.next_deadline()
        left = None if deadline is None else min(max(0.0, deadline - monotonic()) * 1000, _LONGEST_POLL_MILLIS)
        return self._watch.wait(left)

    def _read(self, source: Source, fd: int) -> None:
        machine = self._machine
        terminal = source is self._terminal
        try:
            if terminal:
                count = relay_terminal.read(fd, self._view)
            else:
                count = os.readv(fd, [self._sideband_view if source is Source.SIDEBAND else self._view])
        except BlockingIOError:
            if source is not Source.COMMANDS:
                machine.would_block(source, monotonic())
        except OSError as error:
            machine.read_failed(source, error.strerror or str(error), monotonic())
        else:
            if count == 0:
                machine.receive_eof(source, monotonic())
                return
            if count >= FULL_PIPE_BYTES:
                self._pipes.grow(fd)
            if source in _RAW and not (terminal and count >= relay_terminal.BULK_READ_BYTES):
                self._watch.read(count)
            machine.receive(source, self._view[:count], monotonic())

    def _act(self) -> None:
        """Do effects and writes until the machine has nothing more to do that would not block."""
        machine = self._machine
        while True:
            while effects := machine.take_effects():
                for effect in effects:
                    self._do(effect)
            if machine.retiring and not self._offered_last:
                self._offered_last = True
                self._stalled.clear()
            progress = False
            for target in tuple(self._targets):
                if target not in self._stalled:
                    progress |= self._write_input(target)
            if not self._blocked:
                progress |= self._write_events()
            if not progress:
                return

    def _write_input(self, target: Target) -> bool:
        """Offer what waits for the worker; True when the machine should be asked again."""
        machine = self._machine
        buffers = machine.input_buffers(target)
        if not buffers:
            return False
        try:
            machine.input_wrote(target, os.writev(self._targets[target], buffers), monotonic())
        except BlockingIOError:
            self._stalled.add(target)
            machine.input_stalled(target, monotonic())
        except OSError as error:
            machine.input_failed(target, error.strerror or str(error), monotonic())
        return True

    def _write_events(self) -> bool:
        """Offer what waits for the controller; True when the machine should be asked again."""
        machine = self._machine
        buffers = machine.output_buffers()
        if not buffers:
            return False
        try:
            count = os.writev(_EVENTS_FD, buffers)
        except BlockingIOError:
            self._blocked = not self._pipes.grow(_EVENTS_FD)
            return not self._blocked
        except OSError as error:
            self._lose_consumer(error.strerror or str(error), monotonic())
            return True
        machine.output_wrote(count, monotonic())
        return True

    def _lose_consumer(self, message: str, now: float) -> None:
        self._consumer_lost = True
        self._machine.output_failed(message, now)

    def _do(self, effect: Effect) -> None:
        match effect:
            case CloseInput(target):
                self._stalled.discard(target)
                fd = self._targets.pop(target)
                self._watch.forget(fd)
                os.close(fd)
            case Finish():
                self._finish = effect
            case SignalWorker(request_id):
                self._machine.interrupted(request_id, self._signal(signal.SIGINT), monotonic())
            case KillWorker():
                self._signal(signal.SIGKILL)
            case HangUp():
                self._signal(signal.SIGHUP)
                self._signal(signal.SIGCONT)
            case ResizeTerminal(columns, rows):
                relay_terminal.resize(self._sources[Source.STDOUT], columns, rows)
            case EndTerminalInput(unfinished):
                end = relay_terminal.end_of_input(self._sources[Source.STDOUT], unfinished=unfinished)
                self._machine.input_end(end, monotonic())
            case ReapWorker():
                if self._worker is not None:
                    os.waitpid(self._worker.pid, 0)
            case _:
                assert_never(effect)

    def _signal(self, number: signal.Signals) -> str | None:
        """Signal the worker, which is pinned by its pidfd; returns what went wrong."""
        if self._worker is None:
            return "there is no worker"
        try:
            signal.pidfd_send_signal(self._worker.pidfd, number)
        except OSError as error:
            return error.strerror or str(error)
        return None

    def _pipe_sizes(self) -> dict[Source, int]:
        return {
            source: relay_terminal.HELD_BYTES if source is self._terminal else pipe_size(fd)
            for source, fd in self._sources.items()
            if source is not Source.COMMANDS
        }


def _outcome(pidfd: int) -> Outcome:
    """How the worker ended; it stays unreaped (WW-EXIT-UNREAPED)."""
    result = os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOWAIT)
    assert result is not None
    if result.si_code == os.CLD_EXITED:
        return WorkerExited(result.si_status)
    return WorkerSignaled(result.si_status)
