"""Event lines: the fixed beginning, the spliced output, the size bound (docs/wire/client.md, "Events")."""

import base64
import json
from dataclasses import dataclass

import pytest

from hopline.wire.client.events import (
    MAX_SERIALIZED_RUN_EVENT_BYTES,
    EventEncoder,
    EventTooLarge,
    decode_event,
    decode_events,
    output_of,
    payload_of,
    sequence_of,
)
from hopline.wire.client.payloads import (
    Descendant,
    Descendants,
    FrameworkWarning,
    JournalDropped,
    Payload,
    RunInterrupted,
    RunStarted,
    RunStatusChanged,
    ServerReady,
    SubprocessOutput,
    WorkerExited,
    WorkerRetired,
    WorkerSignaled,
    WorkerStarted,
)
from hopline.wire.client.responses import diagnosed

NOW = "2026-01-01T00:00:00.000Z"
encoder = EventEncoder("run-1")


@dataclass
class Piece:
    stream: str = "stdout"
    offset: int = 0
    content_json: bytes = b""
    raw: bytes | None = None


EVERY_PAYLOAD: list[Payload] = [
    ServerReady(),
    RunStarted(input="true"),
    RunStatusChanged(status="running", previous="starting"),
    RunInterrupted(reason="stopped"),
    FrameworkWarning(summary="s"),
    WorkerStarted(generation=1, pid=2, argv=["a"], cwd="/", runner="direct"),
    WorkerExited(generation=1, code=3),
    WorkerSignaled(generation=1, signal=9),
    WorkerRetired(
        generation=1,
        runner="direct",
        how="pid namespace ended",
        descendants=Descendants(
            state="remaining", processes=[Descendant(pid=5, name="n", started_at=NOW, start_time=1.5)]
        ),
    ),
    JournalDropped(first_sequence=1, last_sequence=2, bytes=3),
    SubprocessOutput(process_id="worker-1", stream="stderr", content="x", offset=4, raw=b"\xff"),
]


@pytest.mark.parametrize("payload", EVERY_PAYLOAD, ids=lambda one: type(one).__name__)
def test_every_payload_comes_back_with_its_kind_equal_to_the_type(payload: Payload) -> None:
    kind = str(type(payload).__struct_config__.tag)
    line = encoder.line(12, NOW, kind, data=payload)
    event = decode_event(line)
    assert payload_of(event) == payload
    assert json.loads(line)["data"]["kind"] == event.type == kind


def test_an_event_begins_with_version_and_sequence_and_is_complete() -> None:
    line = encoder.line(7, NOW, "server_started")
    assert line.startswith(b'{"protocol_version":1,"sequence":7,')
    assert json.loads(line) == {
        "protocol_version": 1,
        "sequence": 7,
        "run_id": "run-1",
        "timestamp": NOW,
        "type": "server_started",
        "text": "",
        "diagnostic": None,
        "status": None,
        "round_label": None,
        "agent_kind": None,
        "invocation_id": None,
        "execution_id": None,
        "chat_thread_id": None,
        "data": None,
        "span_id": None,
    }
    assert sequence_of(line) == 7


@pytest.mark.parametrize("content", ["", "plain\n", 'quote " and \\ back', "\x1b[31mred\x00\x1f", "é 🚀 \u2028"])
@pytest.mark.parametrize("raw", [None, b"\xff\xfe"])
def test_the_spliced_line_is_what_encoding_would_give(content: str, raw: bytes | None) -> None:
    payload = SubprocessOutput(process_id="worker-3", stream="stderr", content=content, offset=99)
    if raw is not None:
        payload = SubprocessOutput(process_id="worker-3", stream="stderr", content=content, offset=99, raw=raw)
    encoded = encoder.line(41, NOW, "subprocess_output", data=payload)
    start = encoded.index(b'"content":"') + len(b'"content":"')
    piece = Piece(
        "stderr",
        99,
        encoded[start : encoded.index(b'","offset"')],
        None if raw is None else base64.b64encode(raw),
    )
    assert encoder.output(41, NOW.encode(), 3, piece) == encoded


