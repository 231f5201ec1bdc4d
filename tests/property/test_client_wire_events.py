"""Whatever an event holds: it is recorded within its bound, read again, and nothing that is read raises."""

from typing import Any
from unittest.mock import patch

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from hopline.wire.client import events
from hopline.wire.client.canonical import canonical
from hopline.wire.client.events import EventEncoder, decode_event, payload_of, renumbered, sequence_of
from hopline.wire.client.kinds import PAYLOADS, decode_payload
from hopline.wire.client.turns import ToolCall

encoder = EventEncoder("r")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@given(st.one_of(st.binary(max_size=80), values.map(msgspec.json.encode)))
def test_no_payload_raises(data: bytes) -> None:
    found = decode_payload(data)
    assert found is None or isinstance(found, tuple(set(PAYLOADS.values())))


@given(st.sampled_from(sorted(PAYLOADS)), st.dictionaries(st.sampled_from(["stage", "tool", "args", "span"]), values))
def test_a_payload_of_any_kind_reads_or_is_none(kind: str, fields: dict[str, Any]) -> None:
    decode_payload(msgspec.json.encode({"kind": kind} | fields))


@settings(max_examples=60)
@given(values, texts, st.integers(700, 2000))
def test_an_event_is_within_its_bound_and_whole_unless_it_says_so(args: Any, text: str, bound: int) -> None:
    data = ToolCall(tool="t", args=args)
    whole = encoder.line(1, "t", "tool_call", data=data, text=text)
    with patch.object(events, "MAX_SERIALIZED_RUN_EVENT_BYTES", bound):
        line = encoder.line(1, "t", "tool_call", data=data, text=text)
    assert len(line) <= bound
    event = decode_event(line)
    if len(whole) <= bound:
        assert line == whole and event.truncated is msgspec.UNSET
        assert payload_of(event) == data
    else:
        assert event.truncated is True and text.startswith(event.text)
        assert isinstance(payload_of(event), ToolCall)


@given(texts, st.integers(0, 10**18), st.integers(0, 10**18))
def test_a_line_that_is_renumbered_there_and_back_is_the_same(text: str, first: int, second: int) -> None:
    line = encoder.line(first, "t", "control", text=text)
    there = renumbered(line, second)
    assert sequence_of(there) == second
    assert renumbered(there, first) == line


@given(
    st.lists(st.sampled_from(["invocation_started", "invocation_finished", "output"]), max_size=6), st.integers(0, 6)
)
def test_a_history_is_canonical_wherever_it_is_cut(kinds: list[str], at: int) -> None:
    lines = [encoder.line(number, "t", kind, invocation_id="i") + b"\n" for number, kind in enumerate(kinds, 1)]
    for executed in (True, False):
        whole = canonical(b"".join(lines), lambda _, known=executed: known)
        parts = [canonical(b"".join(part), lambda _, known=executed: known) for part in (lines[:at], lines[at:])]
        assert b"".join(parts) == whole
        assert whole.count(b"\n") == (kinds.count("output") if executed else len(kinds))
