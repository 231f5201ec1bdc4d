"""Legacy invocation events for readers of today (docs/wire/client.md, "Legacy invocations")."""

from hopline.wire.client.canonical import canonical, canonical_lines
from hopline.wire.client.events import EventEncoder, decode_event, payload_of
from hopline.wire.client.responses import diagnosed
from hopline.wire.client.turns import (
    AgentExecutionFinished,
    AgentExecutionStarted,
    InvocationFinished,
    InvocationStarted,
)

encoder = EventEncoder("r")
started = encoder.line(
    3,
    "t",
    "invocation_started",
    data=InvocationStarted(system_prompt="s", user_prompt="u"),
    invocation_id="i",
    agent_kind="implementer",
)
finished = encoder.line(4, "t", "invocation_finished", data=InvocationFinished(result=[1]), invocation_id="i")
other = encoder.line(5, "t", "output", text='"type":"invocation_started"')


def none_executed(execution_id: str) -> bool:
    return False


def all_executed(execution_id: str) -> bool:
    return True


def test_lines_without_legacy_events_pass_as_the_same_bytes() -> None:
    lines = other + b"\n"
    assert canonical(lines, all_executed) is lines


def test_a_double_goes_and_everything_else_passes_byte_for_byte() -> None:
    assert canonical_lines([started, other, finished], all_executed) == [other]


def test_a_legacy_history_is_translated_with_its_sequences() -> None:
    first, kept, last = canonical_lines([started, other, finished], none_executed)
    begun, ended = decode_event(first), decode_event(last)
    assert (begun.sequence, begun.type, begun.execution_id) == (3, "agent_execution_started", "i")
    payload = payload_of(begun)
    assert isinstance(payload, AgentExecutionStarted)
    assert (payload.stage, payload.user_prompt, payload.activity.summary) == ("implementer", "u", "Implementing")
    assert kept == other
    assert ended.type == "agent_execution_finished"
    assert payload_of(ended) == AgentExecutionFinished(result=[1])


def test_a_legacy_event_without_its_payload_is_renamed() -> None:
    diagnostic = diagnosed("d", "operation_failed", "No")
    bare = encoder.line(1, "t", "invocation_finished", status="failed", diagnostic=diagnostic)
    (line,) = canonical_lines([bare], all_executed)
    assert decode_event(line).type == "agent_execution_finished"


def test_what_cannot_be_read_or_only_mentions_one_passes() -> None:
    broken = b'{"type":"invocation_started"'
    nested = encoder.line(2, "t", "control").replace(b'"data":null', b'"data":{"kind":"x","type":"invocation_x"}')
    assert canonical_lines([broken, nested], all_executed) == [broken, nested]
