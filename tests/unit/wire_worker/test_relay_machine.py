"""The relay machine: every trigger in every phase, and what it says about it."""

import json
from typing import Any

import pytest

from hopline.wire.worker.limits import RelayLimits
from hopline.wire.worker.messages import Outcome, WorkerExited, WorkerSignaled
from hopline.wire.worker.relay import RelayMachine
from hopline.wire.worker.relay_ports import (
    CloseInput,
    Effect,
    Finish,
    KillWorker,
    ReapWorker,
    SignalWorker,
    Source,
    Target,
)

EMPTY = {Source.STDOUT: 100, Source.STDERR: 100, Source.SIDEBAND: 100}


class Relay:
    """A machine whose consumer and worker take everything, unless told otherwise."""

    def __init__(
        self, limits: RelayLimits | None = None, *, sideband: bool = True, patient: bool = False, terminal: bool = False
    ) -> None:
        self.machine = RelayMachine(limits, sideband=sideband, patient=patient, terminal=terminal)
        self.now = 100.0
        self.effects: list[Effect] = []
        self.events: list[dict[str, Any]] = []
        self.reading = True
        self.machine.started(1234)
        self.read()

    def read(self) -> list[dict[str, Any]]:
        """Let the consumer take what waits; returns what is new."""
        new: list[dict[str, Any]] = []
        self.effects += self.machine.take_effects()
        while self.reading and (buffers := self.machine.output_buffers()):
            data = b"".join(buffers)
            new += [json.loads(line) for line in data.splitlines()]
            self.machine.output_wrote(len(data), self.now)
            self.effects += self.machine.take_effects()
        self.events += new
        return new

    def commands(self, *frames: dict[str, Any] | bytes) -> list[dict[str, Any]]:
        data = b"".join(frame if isinstance(frame, bytes) else json.dumps(frame).encode() + b"\n" for frame in frames)
        self.machine.receive(Source.COMMANDS, data, self.now)
        return self.read()

    def output(self, source: Source, data: bytes) -> list[dict[str, Any]]:
        self.machine.receive(source, data, self.now)
        return self.read()

    def eof(self, source: Source) -> list[dict[str, Any]]:
        self.machine.receive_eof(source, self.now)
        return self.read()

    def exit(self, outcome: Outcome | None = None) -> None:
        self.machine.worker_ended(outcome or WorkerExited(0), EMPTY, self.now)
        self.read()

    def dry(self) -> list[dict[str, Any]]:
        """Every stream would block."""
        for source in (Source.STDOUT, Source.STDERR, Source.SIDEBAND):
            self.machine.would_block(source, self.now)
        return self.read()

    def at(self, seconds: float) -> list[dict[str, Any]]:
        """Jump the clock to `seconds` after the start."""
        self.now = 100.0 + seconds
        self.machine.on_time(self.now)
        return self.read()

    @property
    def killed(self) -> bool:
        return KillWorker() in self.effects

    @property
    def finish(self) -> Finish | None:
        return next((effect for effect in self.effects if isinstance(effect, Finish)), None)

    def kinds(self) -> list[str]:
        return [event["kind"] for event in self.events]


def shutdown(millis: int) -> dict[str, Any]:
    return {"kind": "shutdown", "grace_millis": millis}


def interrupt(number: int) -> dict[str, Any]:
    return {"kind": "interrupt", "request_id": number}


BLOCK = ["stdout_closed", "stderr_closed", "worker_sideband_closed", "worker_exited"]
FATAL_BLOCK = ["stdout_closed", "stderr_closed", "fatal", "worker_sideband_closed", "worker_exited"]


def test_a_worker_that_exits_by_itself_gives_the_block_and_status_0() -> None:
    """WW-STARTED-FIRST WW-TERMINAL-ORDER WW-EXIT-UNREAPED"""
    relay = Relay()
    relay.exit(WorkerExited(3))
    relay.dry()
    assert relay.kinds() == ["worker_started", *BLOCK]
    assert relay.events[-1]["code"] == 3
    assert relay.effects[-2:] == [ReapWorker(), Finish(0, "")]
    assert not relay.killed


