"""Every event type: its payload parses, is validated, travels, is cut (docs/wire/client.md, "Event kinds")."""

import json
from typing import Any, get_args

import msgspec
import pytest

from hopline.wire.client.events import (
    MAX_SERIALIZED_RUN_EVENT_BYTES,
    EventEncoder,
    EventRefused,
    decode_event,
    decode_events,
    payload_of,
)
from hopline.wire.client.kinds import PAYLOADS, AnyKind, decode_payload
from hopline.wire.client.responses import diagnosed
from hopline.wire.client.trace import Span, SpanLabel, SpanLink, SpanUpdated, SpanWait
from hopline.wire.client.turns import ToolCall
from hopline.wire.client.types import EVENT_TYPES, OURS

NOW = "2026-01-01T00:00:00.000Z"
encoder = EventEncoder("run-1")

PLAIN = {"server_started", "run_finished", "status_query", "control"}
"""Types without a payload."""

SPAN = {"id": "flow:a#1", "name": "a", "status": "running", "started_at": NOW}

EXAMPLES: dict[str, dict[str, Any]] = {
    "server_ready": {},
    "configuration_failed": {"code": "c", "stage": "s", "message": "m", "exit_code": 2},
    "run_started": {"outer_loop": "search", "input": "i", "overview": {"objective": {"text": "t"}, "benchmarks": {}}},
    "experiments_changed": {"reason": "round_persisted", "revision": 1},
    "run_interrupted": {"reason": "r"},
    "run_status_changed": {"status": "running", "previous": "starting"},
    "run_failed": {
        "failure": {
            "kind": "deadline",
            "reason": "r",
            "workstreams_started": 1,
            "workstream_budget": 2,
            "candidates_kept": 0,
        }
    },
    "run_configured": {"run_log_path": "l", "project_root": "p"},
    "framework_warning": {"summary": "s"},
    "chat": {"answer": "a"},
    "chat_thread_created": {"thread_id": "t", "provider": "p", "model": "m", "created_at": NOW},
    "invocation_started": {"system_prompt": "s", "user_prompt": "u"},
    "invocation_finished": {"result": {"a": [1]}},
    "agent_execution_started": {"stage": "s", "activity": {"mode": "thinking", "summary": "Planning"}},
    "agent_execution_activity_changed": {"mode": "tool", "summary": "s", "tool": "t"},
    "agent_execution_finished": {"result": "{}", "reply": {"kind": "Plan", "json_schema": {}, "value": {"x": 1}}},
    "phase_started": {"phase": "p"},
    "phase_finished": {"phase": "p", "attempt": 1},
    "agent_output_chunk": {"channel": "assistant", "content": "c", "status": {"progress": "1/2"}},
    "subprocess_output": {"process_id": "worker-1", "stream": "stdout", "content": "c"},
    "output": {"stream": "stdout", "content": "c"},
    "tool_call": {"tool": "t", "args": {"a": 1}},
    "tool_result": {"tool": "t", "content": "c", "payload": {"kind": "command", "stdout": "o", "stderr": "e"}},
    "todo_update": {"todos": [{"content": "c", "status": "pending"}]},
    "usage_update": {"input_tokens": 1},
    "turn_usage_recorded": {"input_tokens": 1, "output_tokens": 2},
    "judge_result": {"verdict": "pass", "feedback": "f", "attempt": 1},
    "benchmark_result": {"metric": "m", "value": 1.5, "unit": "u"},
    "round_finished": {"attempts": 1, "judge_verdict": "pass", "profile_skipped": False},
    "gate_started": {"gate": "validation"},
    "gate_finished": {"gate": "build", "metric": "m", "value": 1, "unit": "u"},
    "workspace_snapshot": {},
    "rate_limit_update": {"exhausted": True},
    "quota_paused": {"provider": "p", "condition": "rate_limited", "detail": "d"},
    "quota_resumed": {"provider": "p"},
    "quota_abandoned": {"provider": "p", "condition": "rate_limited", "detail": "d", "reason": "r"},
    "quota_waiting": {"provider": "p", "resumes_at": None},
    "quota_wait_cancelled": {"provider": "p", "reason": "paused"},
    "provider_switched": {"from_provider": "a", "to_provider": "b", "to_model": "m", "reason": "policy", "detail": "d"},
    "span_started": {"span": SPAN},
    "span_updated": {"span": SPAN | {"waiting_on": [{"kind": "slot"}]}},
    "span_ended": {"span": SPAN | {"status": "failed", "failure": {"kind": "outcome", "message": "m"}}},
    "worker_started": {"generation": 1, "pid": 2, "argv": ["a"], "cwd": "/", "runner": "direct"},
    "worker_exited": {"generation": 1, "code": 0},
    "worker_signaled": {"generation": 1, "signal": 9},
    "worker_retired": {"generation": 1, "runner": "direct", "how": "h", "descendants": {"state": "gone"}},
    "journal_dropped": {"first_sequence": 1, "last_sequence": 2, "bytes": 3},
}


