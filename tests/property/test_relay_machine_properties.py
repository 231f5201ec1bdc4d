"""The relay machine under anything: nothing raises, chunking never matters, and the order of its events holds."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from hopline.wire.worker.codec import decode_event, encode
from hopline.wire.worker.limits import RelayLimits
from hopline.wire.worker.messages import (
    Completed,
    ConsoleOutput,
    Evaluate,
    Event,
    Frame,
    Interrupt,
    RawOutput,
    Ready,
    Resize,
    Shutdown,
    Stderr,
    StderrBytes,
    StderrClosed,
    Stdin,
    StdinBytes,
    StdinClose,
    StdinResult,
    StdoutClosed,
    WorkerExited,
    WorkerSidebandClosed,
    WorkerStarted,
)
from hopline.wire.worker.relay import RelayMachine
from hopline.wire.worker.relay_ports import (
    CloseInput,
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

COMMANDS = [
    Stdin("text"),
    Stdin("", 1),
    StdinBytes(b"\xff" * 9, 2),
    StdinClose(),
    Interrupt(3),
    Evaluate("python", "1"),
    Shutdown(50),
]
SIDEBAND = [Ready(), ConsoleOutput("x" * 30), Completed()]
GARBAGE = [b"garbage\n", b"\xff", b"{", b"\n", b'{"kind":"ready","x":1}\n']


def lines(kinds: list[Frame]) -> list[bytes]:
    return [encode(kind) for kind in kinds]


def reads(*lists: list[bytes]) -> st.SearchStrategy[bytes]:
    """Some frames, or a part of them, or garbage."""
    pieces = st.sampled_from([piece for pieces in lists for piece in pieces])
    whole = st.lists(pieces, min_size=1, max_size=3).map(b"".join)
    return st.one_of(whole, whole.flatmap(lambda data: st.integers(1, len(data)).map(lambda size: data[:size])))


RAW = st.one_of(st.binary(min_size=1, max_size=40), st.just(b"line\n"), st.just("é€😀".encode()[:-2]))
STEPS = st.one_of(
    st.tuples(st.just("commands"), reads(lines(COMMANDS), lines(COMMANDS), GARBAGE)),
    st.tuples(st.just("sideband"), reads(lines(SIDEBAND), lines(SIDEBAND), GARBAGE)),
    st.tuples(st.sampled_from(["stdout", "stderr"]), RAW),
    st.tuples(st.just("eof"), st.sampled_from(list(Source))),
    st.tuples(st.just("would block"), st.sampled_from([Source.SIDEBAND, Source.STDOUT, Source.STDERR])),
    st.tuples(st.just("size"), st.just(None)),
    st.tuples(st.just("take"), st.integers(1, 200)),
    st.tuples(st.just("input"), st.tuples(st.sampled_from(list(Target)), st.integers(1, 20))),
    st.tuples(st.just("stall"), st.sampled_from(list(Target))),
    st.tuples(st.just("broken"), st.sampled_from(list(Target))),
    st.tuples(st.just("wait"), st.sampled_from([0.01, 0.2, 1.1])),
    st.tuples(st.just("exit"), st.just(None)),
    st.tuples(st.just("gone"), st.just(None)),
)
LIMITS = RelayLimits(queue_frames=4, queue_bytes=300, supervisor_frames=3, input_bytes=2000, receipts=3)


class World:
    """Does to a machine only what a real process could, and keeps what came out."""

    def __init__(self, *, sideband: bool, patient: bool, terminal: bool) -> None:
        self.machine = RelayMachine(LIMITS, sideband=sideband, patient=patient, terminal=terminal)
        self.terminal = terminal
        self.now = 10.0
        self.out = b""
        self.given = {Source.STDOUT: b"", Source.STDERR: b""}
        self.ended: set[Source] = set() if sideband else {Source.SIDEBAND}
        self.closed: set[Target] = set() if sideband else {Target.SIDEBAND}
        self.exited = self.gone = False
        self.kills = self.reaps = 0
        self.finish: Finish | None = None
        self.machine.started(7)

    def step(self, what: str, how: object) -> None:
        machine, now = self.machine, self.now
        match what, how:
            case "wait", float(seconds):
                self.now += seconds
            case "eof", Source() as source if self.open(source):
                self.ended.add(source)
                machine.receive_eof(source, now)
            case (("commands" | "sideband" | "stdout" | "stderr"), bytes(data)) if self.open(Source(what)):
                if Source(what) in self.given:
                    self.given[Source(what)] += data
                machine.receive(Source(what), data, now)
            case "would block", Source() as source if self.open(source):
                machine.would_block(source, now)
            case "size", None if self.terminal and self.open(Source.COMMANDS):
                machine.receive(Source.COMMANDS, encode(Resize(80, 24)), now)
            case "take", int(most):
                self.take(most)
            case "input", (Target() as target, int(most)) if target not in self.closed:
                if waiting := sum(map(len, machine.input_buffers(target))):
                    machine.input_wrote(target, min(most, waiting), now)
            case "stall", Target() as target if target not in self.closed:
                if machine.input_buffers(target):
                    machine.input_stalled(target, now)
            case "broken", Target() as target if target not in self.closed:
                if machine.input_buffers(target):
                    machine.input_failed(target, "Broken pipe", now)
            case "exit", None if not self.exited:
                self.exited = True
                machine.worker_ended(WorkerExited(0), dict.fromkeys(self.given, 50), now)
            case "gone", None if not self.gone:
                self.gone = True
                machine.output_failed("Broken pipe", now)
        machine.on_time(self.now)
        self.obey()

    def open(self, source: Source) -> bool:
        return source not in self.ended and self.machine.wants(source)

    def take(self, most: int) -> None:
        data = b"".join(self.machine.output_buffers())[:most]
        if data and not self.gone:
            self.out += data
            self.machine.output_wrote(len(data), self.now)

    def obey(self) -> None:
        while effects := self.machine.take_effects():
            for effect in effects:
                assert self.finish is None, "nothing is done after the last effect"
                match effect:
                    case SignalWorker(request_id):
                        assert not self.exited
                        self.machine.interrupted(request_id, None, self.now)
                    case KillWorker():
                        assert not self.exited, "never after the exit was seen"
                        self.kills += 1
                    case EndTerminalInput():
                        assert self.terminal
                        self.machine.input_end(b"\x04", self.now)
                    case HangUp() | ResizeTerminal():
                        assert self.terminal and not self.exited
                    case CloseInput(target):
                        assert target not in self.closed
                        self.closed.add(target)
                    case ReapWorker():
                        assert self.exited
                        self.reaps += 1
                    case Finish():
                        self.finish = effect

    def end(self) -> None:
        """Let everything come to its end."""
        self.step("exit", None)
        for _ in range(200):
            for source in (Source.SIDEBAND, Source.STDOUT, Source.STDERR):
                self.step("would block", source)
            self.step("take", 100)
            if self.finish:
                return
            self.step("wait", 0.05)
        raise AssertionError("the relay does not end")


def events_of(out: bytes) -> list[Event]:
    return [decode_event(line) for line in out.split(b"\n")[:-1]]


def data_of(events: list[Event], stream: str) -> bytes:
    joined = b""
    for event in events:
        if isinstance(event, RawOutput) and isinstance(event, Stderr | StderrBytes) == (stream == "stderr"):
            joined += event.data.encode() if isinstance(event.data, str) else event.data
    return joined


@settings(max_examples=400)
@given(st.lists(STEPS, max_size=25), st.booleans(), st.booleans(), st.booleans())
def test_whatever_happens_the_order_of_events_holds(
    steps: list[tuple[str, object]], sideband: bool, patient: bool, terminal: bool
) -> None:
    """WW-TERMINAL-ORDER WW-READERS-WAIT WW-EXIT-UNREAPED"""
    world = World(sideband=sideband, patient=patient, terminal=terminal)
    for what, how in steps:
        world.step(what, how)
        assert world.machine.take_effects() == []
    world.end()
    assert world.finish is not None
    assert world.kills <= 1
    assert world.reaps == 1
    events = events_of(world.out)
    if events:
        assert isinstance(events[0], WorkerStarted)
    for before, after in pairwise(events):
        assert not isinstance(before, WorkerExited), "nothing follows the outcome"
        assert not isinstance(after, WorkerStarted)
    for source, data in world.given.items():
        assert data.startswith(data_of(events, source)), "a stream's bytes come in order, without a hole"
    if world.finish.status == 0:
        assert world.out.endswith(b"\n")
        assert isinstance(events[-1], WorkerExited)
        kinds = [type(event) for event in events]
        for closure, stream in ((StdoutClosed, "stdout"), (StderrClosed, "stderr")):
            assert kinds.count(closure) == 1
            assert data_of(events[kinds.index(closure) :], stream) == b""
            assert data_of(events, stream) == world.given[Source(stream)]
        assert kinds.count(WorkerSidebandClosed) == 1


@given(st.data())
def test_how_a_stream_was_cut_never_matters(data: st.DataObject) -> None:
    """The same bytes in other pieces give the same events, raw chunks joined; receipts for input are another
    producer's, and one that comes after retirement began is not given."""
    streams = {
        Source.COMMANDS: b"".join(data.draw(st.lists(st.sampled_from(lines(COMMANDS) + GARBAGE), max_size=4))),
        Source.SIDEBAND: b"".join(data.draw(st.lists(st.sampled_from(lines(SIDEBAND) + GARBAGE), max_size=4))),
        Source.STDOUT: data.draw(st.binary(max_size=30)),
        Source.STDERR: "aé€😀".encode() * 3,
    }

    def run(size: int) -> tuple[list[Event], bytes, bytes, list[bytes]]:
        machine = RelayMachine()
        machine.started(1)
        received = dict.fromkeys(Target, b"")
        out = b""
        for source, stream in streams.items():
            for at in range(0, len(stream), size):
                if not machine.wants(source):
                    break
                machine.receive(source, stream[at : at + size], 1.0)
                while signals := [effect for effect in machine.take_effects() if isinstance(effect, SignalWorker)]:
                    machine.interrupted(signals[0].request_id, None, 1.0)
                for target in Target:
                    offered = b"".join(machine.input_buffers(target))
                    received[target] += offered
                    machine.input_wrote(target, len(offered), 1.0)
        machine.worker_ended(WorkerExited(0), {}, 1.0)
        for source in (Source.SIDEBAND, Source.STDOUT, Source.STDERR):
            machine.would_block(source, 1.0)
        while buffers := machine.output_buffers():
            out += b"".join(buffers)
            machine.output_wrote(sum(map(len, buffers)), 1.0)
        events = events_of(out)
        lifecycle = [event for event in events if not isinstance(event, RawOutput | StdinResult)]
        return lifecycle, data_of(events, "stdout"), data_of(events, "stderr"), [*received.values()]

    whole = run(10_000)
    assert run(1) == whole
    assert run(3) == whole