def test_nothing_is_said_of_a_stream_that_ends_early() -> None:
    """WW-TERMINAL-ORDER"""
    relay = Relay()
    assert relay.eof(Source.STDOUT) == []
    assert relay.eof(Source.STDERR) == []
    assert relay.at(1000) == []
    assert not relay.machine.wants(Source.STDOUT)


def test_a_launch_that_failed_is_one_fatal_and_status_1() -> None:
    """WW-LAUNCH-FATAL"""
    machine = RelayMachine()
    machine.launch_failed("cannot start 'x': no", 1.0)
    assert not any(machine.wants(source) for source in Source)
    data = b"".join(machine.output_buffers())
    assert data == b'{"kind":"fatal","message":"cannot start \'x\': no"}\n'
    machine.output_wrote(len(data), 1.0)
    assert machine.take_effects() == [Finish(1, "cannot start 'x': no")]


def test_a_launch_that_failed_does_not_wait_for_a_blocked_consumer_for_ever() -> None:
    """WW-FLUSH-BOUND"""
    machine = RelayMachine(patient=True)
    machine.launch_failed("cannot start", 1.0)
    assert machine.next_deadline() == 2.0
    machine.on_time(2.0)
    assert [type(effect) for effect in machine.take_effects()] == [Finish]


def test_a_shutdown_tells_the_worker_and_kills_it_at_its_deadline() -> None:
    """WW-TELL-WORKER WW-DEADLINE-FIXED"""
    relay = Relay()
    assert not relay.machine.retiring
    assert relay.commands(shutdown(600)) == [{"kind": "shutdown_started"}]
    assert relay.machine.retiring
    assert relay.effects == [CloseInput(Target.STDIN)]
    assert b"".join(relay.machine.input_buffers(Target.SIDEBAND)) == b'{"kind":"shutdown"}\n'
    relay.at(0.59)
    assert not relay.killed
    relay.at(0.6)
    assert relay.killed
    relay.exit(WorkerSignaled(9))
    relay.dry()
    assert relay.events[-1] == {"kind": "worker_signaled", "signal": 9}
    assert relay.finish == Finish(0, "")


@pytest.mark.parametrize("tail", [b"garbage\n", b'{"kind":"shutdown","grace_millis":9000}\n', b'{"kind":', b"\xff\n"])
def test_nothing_after_the_first_shutdown_is_looked_at(tail: bytes) -> None:
    """WW-SHUTDOWN-ENDS-PARSING"""
    relay = Relay()
    relay.commands(shutdown(500), tail)
    assert not relay.machine.wants(Source.COMMANDS)
    relay.commands(tail)
    relay.eof(Source.COMMANDS)
    relay.at(0.5)
    relay.exit(WorkerExited(0))
    relay.dry()
    assert relay.kinds() == ["worker_started", "shutdown_started", *BLOCK]


def test_the_end_of_the_commands_gives_one_second_and_says_nothing() -> None:
    """WW-DEADLINE-FIXED"""
    relay = Relay()
    assert relay.eof(Source.COMMANDS) == []
    relay.at(0.99)
    assert not relay.killed
    relay.at(1.0)
    assert relay.killed


def test_the_end_of_the_sideband_gives_one_second_that_no_shutdown_renews() -> None:
    """WW-DEADLINE-FIXED"""
    relay = Relay()
    relay.eof(Source.SIDEBAND)
    relay.at(0.5)
    assert relay.commands(shutdown(5000)) == []
    relay.at(1.0)
    assert relay.killed


def test_after_another_trigger_commands_are_checked_but_not_obeyed() -> None:
    """WW-STRICT WW-INTERRUPT"""
    relay = Relay()
    relay.eof(Source.SIDEBAND)
    relay.commands(interrupt(1), {"kind": "stdin", "data": "x", "request_id": 2})
    assert not any(isinstance(effect, SignalWorker) for effect in relay.effects)
    relay.commands(b"garbage\n")
    assert relay.killed
    relay.exit(WorkerExited(0))
    relay.dry()
    assert relay.kinds() == ["worker_started", *FATAL_BLOCK]