def stored(kind: str, data: dict[str, Any]) -> bytes:
    tag = "phase" if kind.startswith("phase_") else kind
    return msgspec.json.encode({"kind": tag} | data)


def test_the_types_are_the_46_of_the_contract_and_ours() -> None:
    assert len(EVENT_TYPES - OURS) == 46
    assert set(EXAMPLES) | PLAIN == EVENT_TYPES
    assert set(PAYLOADS) == set(EXAMPLES)
    assert len(get_args(AnyKind)) == len(PAYLOADS) - 1


@pytest.mark.parametrize("kind", sorted(EXAMPLES))
def test_a_payload_parses_travels_and_comes_back(kind: str) -> None:
    payload = decode_payload(stored(kind, EXAMPLES[kind]))
    assert isinstance(payload, PAYLOADS[kind])
    event = decode_event(encoder.line(1, NOW, kind, data=payload))
    assert payload_of(event) == payload
    found = json.loads(bytes(event.data))
    for name, value in EXAMPLES[kind].items():
        if not isinstance(value, dict | list):
            assert found[name] == value


@pytest.mark.parametrize("kind", sorted(EXAMPLES))
def test_a_payload_passes_keys_that_it_does_not_know(kind: str) -> None:
    assert decode_payload(stored(kind, EXAMPLES[kind] | {"driver": "x"})) is not None


@pytest.mark.parametrize("kind", sorted(kind for kind, data in EXAMPLES.items() if data))
def test_a_payload_without_what_its_kind_must_have_is_none(kind: str) -> None:
    required = [field.name for field in msgspec.structs.fields(PAYLOADS[kind]) if field.required]
    for name in required:
        data = {key: value for key, value in EXAMPLES[kind].items() if key != name}
        assert decode_payload(stored(kind, data)) is None
        assert decode_payload(stored(kind, data | {name: [[]] if name != "argv" else {}})) is None


def test_an_event_of_another_wire_passes_without_a_payload() -> None:
    line = (
        encoder.line(1, NOW, "control")
        .replace(b'"control"', b'"novelty"')
        .replace(b'"data":null', b'"data":{"kind":"novelty","x":1}')
    )
    event = decode_event(line)
    assert event.type == "novelty" and payload_of(event) is None


def test_what_the_wire_does_not_have_is_not_recorded() -> None:
    with pytest.raises(EventRefused, match="async_operation_lifecycle"):
        encoder.line(1, NOW, "async_operation_lifecycle")
    with pytest.raises(EventRefused, match="tool_call"):
        encoder.line(1, NOW, "output", data=ToolCall(tool="t"))
    for kind in ("run_failed", "phase_finished"):
        with pytest.raises(EventRefused, match="diagnostic"):
            encoder.line(1, NOW, kind, status="failed")
    assert encoder.line(1, NOW, "run_failed", status="failed", diagnostic=diagnosed("d", "c", "s"))


