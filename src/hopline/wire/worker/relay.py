"""The relay as a pure machine: bytes, results of signals, the exit and time in; frames and effects out.

Source: docs/wire/worker.md, "The relay". The process around it is `hopline.worker.relay`: it reads what `wants` says,
offers `output_buffers` and `input_buffers` to the descriptors, does what `take_effects` returns, and calls `on_time`
at `next_deadline`. Nothing here raises on what a peer sent.
"""

from hopline.wire.worker.codec import FrameRefused
from hopline.wire.worker.command_stream import CommandStream
from hopline.wire.worker.limits import RelayLimits
from hopline.wire.worker.messages import (
    Command,
    Fatal,
    Interrupt,
    InterruptResult,
    Outcome,
    RelayEvent,
    Shutdown,
    ShutdownStarted,
    WorkerStarted,
)
from hopline.wire.worker.relay_events import RelayEvents
from hopline.wire.worker.relay_ports import (
    Effect,
    Finish,
    KillWorker,
    ReapWorker,
    SignalWorker,
    Source,
    Target,
)
from hopline.wire.worker.retirement import Phase, Retirement
from hopline.wire.worker.worker_inputs import WorkerInputs


class RelayMachine:
    """One generation's relay, from `started` or `launch_failed` to `Finish`, the last effect.

    Args:
        limits: capacities and times.
        sideband: whether the worker has one (WW-NO-SIDEBAND).
        patient: whether an exit that nobody asked for leaves a blocked consumer its time (WW-PATIENT).
        terminal: whether the worker's fd 0, 1 and 2 are one terminal (WW-TERMINAL).
    """

    def __init__(
        self, limits: RelayLimits | None = None, *, sideband: bool = True, patient: bool = False, terminal: bool = False
    ) -> None:
        self._limits = limits or RelayLimits()
        self._retirement = Retirement(self._limits, patient=patient)
        self._events = RelayEvents(self._limits, sideband=sideband, terminal=terminal)
        self._inputs = WorkerInputs(self._limits, sideband=sideband, terminal=terminal)
        self._commands = CommandStream(self._limits.line_bytes)
        self._effects: list[Effect] = []
        self._failure = ""
        self._diagnostic = ""
        self._consumer_gone = False
        self._outcome: Outcome | None = None

    # What the world did

    def started(self, pid: int) -> None:
        """The worker was acquired, and nothing was read of it yet (WW-STARTED-FIRST)."""
        self._events.supervise(WorkerStarted(pid))

    def launch_failed(self, message: str, now: float) -> None:
        """There is no worker (WW-LAUNCH-FATAL)."""
        self._diagnostic = message
        self._commands.close()
        self._events.only(Fatal(message))
        self._retirement.want(now)
        self._retirement.phase = Phase.FLUSHING

    def receive(self, source: Source, data: bytes | memoryview, now: float) -> None:
        """One read of a source, not empty. A view is not kept."""
        if source is Source.COMMANDS:
            self._commands.receive(bytes(data))
            self._obey_commands(now)
        elif problem := self._events.receive(source, data, cut=self._retirement.cut_due(now)):
            self._fail(problem, now)
        self._settle(now)

    def receive_eof(self, source: Source, now: float) -> None:
        """A source ended."""
        if source is Source.COMMANDS:
            if problem := self._commands.receive_eof():
                self._fail(problem, now)
            else:
                self._retirement.want(now)
                self._retire(now, self._limits.end_grace_seconds)
        else:
            self._events.end(source)
        if source is Source.SIDEBAND:
            if self._events.sideband.partial and not self._retirement.wanted:
                self._fail("the worker's sideband ended inside a frame", now)  # WW-SIDEBAND-TAIL
            else:
                self._retire(now, self._limits.end_grace_seconds)
        self._settle(now)

    def read_failed(self, source: Source, message: str, now: float) -> None:
        """Reading a source failed; it is not read again."""
        if source is Source.COMMANDS:
            self._commands.close()
        else:
            self._events.end(source)
        self._fail(f"cannot read {source}: {message}", now)
        self._settle(now)

    def would_block(self, source: Source, now: float) -> None:
        """A read of the worker found nothing; while draining, that ends the source."""
        self._events.would_block(source)
        self._settle(now)

    def interrupted(self, request_id: int, error: str | None, now: float) -> None:
        """What `SignalWorker` came to; the commands behind it are obeyed from here on (WW-INTERRUPT)."""
        self._commands.resume()
        self._supervise(InterruptResult(request_id) if error is None else InterruptResult(request_id, error), now)
        self._obey_commands(now)
        self._settle(now)

    def worker_ended(self, outcome: Outcome, available: dict[Source, int], now: float) -> None:
        """The exit was observed; the worker is not reaped (WW-EXIT-UNREAPED).

        Args:
            outcome: how it ended, whatever failed before (WW-REAL-OUTCOME).
            available: for each source still open, the most that its pipe can hold of the worker's own output.
        """
        self._outcome = outcome
        self._inputs.close()
        self._events.begin_drain(available)
        self._retirement.exited(now)
        self._settle(now)

    def input_wrote(self, target: Target, count: int, now: float) -> None:
        """A target's pipe took `count` bytes."""
        self._inputs.wrote(target, count)
        self._settle(now)

    def input_stalled(self, target: Target, now: float) -> None:
        """A target's pipe takes no more for now."""
        self._inputs.stalled(target)
        self._settle(now)

    def input_failed(self, target: Target, message: str, now: float) -> None:
        """The worker closed its end of a target."""
        problem = self._inputs.failed(target, message)
        if problem and self._retirement.phase is Phase.RUNNING:
            self._fail(problem, now)
        self._settle(now)

    def input_end(self, data: bytes, now: float) -> None:
        """What `EndTerminalInput` asked for."""
        self._inputs.end_with(data)
        self._settle(now)

    def output_wrote(self, count: int, now: float) -> None:
        """The consumer took `count` bytes."""
        self._events.wrote(count)
        self._retirement.took(now)
        self._settle(now)

    def output_failed(self, message: str, now: float) -> None:
        """The consumer closed its end (WW-CONSUMER-GONE)."""
        self._lose_consumer(f"cannot write events: {message}", now)
        self._settle(now)

    def on_time(self, now: float) -> None:
        """It was `now` before the consumer and the sources were last found as they are.

        Only here is a consumer given up: a relay that was not scheduled must not blame others (WW-FLUSH-BOUND).
        """
        if self._events.waiting and self._retirement.consumer_given_up(now):
            self._lose_consumer(f"the consumer took nothing for {self._limits.flush_seconds} s", now)
        self._settle(now)

    # What to do

    def wants(self, source: Source) -> bool:
        """Whether to read a source now."""
        if source is Source.COMMANDS:
            return self._commands.open
        return self._events.wants(source)

    @property
    def retiring(self) -> bool:
        """Whether retirement has begun: what waits for the worker is then offered once more."""
        return self._retirement.phase is not Phase.RUNNING

    @property
    def draining(self) -> bool:
        """Whether wanted sources are to be read until they would block, whether or not they are ready."""
        return self._retirement.phase is Phase.DRAINING

    def output_buffers(self) -> list[bytes | memoryview]:
        """What to offer to the consumer in one gathered write; empty when nothing waits."""
        return self._events.buffers()

    def input_buffers(self, target: Target) -> list[bytes | memoryview]:
        """What to offer to a target's pipe; empty when nothing waits."""
        return self._inputs.buffers(target)

    def take_effects(self) -> list[Effect]:
        """What to do now, in order; each is returned once."""
        effects, self._effects = self._effects, []
        return effects

    def next_deadline(self) -> float | None:
        """When to call `on_time` at the latest."""
        return self._retirement.next_deadline(waiting=self._events.waiting)

    # Decisions

    def _obey_commands(self, now: float) -> None:
        try:
            while command := self._commands.take():
                self._obey(command, now)
        except FrameRefused as refused:
            self._fail(f"command: {refused}", now)

    def _obey(self, command: Command, now: float) -> None:
        if isinstance(command, Shutdown):
            self._commands.close()  # WW-SHUTDOWN-ENDS-PARSING
            self._retirement.want(now)
            if self._retire(now, command.grace_millis / 1000):
                self._supervise(ShutdownStarted(), now)
        elif self._retirement.phase is not Phase.RUNNING:
            return
        elif isinstance(command, Interrupt):
            self._commands.pause()
            self._effects.append(SignalWorker(command.request_id))
        elif problem := self._inputs.obey(command):
            self._fail(problem, now)

    def _supervise(self, event: RelayEvent, now: float) -> None:
        if not self._consumer_gone and not self._events.supervise(event):
            self._fail("the allowance of supervisor events is used up", now)  # WW-SUPERVISOR-ALLOWANCE

    def _retire(self, now: float, grace_seconds: float) -> bool:
        first = self._retirement.begin(now, grace_seconds)
        if first:
            self._inputs.retire()
        return first

    def _fail(self, message: str, now: float) -> None:
        self._failure = self._failure or message  # WW-FIRST-FAILURE
        if self._retirement.fail(now):
            self._inputs.retire()

    def _lose_consumer(self, diagnostic: str, now: float) -> None:
        if not self._consumer_gone:
            self._consumer_gone = True
            self._diagnostic = diagnostic
            self._commands.close()
            self._events.abandon()
            self._fail(diagnostic, now)

    def _settle(self, now: float) -> None:
        """Draw every conclusion that the new state allows."""
        if self._inputs.changed:
            self._tend_inputs(now)
        if not self._events.waiting:
            self._retirement.took(now)
        self._events.admit()
        if self._retirement.phase is not Phase.RUNNING:
            self._settle_retirement(now)

    def _tend_inputs(self, now: float) -> None:
        receipts = self._inputs.take_receipts()
        if self._retirement.phase is Phase.RUNNING and not self._events.answer(receipts):
            self._fail(f"more than {self._limits.receipts} receipts wait for the consumer", now)
        self._effects.extend(self._inputs.take_effects())
        self._inputs.changed = False

    def _settle_retirement(self, now: float) -> None:
        retirement = self._retirement
        if retirement.kill_due(now):
            self._effects.append(KillWorker())
        if retirement.unkillable(now):
            self._fail(f"the worker is still there {self._limits.kill_seconds} s after it was killed", now)
            self._diagnostic = self._failure
            self._end_events()
        if retirement.phase is Phase.DRAINING:
            if retirement.cut_due(now):
                self._events.cut()
            if self._events.drained:
                self._end_events()
        if retirement.phase is Phase.FLUSHING and not self._events.waiting:
            retirement.phase = Phase.DONE
            if self._outcome is not None:
                self._effects.append(ReapWorker())
            self._effects.append(Finish(1 if self._diagnostic else 0, self._diagnostic))

    def _end_events(self) -> None:
        self._retirement.phase = Phase.FLUSHING
        if not self._consumer_gone:
            self._events.finish(self._failure, self._outcome)