@pytest.mark.parametrize(
    "data",
    [
        b"garbage\n",
        b"\n",
        b'{"kind":"nothing"}\n',
        b'{"kind":"interrupt","request_id":"1"}\n',
        b'{"kind":"stdin_close","x":1}\n',
        b'{"kind":"ready"}\n',
    ],
)
def test_a_bad_command_kills_at_its_newline(data: bytes) -> None:
    """WW-STRICT WW-FATAL-AT-ONCE WW-REAL-OUTCOME"""
    relay = Relay()
    relay.commands(data[:-1])
    assert not relay.killed
    relay.commands(b"\n")
    assert relay.killed
    assert not relay.machine.wants(Source.COMMANDS)
    relay.exit(WorkerExited(5))
    relay.dry()
    assert relay.kinds() == ["worker_started", *FATAL_BLOCK]
    assert relay.events[-1]["code"] == 5
    assert relay.finish == Finish(0, "")


@pytest.mark.parametrize("tail", [b'{"kind":"stdin_close"}', b"x", b'{"kind":"shutdown","grace_millis":5}'])
def test_an_unterminated_command_at_the_end_is_not_obeyed_but_fails(tail: bytes) -> None:
    """WW-NEWLINE"""
    relay = Relay()
    relay.commands(tail)
    relay.eof(Source.COMMANDS)
    assert relay.killed
    relay.exit()
    relay.dry()
    assert relay.kinds() == ["worker_started", *FATAL_BLOCK]
    assert "inside a frame" in relay.events[-3]["message"]


def test_a_line_beyond_the_bound_is_a_failure() -> None:
    """WW-INPUT-BOUND"""
    relay = Relay(RelayLimits(line_bytes=50))
    relay.commands(b'{"kind":"stdin","data":"' + b"x" * 100)
    assert relay.killed
    side = Relay(RelayLimits(line_bytes=50))
    side.output(Source.SIDEBAND, b'{"kind":"console_output","data":"' + b"x" * 100)
    assert side.killed
    side.exit()
    side.dry()
    assert "longer than 50 bytes" in side.events[-3]["message"]


def test_an_interrupt_is_answered_before_the_command_behind_it_is_obeyed() -> None:
    """WW-INTERRUPT"""
    relay = Relay()
    relay.commands(interrupt(7), interrupt(7), shutdown(100))
    assert relay.effects == [SignalWorker(7)]
    relay.machine.interrupted(7, None, relay.now)
    assert relay.read() == [{"kind": "interrupt_result", "request_id": 7}]
    assert relay.effects == [SignalWorker(7), SignalWorker(7)]
    relay.machine.interrupted(7, "no such process", relay.now)
    assert relay.read() == [
        {"kind": "interrupt_result", "request_id": 7, "error": "no such process"},
        {"kind": "shutdown_started"},
    ]


def test_more_interrupts_than_the_allowance_fail_without_overtaking_output() -> None:
    """WW-SUPERVISOR-ALLOWANCE"""
    relay = Relay()
    relay.reading = False
    relay.output(Source.STDOUT, b"first")
    for number in range(17):
        relay.commands(interrupt(number))
        assert relay.effects[-1] == SignalWorker(number)
        assert not relay.killed
        relay.machine.interrupted(number, None, relay.now)
    relay.read()
    assert relay.killed
    relay.exit(WorkerSignaled(9))
    relay.dry()
    relay.reading = True
    relay.read()
    assert relay.kinds()[:2] == ["worker_started", "stdout"]
    assert [event["request_id"] for event in relay.events if event["kind"] == "interrupt_result"] == list(range(16))
    assert relay.kinds()[-5:] == [*FATAL_BLOCK[:-1], "worker_signaled"]


def test_a_reader_without_room_waits_and_loses_nothing() -> None:
    """WW-READERS-WAIT"""
    relay = Relay(RelayLimits(queue_frames=2))
    relay.reading = False
    for text in (b"a", b"b", b"c"):
        assert relay.machine.wants(Source.STDOUT) == (text != b"c")
        relay.output(Source.STDOUT, text)
    assert not relay.machine.wants(Source.STDERR)
    assert relay.machine.wants(Source.COMMANDS)
    relay.reading = True
    relay.read()
    assert [event.get("data") for event in relay.events[1:]] == ["a", "b", "c"]
    assert relay.machine.wants(Source.STDERR)