def test_execution_and_invocation_copy_each_other() -> None:
    for given in ({"execution_id": "e"}, {"invocation_id": "e"}):
        event = decode_event(encoder.line(1, NOW, "output", **given))  # type: ignore[arg-type]  # a test's fields
        assert (event.execution_id, event.invocation_id) == ("e", "e")
    event = decode_event(encoder.line(1, NOW, "output", execution_id="e", invocation_id="i", span_id="s"))
    assert (event.execution_id, event.invocation_id, event.span_id) == ("e", "i", "s")


def test_what_people_wrote_is_cut_inside_structures_and_words_stay() -> None:
    call = ToolCall(tool="t", args={"text": "é" * 900_000, "list": list(range(9)), "deep": {"x": "y" * 300_000}})
    line = encoder.line(1, NOW, "tool_call", data=call)
    event = decode_event(line)
    assert event.truncated is True
    assert MAX_SERIALIZED_RUN_EVENT_BYTES - 8 < len(line) <= MAX_SERIALIZED_RUN_EVENT_BYTES
    found = payload_of(event)
    assert isinstance(found, ToolCall)
    assert found.args["list"] == list(range(9)) and set(found.args["text"]) == {"é"}


def test_a_span_at_all_its_bounds_needs_no_truncation() -> None:
    worst = "\N{GRINNING FACE}"
    span = Span(
        id=worst * 512,
        parent_id=worst * 512,
        name=worst * 512,
        status="waiting",
        label=SpanLabel(
            kind="gate",
            title=worst * 1024,
            attrs_json=worst * 32_768,
            links=[SpanLink(kind="builds_on", span_id=worst * 512)] * 64,
        ),
        waiting_on=[SpanWait(kind="slot", span_id=worst * 512, detail=worst * 512)] * 64,
        invocation=worst * 512,
        started_at=NOW,
    )
    event = decode_event(encoder.line(1, NOW, "span_updated", data=SpanUpdated(span=span)))
    assert event.truncated is msgspec.UNSET
    assert payload_of(event) == SpanUpdated(span=span)
    longer = msgspec.json.encode(SpanUpdated(span=msgspec.structs.replace(span, name=worst * 513)))
    assert decode_payload(longer) is None


def test_a_lone_surrogate_becomes_the_replacement_character_anywhere() -> None:
    line = encoder.line(1, NOW, "tool_call", data=ToolCall(tool="\ud800", args={"\ud800": ["\udfff"], "n": 1}))
    found = payload_of(decode_event(line))
    assert found == ToolCall(tool="\ufffd", args={"\ufffd": ["\ufffd"], "n": 1})


def nested(depth: int) -> bytes:
    args = b'{"a":' * depth + b"1" + b"}" * depth
    return b'{"protocol_version":1,"sequence":1,"timestamp":"t","type":"tool_call","data":{"kind":"tool_call",' + (
        b'"tool":"t","args":%b}}' % args
    )


def test_an_event_nested_too_deep_is_refused_as_any_other_that_cannot_be_read() -> None:
    for read in (decode_event, lambda line: decode_events(b"[%b]" % line)):
        with pytest.raises(ValueError, match="recursion"):
            read(nested(100_000))


def test_what_is_nested_deep_is_emptied_where_something_must_be_cut() -> None:
    payload = payload_of(decode_event(nested(400)))
    assert isinstance(payload, ToolCall)
    args = payload.args | {"text": "x" * 2_000_000}
    event = decode_event(encoder.line(1, NOW, "tool_call", data=ToolCall(tool="t", args=args)))
    assert event.truncated is True
    found = payload_of(event)
    assert isinstance(found, ToolCall) and len(found.args["text"]) > 900_000


def test_what_is_absent_stays_absent_when_an_event_is_cut() -> None:
    output = PAYLOADS["subprocess_output"](process_id="worker-1", stream="stdout", content="x" * 2_000_000)
    event = decode_event(encoder.line(1, NOW, "subprocess_output", data=output))
    assert event.truncated is True and "raw" not in json.loads(bytes(event.data))
