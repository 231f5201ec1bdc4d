"""Every event and payload fixture through the wire's own reader: nothing is lost, nothing newer is in the way."""

import json
from typing import Any

import msgspec
import pytest
from conformance_corpus import corpus

from hopline.wire.client.diagnostics import Diagnostic
from hopline.wire.client.events import EventEncoder, decode_event, payload_of

KINDS = sorted(corpus().events)
FORMS = [(kind, number) for kind in KINDS for number in range(len(corpus().payloads[kind]))]


def event_of(kind: str, form: Any) -> dict[str, Any]:
    return corpus().events[kind] | {"data": form}


@pytest.mark.parametrize("kind", KINDS)
def test_an_envelope_parses_and_keeps_every_member(kind: str) -> None:
    envelope = corpus().events[kind]
    parsed = json.loads(msgspec.json.encode(decode_event(json.dumps(envelope).encode())))
    assert {name: parsed[name] for name in envelope} == envelope
    assert parsed["data"] is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_from_a_newer_server_troubles_nobody(kind: str) -> None:
    form = corpus().payloads[kind][0]
    newer = event_of(kind, form if form is None else form | {"a_newer_key": {"deep": [1]}}) | {"another": 1}
    found = decode_event(json.dumps(newer).encode())
    assert found.type == kind


@pytest.mark.parametrize(("kind", "number"), FORMS)
def test_a_payload_keeps_every_member(kind: str, number: int) -> None:
    form = corpus().payloads[kind][number]
    event = decode_event(json.dumps(event_of(kind, form)).encode())
    assert json.loads(bytes(event.data)) == form
    payload = payload_of(event)
    assert (payload is None) is (form is None)
    if payload is not None:
        assert json.loads(msgspec.json.encode(payload)) == form


@pytest.mark.parametrize(("kind", "number"), FORMS)
def test_what_a_server_records_of_a_payload_is_the_fixture(kind: str, number: int) -> None:
    form = corpus().payloads[kind][number]
    payload = payload_of(decode_event(json.dumps(event_of(kind, form)).encode()))
    envelope = {name: corpus().events[kind].get(name) for name in ("text", "status", "round_label", "agent_kind")}
    fields: dict[str, Any] = {name: value for name, value in envelope.items() if value is not None}
    if (diagnostic := corpus().events[kind].get("diagnostic")) is not None:
        fields["diagnostic"] = msgspec.convert(diagnostic, Diagnostic)
    line = EventEncoder("run-conformance").line(7, "2026-01-01T00:00:00Z", kind, data=payload, **fields)
    assert json.loads(line)["data"] == form
    assert json.loads(line)["sequence"] == 7