def test_producers_without_room_take_turns() -> None:
    """WW-READERS-WAIT"""
    relay = Relay(RelayLimits(queue_frames=1))
    relay.reading = False
    relay.output(Source.STDOUT, b"a" * 65536 * 3)
    relay.output(Source.STDERR, b"b" * 65536 * 2)
    relay.output(Source.SIDEBAND, b'{"kind":"ready"}\n{"kind":"completed"}\n')
    relay.reading = True
    relay.read()
    assert relay.kinds()[1:] == ["stdout", "stdout", "stderr", "ready", "stdout", "stderr", "completed"]


@pytest.mark.parametrize(
    "line",
    [b"garbage\n", b'{"kind":"shutdown"}\n', b'{"kind":"stdout","data":"x"}\n', b'{"kind":"ready","x":1}\n', b"\n"],
)
def test_a_bad_sideband_line_fails_and_what_was_good_before_it_is_delivered(line: bytes) -> None:
    """WW-STRICT WW-FLAT WW-FATAL-AT-ONCE"""
    relay = Relay()
    relay.output(Source.SIDEBAND, b'{"kind":"ready"}\n' + line + b'{"kind":"completed"}\n')
    assert relay.killed
    assert not relay.machine.wants(Source.SIDEBAND)
    relay.exit(WorkerSignaled(9))
    relay.dry()
    assert relay.kinds() == ["worker_started", "ready", *FATAL_BLOCK[:-1], "worker_signaled"]


def test_the_relay_checks_shape_and_not_order() -> None:
    """WW-FLAT"""
    relay = Relay()
    lines = [
        b'{"kind":"completed"}',
        b'{"kind":"input_received"}',
        b'  {"mime_type":"m", "data":"not base64", "kind":"image"} \r',
    ]
    relay.output(Source.SIDEBAND, b"\n".join(lines) + b"\n")
    assert relay.events[1:] == [
        {"kind": "completed"},
        {"kind": "input_received"},
        {"kind": "image", "data": "not base64", "mime_type": "m"},
    ]


def test_half_a_sideband_frame_at_the_end_fails_unless_the_end_was_wanted() -> None:
    """WW-SIDEBAND-TAIL"""
    by_itself = Relay()
    by_itself.output(Source.SIDEBAND, b'{"kind"')
    by_itself.exit(WorkerExited(3))
    by_itself.eof(Source.SIDEBAND)
    by_itself.dry()
    assert by_itself.kinds() == ["worker_started", *FATAL_BLOCK]
    wanted = Relay()
    wanted.output(Source.SIDEBAND, b'{"kind"')
    wanted.commands(shutdown(100))
    wanted.exit(WorkerExited(3))
    wanted.eof(Source.SIDEBAND)
    wanted.dry()
    assert wanted.kinds() == ["worker_started", "shutdown_started", *BLOCK]
    held = Relay()
    held.output(Source.SIDEBAND, b'{"kind"')
    held.exit(WorkerExited(3))
    held.dry()
    assert held.kinds() == ["worker_started", *BLOCK]


def test_a_failure_found_while_draining_is_reported() -> None:
    """WW-FIRST-FAILURE"""
    relay = Relay()
    relay.commands(shutdown(100))
    relay.exit(WorkerExited(5))
    relay.output(Source.SIDEBAND, b"garbage\n")
    relay.dry()
    assert relay.kinds()[-5:] == FATAL_BLOCK


def test_the_first_failure_is_the_one_reported() -> None:
    """WW-FIRST-FAILURE"""
    relay = Relay()
    relay.output(Source.SIDEBAND, b"garbage\n")
    relay.commands(b"nonsense\n")
    relay.machine.read_failed(Source.STDOUT, "Input/output error", relay.now)
    relay.exit()
    relay.dry()
    assert relay.kinds().count("fatal") == 1
    assert relay.events[-3]["message"].startswith("worker sideband: ")


