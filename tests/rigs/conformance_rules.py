"""What holds for every message of every scenario, and how an expectation is compared with a message.

The members are the reference's lists (frontend reference 3.1, 4, 5.1, 6.1), written down here a second time on
purpose: the structs under test cannot vouch for themselves.
"""

import json
from typing import Any

import msgspec

MAX_FRAME_BYTES = 1_048_576
MAX_EVENT_BYTES = 1_000_000

MEMBERS = {
    "subscribed": {"type", "request_id", "client_id", "run_id", "latest_sequence"},
    "event_batch": {
        "type", "events", "through_sequence", "active_executions", "active_executions_checkpoint_id", "store_id",
        "history_after_sequence", "rebootstrap",
    },
    "active_executions_chunk": {
        "type", "checkpoint_id", "part", "parts", "payload", "through_sequence", "store_id", "history_after_sequence",
    },
    "protocol_error": {"type", "request_id", "client_id", "code", "message", "diagnostic"},
    "response": {
        "protocol_version", "request_id", "client_id", "timestamp", "ok", "error", "diagnostic", "ack", "chat",
        "chat_thread", "chat_options", "tui_defaults", "snapshot", "events", "performance", "performance_context",
        "experiments", "experiment_update", "experiments_ready", "design", "design_ready", "design_patch", "iterations",
    },
}  # fmt: skip
EVENT_MEMBERS = [
    "protocol_version", "sequence", "run_id", "timestamp", "type", "text", "diagnostic", "status", "round_label",
    "agent_kind", "invocation_id", "execution_id", "chat_thread_id", "data", "span_id",
]  # fmt: skip
DIAGNOSTIC_MEMBERS = {
    "id", "code", "summary", "detail", "hint", "scope", "severity", "retryability", "cause_id", "debug_ref", "source",
    "validation_paths",
}  # fmt: skip
SECTIONS = MEMBERS["response"] - {
    "protocol_version", "request_id", "client_id", "timestamp", "ok", "error", "diagnostic"
}  # fmt: skip


class _Events(msgspec.Struct):
    events: list[msgspec.Raw]


def read(message: bytes) -> dict[str, Any]:
    """A server's message, held to what holds for all of them; its `type` is `response` when it has none."""
    assert b"\n" not in message, "a raw newline inside a message (WP-NEWLINE)"
    found = json.loads(message.decode())
    assert isinstance(found, dict)
    assert "type" in found or "ok" in found, f"neither a stream message nor a Response: {message[:200]!r}"
    if "type" not in found:
        assert found.keys() == MEMBERS["response"], found.keys() ^ MEMBERS["response"]
        _response(found)
        return {"type": "response", **found}
    assert found.keys() == MEMBERS[found["type"]], found.keys() ^ MEMBERS[found["type"]]
    assert len(message) <= MAX_FRAME_BYTES
    if found["type"] == "protocol_error":
        assert found["message"] == found["diagnostic"]["summary"]
        assert found["diagnostic"].keys() == DIAGNOSTIC_MEMBERS
    for event in found.get("events", ()):
        the_event(event)
    return found


def the_event(event: dict[str, Any]) -> None:
    """One event's envelope is whole and in its order."""
    assert [name for name in event if name != "truncated"] == EVENT_MEMBERS, list(event)
    assert event.get("truncated", True) is True
    assert event["data"] is None or isinstance(event["data"]["kind"], str)


def events_of(message: bytes) -> list[bytes]:
    """The events of a batch or a Response as the bytes that came."""
    return [bytes(event) for event in msgspec.json.decode(message, type=_Events).events]


def _response(found: dict[str, Any]) -> None:
    assert found["protocol_version"] == 1
    for event in found["events"]:
        the_event(event)
    if found["ok"]:
        assert found["error"] is None and found["diagnostic"] is None
        return
    assert found["diagnostic"].keys() == DIAGNOSTIC_MEMBERS
    assert found["error"] == found["diagnostic"]["summary"]
    assert {name for name in SECTIONS if found[name] not in (None, [])} == set(), "a failed Response carries a section"


def differences(found: Any, expected: Any, where: str = "") -> list[str]:
    """How `found` misses `expected`: objects by subset, everything else exactly; a missing key counts as null."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return [
            line
            for name, value in expected.items()
            for line in differences(found.get(name), value, f"{where}.{name}" if where else name)
        ]
    if isinstance(found, bool) is isinstance(expected, bool) and found == expected:
        return []
    return [f"{where} is {json.dumps(found)[:200]}, not {json.dumps(expected)[:200]}"]
