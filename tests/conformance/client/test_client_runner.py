"""The runner itself: a server that breaks one rule is caught by the scenario that is there for it."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from conformance_corpus import corpus
from conformance_player import replay
from conformance_rules import differences
from conformance_run import ScenarioStore

from hopline.run import answers, batching, subscriptions
from hopline.serve.unix import UnixChannel
from hopline.wire.client import requests, session

Patch = Callable[[pytest.MonkeyPatch], None]


def replayed(name: str) -> None:
    """Over the Unix socket, whole."""
    runner = msgspec.structs.replace(corpus().runners["unix"], pieces=["whole"])
    replay(corpus().scenarios[name], runner, seed=1)


def always_marked(patch: pytest.MonkeyPatch) -> None:
    frame = batching.BatchEnvelope.frame
    patch.setattr(
        batching.BatchEnvelope, "frame", lambda self, lines, through, marked: frame(self, lines, through, True)
    )


def never_marked(patch: pytest.MonkeyPatch) -> None:
    frame = batching.BatchEnvelope.frame
    patch.setattr(
        batching.BatchEnvelope, "frame", lambda self, lines, through, marked: frame(self, lines, through, False)
    )


def unacknowledged(patch: pytest.MonkeyPatch) -> None:
    patched(patch, lambda message: None if b'"subscribed"' in message else message)


def spaced(patch: pytest.MonkeyPatch) -> None:
    patched(patch, lambda message: json.dumps(json.loads(message)).encode() if b"event_batch" in message else message)


def incomplete(patch: pytest.MonkeyPatch) -> None:
    patched(patch, lambda message: message.replace(b',"active_executions_checkpoint_id":null', b""))


def patched(patch: pytest.MonkeyPatch, change: Callable[[bytes], bytes | None]) -> None:
    push = UnixChannel.push

    def changed(self: UnixChannel, message: Any) -> None:
        if (found := change(bytes(message))) is not None:
            push(self, found)

    patch.setattr(UnixChannel, "push", changed)


def one_event_short(patch: pytest.MonkeyPatch) -> None:
    read = ScenarioStore.read

    def short(self: ScenarioStore, *args: Any, **kwargs: Any) -> Any:
        found = read(self, *args, **kwargs)
        lines = found.data.splitlines(keepends=True)
        return replace(found, data=b"".join(lines[:5] + lines[6:]))

    patch.setattr(ScenarioStore, "read", short)


def lenient(patch: pytest.MonkeyPatch) -> None:
    def decode(line: bytes) -> Any:
        fields = json.loads(line)
        fields.pop("heartbeat_ms", None)
        return requests.decode_request(json.dumps(fields).encode())

    patch.setattr(session, "decode_request", decode)


def nameless(patch: pytest.MonkeyPatch) -> None:
    encode = answers.encode_response
    patch.setattr(answers, "encode_response", lambda response: encode(msgspec.structs.replace(response, client_id="")))


def silent_about_errors(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(subscriptions.Subscriptions, "_fail", lambda self, subscriber, error: subscriber.channel.close())


@pytest.mark.parametrize(
    ("breaking", "name"),
    [
        (always_marked, "full-replay-bootstrap"),
        (always_marked, "marker-on-first-split-frame-only"),
        (never_marked, "tail-overflow-rebootstrap"),
        (never_marked, "store-swap-while-watching"),
        (unacknowledged, "full-replay-bootstrap"),
        (spaced, "full-replay-bootstrap"),
        (incomplete, "full-replay-bootstrap"),
        (one_event_short, "full-replay-bootstrap"),
        (one_event_short, "requests-in-order"),
        (lenient, "unknown-field-refused"),
        (nameless, "command-ack-roundtrip"),
        (nameless, "two-clients-attributed-apart"),
        (silent_about_errors, "protocol-error-then-close"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_server_that_breaks_a_rule_is_caught(monkeypatch: pytest.MonkeyPatch, breaking: Patch, name: str) -> None:
    replayed(name)
    breaking(monkeypatch)
    with pytest.raises(AssertionError, match=f"{name} over unix, pieces whole, seed 1, step"):
        replayed(name)


@pytest.mark.parametrize(
    ("found", "expected", "missed"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, []),
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 2}}, []),
        ({"a": 1}, {"b": None}, []),
        ({"a": [1, 2]}, {"a": [1]}, ["a is [1, 2], not [1]"]),
        ({"a": [{"b": 1}]}, {"a": [{}]}, ['a is [{"b": 1}], not [{}]']),
        ({"a": 1}, {"a": True}, ["a is 1, not true"]),
        ({"a": None}, {"a": {}}, ["a is null, not {}"]),
        ({"a": {"b": 1}}, {"a": {"b": 2, "c": 3}}, ["a.b is 1, not 2", "a.c is null, not 3"]),
    ],
)
def test_objects_are_compared_by_part_and_all_else_exactly(found: Any, expected: Any, missed: list[str]) -> None:
    assert differences(found, expected) == missed