@pytest.mark.parametrize("source", list(Source))
def test_a_source_that_cannot_be_read_is_a_failure(source: Source) -> None:
    relay = Relay()
    relay.machine.read_failed(source, "Input/output error", relay.now)
    relay.read()
    assert relay.killed
    assert not relay.machine.wants(source)


def test_what_is_available_after_the_exit_is_read_whatever_the_clock_says() -> None:
    """WW-DRAIN-AVAILABLE"""
    relay = Relay()
    relay.exit()
    relay.at(50.0)
    assert relay.machine.draining
    assert relay.machine.wants(Source.STDOUT)
    assert relay.output(Source.STDOUT, b"late") == [{"kind": "stdout", "data": "late"}]
    relay.dry()
    assert relay.kinds()[-4:] == BLOCK


def test_a_stream_that_never_pauses_is_cut_after_a_full_pipe_and_its_window() -> None:
    """WW-DRAIN-AVAILABLE"""
    relay = Relay()
    relay.exit()
    relay.machine.would_block(Source.SIDEBAND, relay.now)
    relay.machine.would_block(Source.STDERR, relay.now)
    for _ in range(5):
        relay.output(Source.STDOUT, b"x" * 60)
        assert relay.machine.wants(Source.STDOUT)
    relay.at(0.1)
    assert relay.kinds()[-4:] == BLOCK
    short = Relay()
    short.exit()
    short.machine.would_block(Source.SIDEBAND, short.now)
    short.machine.would_block(Source.STDERR, short.now)
    short.at(0.2)
    short.output(Source.STDOUT, b"x" * 60)
    assert short.machine.wants(Source.STDOUT)
    short.output(Source.STDOUT, b"x" * 60)
    assert short.kinds()[-4:] == BLOCK


def test_a_drain_that_waits_for_the_consumer_does_not_spin() -> None:
    relay = Relay(RelayLimits(queue_frames=1))
    relay.reading = False
    relay.output(Source.STDOUT, b"x")
    relay.output(Source.STDOUT, b"x")
    relay.exit()
    relay.dry()
    relay.at(0.2)
    assert (relay.machine.next_deadline() or 0) > relay.now


def test_a_blocked_consumer_is_given_up_and_nothing_more_is_offered() -> None:
    """WW-FLUSH-BOUND WW-ABORTED-FRAME"""
    relay = Relay()
    relay.reading = False
    relay.output(Source.STDOUT, b"x" * 100)
    relay.machine.output_wrote(10, relay.now)
    relay.exit()
    relay.dry()
    relay.at(0.99)
    assert relay.finish is None
    relay.at(1.0)
    assert relay.machine.output_buffers() == []
    assert relay.effects[-2:] == [ReapWorker(), Finish(1, "the consumer took nothing for 1.0 s")]


def test_a_blocked_consumer_is_given_up_also_while_draining() -> None:
    """WW-FLUSH-BOUND"""
    relay = Relay(RelayLimits(queue_frames=1))
    relay.reading = False
    relay.output(Source.STDOUT, b"x")
    relay.output(Source.STDOUT, b"x")
    relay.exit()
    relay.at(1.0)
    assert relay.finish is not None
    assert relay.finish.status == 1


def test_patience_keeps_everything_until_the_consumer_takes_it() -> None:
    """WW-PATIENT"""
    relay = Relay(patient=True)
    relay.reading = False
    relay.output(Source.STDOUT, b"x")
    relay.exit()
    relay.dry()
    relay.at(3600.0)
    assert relay.finish is None
    assert relay.machine.wants(Source.COMMANDS)
    relay.reading = True
    relay.read()
    assert relay.kinds() == ["worker_started", "stdout", *BLOCK]
    assert relay.finish == Finish(0, "")


@pytest.mark.parametrize("ending", [b'{"kind":"shutdown","grace_millis":1}\n', b"garbage\n", None])
def test_patience_ends_with_the_commands(ending: bytes | None) -> None:
    """WW-PATIENT"""
    relay = Relay(patient=True)
    relay.reading = False
    relay.output(Source.STDOUT, b"x")
    relay.exit()
    relay.dry()
    relay.at(3600.0)
    relay.eof(Source.COMMANDS) if ending is None else relay.commands(ending)
    relay.at(3601.0)
    assert relay.finish is not None
    assert relay.finish.status == 1


