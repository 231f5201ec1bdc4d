"""Runs a scenario on the pure relay machine, with a clock that jumps and pipes that are bytes."""

import json

from worker_expectations import Expectations
from worker_scenario import Scenario, Step

from hopline.wire.worker.codec import decode_event
from hopline.wire.worker.messages import Outcome, WorkerExited, WorkerSignaled
from hopline.wire.worker.relay import RelayMachine
from hopline.wire.worker.relay_ports import CloseInput, Finish, KillWorker, SignalWorker, Source, Target

START = 1000.0
INPUTS = {"stdin": Target.STDIN, "sideband": Target.SIDEBAND}
OUTPUTS = {"stdout": Source.STDOUT, "stderr": Source.STDERR, "sideband": Source.SIDEBAND}


class CoreRun:
    """One scenario on one machine.

    Args:
        scenario: what happens.
        piece: how many bytes the relay reads at once.
    """

    def __init__(self, scenario: Scenario, piece: int) -> None:
        self.scenario = scenario
        self.piece = piece
        self.machine = RelayMachine(sideband="--no-sideband" not in scenario.options)
        self.now = START
        self.expected = Expectations(self.go_on)
        self.inputs = dict.fromkeys(Target, b"")
        self.closed: set[Target] = set()
        self.refusing: set[Target] = set()
        self.held: set[Source] = set()
        self.ended: set[Source] = set()
        self.interrupts = 0
        self.alive = True
        self.finish: Finish | None = None
        self.unread = b""
        self.machine.started(4242)
        self.turn()

    def run(self) -> None:
        """Do every step."""
        self.expected.event(Step(0, "relay", "event", value={"kind": "worker_started", "pid": "*"}))
        for step in self.scenario.steps:
            getattr(self, f"{step.actor}_{step.verb}")(step)
        assert self.finish == Finish(0, "")

    def turn(self) -> None:
        """Effects, then what waits for the worker, then what waits for the controller."""
        before = None
        while before != (before := self.progress()):
            for effect in self.machine.take_effects():
                self.do(effect)
            for target in Target:
                self.offer(target)
            if buffers := self.machine.output_buffers():
                self.unread += b"".join(buffers)
                self.machine.output_wrote(sum(map(len, buffers)), self.now)
        *lines, self.unread = self.unread.split(b"\n")
        for line in lines:
            decode_event(line)
            self.expected.came(json.loads(line))

    def progress(self) -> tuple[object, ...]:
        """What changes while there is something to do."""
        return self.unread, dict(self.inputs), frozenset(self.closed), self.interrupts, self.alive, self.finish

    def do(self, effect: object) -> None:
        """What a process would do."""
        match effect:
            case SignalWorker(request_id):
                self.interrupts += 1
                self.machine.interrupted(request_id, None, self.now)
            case KillWorker():
                assert self.alive
                self.die(WorkerSignaled(9))
            case CloseInput(target):
                self.closed.add(target)
            case Finish():
                self.finish = effect

    def offer(self, target: Target) -> None:
        """The worker's pipe takes everything, or breaks."""
        if data := b"".join(self.machine.input_buffers(target)):
            if target in self.refusing:
                self.machine.input_failed(target, "Broken pipe", self.now)
            else:
                self.inputs[target] += data
                self.machine.input_wrote(target, len(data), self.now)

    def die(self, outcome: Outcome) -> None:
        """The worker ends; its streams end too, unless a child holds them."""
        self.alive = False
        self.machine.worker_ended(outcome, dict.fromkeys(OUTPUTS.values(), 65536), self.now)
        for source in OUTPUTS.values():
            if source in self.held:
                self.machine.would_block(source, self.now)
            elif source not in self.ended:
                self.end(source)
        self.turn()

    def end(self, source: Source) -> None:
        self.ended.add(source)
        if self.machine.wants(source):
            self.machine.receive_eof(source, self.now)
        self.turn()

    def feed(self, source: Source, data: bytes) -> None:
        for at in range(0, len(data), self.piece):
            if not self.machine.wants(source):
                return
            self.machine.receive(source, data[at : at + self.piece], self.now)
            self.turn()

    def go_on(self) -> bool:
        """Jump to the next deadline; False when there is none."""
        if self.finish or (deadline := self.machine.next_deadline()) is None:
            return False
        self.pass_time(deadline - self.now)
        return True

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.machine.on_time(self.now)
        self.turn()

    # Steps

    def controller_sends(self, step: Step) -> None:
        self.feed(Source.COMMANDS, step.value)

    def controller_EOF(self, _: Step) -> None:
        if self.machine.wants(Source.COMMANDS):
            self.machine.receive_eof(Source.COMMANDS, self.now)
        self.turn()

    def worker_writes(self, step: Step) -> None:
        self.feed(OUTPUTS[step.name], step.value)

    def worker_reads(self, step: Step) -> None:
        target = INPUTS[step.name]
        if step.value is None:
            assert target in self.closed, f"line {step.line}: {step.name} is open"
            assert self.inputs[target] == b""
            return
        got, self.inputs[target] = self.inputs[target][: len(step.value)], self.inputs[target][len(step.value) :]
        assert got == step.value, f"line {step.line}"

    def worker_interrupted(self, step: Step) -> None:
        assert self.interrupts == int(step.name), f"line {step.line}"

    def worker_closes(self, step: Step) -> None:
        if step.name == "stdin":
            self.refusing.add(Target.STDIN)
        else:
            if step.name == "sideband":
                self.refusing.add(Target.SIDEBAND)
            self.end(OUTPUTS[step.name])

    def worker_exits(self, step: Step) -> None:
        if self.alive:
            self.die(WorkerExited(int(step.name)))

    def worker_signals(self, step: Step) -> None:
        if self.alive:
            self.die(WorkerSignaled(int(step.name)))

    def worker_stops(self, step: Step) -> None:
        """A stop is nothing that a relay sees."""

    def child_holds(self, step: Step) -> None:
        self.held.add(OUTPUTS[step.name])

    def wait_wait(self, step: Step) -> None:
        self.pass_time(step.value)

    def quiet_quiet(self, step: Step) -> None:
        before = list(self.expected.all)
        self.pass_time(step.value)
        assert self.expected.all == before, f"line {step.line}"

    def relay_event(self, step: Step) -> None:
        self.expected.event(step)

    def relay_raw(self, step: Step) -> None:
        self.expected.raw(step)

    def ends_ends(self, step: Step) -> None:
        self.expected.ending(step, step.value)
        if step.value.at is not None:
            assert abs(self.now - START - step.value.at) < 0.001, f"line {step.line}: ended at {self.now - START}"
