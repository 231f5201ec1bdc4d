"""Every event and payload fixture through the wire's own reader: nothing is lost, nothing newer is in the way."""

import json
from typing import Any

import msgspec
import pytest
from conformance_corpus import corpus

from hopline.wire.client.events import decode_event, payload_of

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
    if payload is not None:
        assert form is not None
        read = json.loads(msgspec.json.encode(payload))
        assert {name: read[name] for name in form} == form