def test_a_consumer_that_closed_its_end_retires_the_worker_at_once() -> None:
    """WW-CONSUMER-GONE"""
    relay = Relay()
    relay.machine.output_failed("Broken pipe", relay.now)
    relay.read()
    assert relay.killed
    assert not any(relay.machine.wants(source) for source in Source)
    relay.machine.output_failed("Broken pipe", relay.now)
    relay.exit(WorkerSignaled(9))
    assert relay.effects[-2:] == [ReapWorker(), Finish(1, "cannot write events: Broken pipe")]
    assert relay.kinds() == ["worker_started"]


def test_a_consumer_that_goes_while_flushing_ends_the_relay() -> None:
    """WW-CONSUMER-GONE"""
    relay = Relay()
    relay.reading = False
    relay.exit()
    relay.dry()
    relay.machine.output_failed("Broken pipe", relay.now)
    relay.read()
    assert relay.finish is not None
    assert relay.finish.status == 1


def test_a_worker_that_cannot_be_killed_is_a_failure_without_outcome() -> None:
    """WW-UNKILLABLE"""
    relay = Relay()
    relay.commands(shutdown(0))
    assert relay.killed
    relay.at(5.0)
    assert relay.kinds() == ["worker_started", "shutdown_started", *FATAL_BLOCK[:-1]]
    assert ReapWorker() not in relay.effects
    assert relay.finish is not None
    assert relay.finish.status == 1


def test_without_a_consumer_a_worker_that_cannot_be_killed_ends_the_relay_too() -> None:
    """WW-UNKILLABLE"""
    relay = Relay()
    relay.machine.output_failed("Broken pipe", relay.now)
    relay.at(5.0)
    assert relay.finish == Finish(1, "cannot write events: Broken pipe")


def test_input_reaches_the_worker_and_is_answered_when_it_is_in_the_pipe() -> None:
    """WW-STDIN-STREAM WW-STDIN-RECEIPT"""
    relay = Relay()
    relay.commands({"kind": "stdin", "data": "abc", "request_id": 1}, {"kind": "stdin_close"})
    relay.machine.input_wrote(Target.STDIN, 2, relay.now)
    assert relay.read() == []
    relay.machine.input_wrote(Target.STDIN, 1, relay.now)
    assert relay.read() == [{"kind": "stdin_result", "request_id": 1}]
    assert relay.effects == [CloseInput(Target.STDIN)]


def test_a_closed_fd_0_is_a_failure_without_a_request_id_and_an_answer_with_one() -> None:
    """WW-STDIN-RECEIPT"""
    asked = Relay()
    asked.commands({"kind": "stdin", "data": "x", "request_id": 1})
    asked.machine.input_failed(Target.STDIN, "Broken pipe", asked.now)
    assert asked.read() == [{"kind": "stdin_result", "request_id": 1, "error": "Broken pipe"}]
    assert not asked.killed
    blind = Relay()
    blind.commands({"kind": "stdin", "data": "x"})
    blind.machine.input_failed(Target.STDIN, "Broken pipe", blind.now)
    blind.read()
    assert blind.killed


def test_a_closed_sideband_fails_a_cell_but_not_a_shutdown() -> None:
    relay = Relay()
    relay.commands({"kind": "evaluate", "language": "python", "source": ""})
    relay.machine.input_failed(Target.SIDEBAND, "Broken pipe", relay.now)
    relay.read()
    assert relay.killed
    told = Relay()
    told.commands(shutdown(1000))
    told.machine.input_failed(Target.SIDEBAND, "Broken pipe", told.now)
    told.read()
    assert not told.killed


def test_once_retirement_has_begun_input_gets_no_receipt() -> None:
    """WW-TELL-WORKER"""
    relay = Relay()
    relay.commands({"kind": "stdin", "data": "x", "request_id": 1}, shutdown(1000))
    assert b"".join(relay.machine.input_buffers(Target.STDIN)) == b"x"
    relay.machine.input_wrote(Target.STDIN, 1, relay.now)
    assert relay.read() == []
    assert CloseInput(Target.STDIN) in relay.effects