def test_output_gives_back_what_was_written() -> None:
    text = decode_event(encoder.output(1, NOW.encode(), 1, Piece(content_json=b"na\xc3\xafve\\n")))
    raw = decode_event(encoder.output(1, NOW.encode(), 1, Piece(content_json=b"\xef\xbf\xbd", raw=b"/w==")))
    found = [output_of(event) for event in (text, raw)]
    assert [one.written() for one in found if one is not None] == ["naïve\n".encode(), b"\xff"]


def test_only_output_is_read_as_output() -> None:
    assert output_of(decode_event(encoder.line(1, NOW, "server_started"))) is None


def test_an_unknown_kind_passes_as_an_event_without_payload() -> None:
    line = encoder.line(1, NOW, "span_started")[:-1] + b',"newer":1}'
    line = line.replace(b'"data":null', b'"data":{"kind":"span_started","span":{}}')
    event = decode_event(line)
    assert (event.type, payload_of(event)) == ("span_started", None)


def test_a_list_of_events_is_read_from_a_response_section() -> None:
    lines = [encoder.line(number, NOW, "control", text="/stop", status="pending") for number in (1, 2)]
    assert [event.sequence for event in decode_events(b"[" + b",".join(lines) + b"]")] == [1, 2]


def test_an_ordinary_event_is_not_touched_by_the_bound() -> None:
    frame = len(encoder.line(1, NOW, "control"))
    line = encoder.line(1, NOW, "control", text="x" * (MAX_SERIALIZED_RUN_EVENT_BYTES - frame))
    assert len(line) == MAX_SERIALIZED_RUN_EVENT_BYTES
    assert b"truncated" not in line


def test_a_larger_event_keeps_prefixes_and_says_so() -> None:
    frame = len(encoder.line(1, NOW, "control"))
    line = encoder.line(1, NOW, "control", text="é" * MAX_SERIALIZED_RUN_EVENT_BYTES, status="pending")
    found = json.loads(line)
    assert found["truncated"] is True and found["status"] == "pending"
    assert set(found["text"]) == {"é"}
    assert MAX_SERIALIZED_RUN_EVENT_BYTES - 2 - frame < len(line) <= MAX_SERIALIZED_RUN_EVENT_BYTES


def test_the_bound_cuts_collections_by_entries_and_leaves_words_of_closed_sets() -> None:
    argv = ["prog", *("a" * 400_000 for _ in range(5))]
    line = encoder.line(
        1, NOW, "worker_started", data=WorkerStarted(generation=1, pid=2, argv=argv, cwd="/", runner="direct")
    )
    assert len(line) <= MAX_SERIALIZED_RUN_EVENT_BYTES
    payload = payload_of(decode_event(line))
    assert isinstance(payload, WorkerStarted)
    assert (payload.argv[0], payload.cwd, payload.runner, payload.pid) == ("prog", "/", "direct", 2)
    assert len(payload.argv) == 6 and len({len(one) for one in payload.argv[1:]}) == 1


def test_the_bound_cuts_a_diagnostic_but_not_its_code() -> None:
    diagnostic = diagnosed("d" * 32, "worker_lost", "s" * 600_000, detail="t" * 600_000)
    line = encoder.line(1, NOW, "run_failed", status="failed", diagnostic=diagnostic)
    found = json.loads(line)["diagnostic"]
    assert len(line) <= MAX_SERIALIZED_RUN_EVENT_BYTES
    assert (found["id"], found["code"], found["scope"]) == ("d" * 32, "worker_lost", "request")
    assert len(found["summary"]) == len(found["detail"])


def test_an_envelope_that_is_too_large_alone_is_our_own_bug() -> None:
    with pytest.raises(EventTooLarge):
        EventEncoder("r" * MAX_SERIALIZED_RUN_EVENT_BYTES).line(1, NOW, "server_started")


def test_lone_surrogates_become_replacement_characters() -> None:
    payload = WorkerStarted(generation=1, pid=2, argv=["\udc80x"], cwd="/\udcff", runner="direct")
    found = payload_of(decode_event(encoder.line(1, NOW, "worker_started", text="\ud800", data=payload)))
    assert isinstance(found, WorkerStarted)
    assert (found.argv, found.cwd) == (["�x"], "/�")


def test_a_line_of_something_else_has_no_sequence() -> None:
    with pytest.raises(ValueError, match="does not begin"):
        sequence_of(b'{"sequence":1}')
