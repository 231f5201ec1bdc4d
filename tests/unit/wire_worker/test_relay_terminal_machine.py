"""The relay machine with a terminal instead of pipes."""

import pytest
from test_relay_machine import BLOCK, FATAL_BLOCK, Relay, shutdown

from hopline.wire.worker.codec import FrameRefused, decode_command
from hopline.wire.worker.messages import Resize
from hopline.wire.worker.relay_ports import (
    CloseInput,
    EndTerminalInput,
    HangUp,
    KillWorker,
    ResizeTerminal,
    Source,
    Target,
)
from hopline.wire.worker.worker_input import WorkerInput

CLOSE = {"kind": "stdin_close"}


def terminal() -> Relay:
    return Relay(sideband=False, terminal=True)


def resize(columns: int, rows: int) -> dict[str, object]:
    return {"kind": "resize", "columns": columns, "rows": rows}


def typed(relay: Relay) -> bytes:
    """Let the terminal take all that waits."""
    data = b"".join(relay.machine.input_buffers(Target.STDIN))
    if data:
        relay.machine.input_wrote(Target.STDIN, len(data), relay.now)
    relay.read()
    return data


def test_a_terminal_has_one_stream_and_the_same_terminal_block() -> None:
    """WW-TERMINAL WW-TERMINAL-ORDER"""
    relay = terminal()
    assert relay.machine.wants(Source.STDOUT) and not relay.machine.wants(Source.STDERR)
    relay.output(Source.STDOUT, b"drawn")
    relay.exit()
    relay.machine.receive_eof(Source.STDOUT, relay.now)
    relay.read()
    assert relay.kinds() == ["worker_started", "stdout", *BLOCK]


def test_a_size_takes_effect_before_input_that_waits() -> None:
    """WW-TERMINAL"""
    relay = terminal()
    relay.commands({"kind": "stdin", "data": "abc"}, resize(100, 30))
    assert relay.effects == [ResizeTerminal(100, 30)]
    assert typed(relay) == b"abc"


def test_a_size_without_a_terminal_is_a_failure() -> None:
    relay = Relay()
    relay.commands(resize(100, 30))
    relay.exit()
    relay.dry()
    assert relay.kinds() == ["worker_started", *FATAL_BLOCK]
    assert relay.events[-3]["message"] == "resize for a worker without a terminal"


@pytest.mark.parametrize(("columns", "rows"), [(0, 1), (1, 0), (65536, 1), (1, 65536)])
def test_a_size_that_no_terminal_has_is_refused(columns: int, rows: int) -> None:
    """WW-STRICT"""
    with pytest.raises(FrameRefused):
        decode_command(b'{"kind":"resize","columns":%d,"rows":%d}' % (columns, rows))
    assert decode_command(b'{"kind":"resize","rows":1,"columns":65535}') == Resize(columns=65535, rows=1)


@pytest.mark.parametrize(("before", "unfinished"), [("abc", True), ("abc\n", False), ("", False), ("x\r", False)])
def test_an_end_of_input_is_asked_for_once_what_was_before_it_is_written(before: str, unfinished: bool) -> None:
    """WW-TERMINAL"""
    relay = terminal()
    relay.commands({"kind": "stdin", "data": before, "request_id": 1}, CLOSE, {"kind": "stdin", "data": "then"})
    asked = EndTerminalInput(unfinished)
    if before:
        assert relay.effects == []
    assert typed(relay) == before.encode()
    assert relay.effects == [asked]
    relay.at(0.1)
    assert relay.effects == [asked] and typed(relay) == b""
    relay.machine.input_end(b"\x04\x04", relay.now)
    assert typed(relay) == b"\x04\x04then"
    assert [event["kind"] for event in relay.events] == ["worker_started", "stdin_result"]


def test_input_goes_on_after_any_number_of_ends() -> None:
    relay = terminal()
    relay.commands(CLOSE, CLOSE)
    for _ in range(2):
        assert relay.effects.pop() == EndTerminalInput(False)
        relay.machine.input_end(b"\x04", relay.now)
        assert typed(relay) == b"\x04"
    relay.commands({"kind": "stdin", "data": "more", "request_id": 2})
    assert typed(relay) == b"more"
    assert relay.events[-1] == {"kind": "stdin_result", "request_id": 2}


def test_retirement_hangs_up_at_once_and_kills_at_the_deadline() -> None:
    """WW-TELL-WORKER WW-TERMINAL"""
    relay = terminal()
    relay.commands(shutdown(500))
    assert relay.effects == [HangUp(), CloseInput(Target.STDIN)]
    relay.commands(resize(1, 1))
    relay.at(0.5)
    assert relay.effects == [HangUp(), CloseInput(Target.STDIN), KillWorker()]


def test_an_end_that_was_asked_for_too_late_is_dropped() -> None:
    relay = terminal()
    relay.commands(CLOSE)
    relay.exit()
    relay.machine.input_end(b"\x04", relay.now)
    assert typed(relay) == b""
    assert CloseInput(Target.STDIN) in relay.effects


def test_a_terminal_that_hung_up_answers_input_and_forgets_its_ends() -> None:
    """WW-STDIN-RECEIPT"""
    relay = terminal()
    relay.commands({"kind": "stdin", "data": "a", "request_id": 1}, CLOSE)
    relay.machine.input_failed(Target.STDIN, "Input/output error", relay.now)
    assert relay.read() == [{"kind": "stdin_result", "request_id": 1, "error": "Input/output error"}]
    assert not relay.killed


def test_an_end_is_taken_once_and_only_at_its_turn() -> None:
    pipe = WorkerInput()
    pipe.put(b"a")
    pipe.put_end()
    assert not pipe.take_end()
    assert pipe.wrote(1) == []
    assert pipe.take_end() and not pipe.take_end()
    pipe.end_with(b"\x04")
    assert [bytes(part) for part in pipe.buffers()] == [b"\x04"]
    assert pipe.size == 1
    pipe.wrote(1)
    pipe.end_with(b"late")
    assert pipe.buffers() == []