def test_input_that_stalls_in_retirement_is_dropped_and_fd_0_closed() -> None:
    """WW-TELL-WORKER"""
    relay = Relay()
    relay.commands({"kind": "stdin", "data": "x" * 100}, shutdown(1000))
    relay.machine.input_stalled(Target.STDIN, relay.now)
    relay.read()
    assert CloseInput(Target.STDIN) in relay.effects


def test_receipts_that_find_no_room_wait_up_to_a_bound() -> None:
    """WW-INPUT-BOUND"""
    relay = Relay(RelayLimits(queue_frames=1, receipts=2))
    relay.reading = False
    for number in range(3):
        relay.commands({"kind": "stdin", "data": "", "request_id": number})
    assert not relay.killed
    relay.commands({"kind": "stdin", "data": "", "request_id": 4})
    assert relay.killed


def test_without_a_sideband_its_closure_is_still_in_the_block_and_a_cell_fails() -> None:
    """WW-NO-SIDEBAND"""
    relay = Relay(sideband=False)
    assert not relay.machine.wants(Source.SIDEBAND)
    relay.commands({"kind": "evaluate", "language": "python", "source": ""})
    assert relay.killed
    relay.exit()
    relay.dry()
    assert relay.kinds() == ["worker_started", *FATAL_BLOCK]


def test_without_a_sideband_the_end_of_nothing_is_no_trigger() -> None:
    """WW-NO-SIDEBAND"""
    relay = Relay(sideband=False)
    relay.at(1000.0)
    assert relay.effects == []
    relay.exit()
    relay.machine.would_block(Source.STDOUT, relay.now)
    relay.machine.would_block(Source.STDERR, relay.now)
    relay.read()
    assert relay.kinds() == ["worker_started", *BLOCK]


def test_a_message_that_quotes_a_peer_is_bounded() -> None:
    relay = Relay()
    relay.machine.read_failed(Source.STDOUT, "x" * 100_000, relay.now)
    relay.exit()
    relay.dry()
    assert len(relay.events[-3]["message"]) == 4096


TRIGGERS = {
    "shutdown": lambda relay: relay.commands(shutdown(1000)),
    "garbage": lambda relay: relay.commands(b"garbage\n"),
    "command end": lambda relay: relay.eof(Source.COMMANDS),
    "sideband end": lambda relay: relay.eof(Source.SIDEBAND),
    "sideband garbage": lambda relay: relay.output(Source.SIDEBAND, b"garbage\n"),
    "stdout end": lambda relay: relay.eof(Source.STDOUT),
    "time": lambda relay: relay.at(2.0),
    "consumer gone": lambda relay: relay.machine.output_failed("Broken pipe", relay.now),
    "closed stdin": lambda relay: relay.machine.input_failed(Target.STDIN, "Broken pipe", relay.now),
}


@pytest.mark.parametrize("first", TRIGGERS)
@pytest.mark.parametrize("second", TRIGGERS)
@pytest.mark.parametrize("third", ["exit first", "exit last"])
def test_whatever_happens_in_whatever_order_the_relay_ends_in_order(first: str, second: str, third: str) -> None:
    """WW-TERMINAL-ORDER: no order of triggers loses the outcome, repeats it, or leaves the relay waiting."""
    relay = Relay()
    if third == "exit first":
        relay.exit(WorkerExited(1))
    TRIGGERS[first](relay)
    TRIGGERS[second](relay)
    if third == "exit last":
        relay.exit(WorkerExited(1))
    relay.dry()
    relay.at(4.0)
    assert relay.finish is not None
    assert [effect for effect in relay.effects if isinstance(effect, ReapWorker | Finish)] == [
        ReapWorker(),
        relay.finish,
    ]
    assert relay.machine.next_deadline() is None
    assert relay.effects.count(KillWorker()) <= 1
    kinds = relay.kinds()
    if relay.finish.status == 0:
        assert [kind for kind in kinds if kind in FATAL_BLOCK and kind != "fatal"] == BLOCK
        assert kinds[-1] == "worker_exited"
    assert kinds.count("fatal") <= 1
