"""Responses and diagnostics: complete models, no secrets, no lone surrogates (docs/wire/client.md, "Responses")."""

import json

import pytest

from hopline.wire.client.responses import (
    Ack,
    Response,
    ResponseRefused,
    RunSnapshot,
    decode_response,
    diagnosed,
    encode_response,
    failed,
    plain,
    redact,
    validation_paths,
)

SECTIONS_AT_THEIR_DEFAULTS = {
    "ack": None,
    "chat": None,
    "chat_thread": None,
    "chat_options": None,
    "tui_defaults": None,
    "snapshot": None,
    "events": [],
    "performance": [],
    "performance_context": None,
    "experiments": [],
    "experiment_update": None,
    "experiments_ready": None,
    "design": [],
    "design_ready": None,
    "design_patch": None,
    "iterations": None,
}


def test_a_response_is_a_complete_compact_model() -> None:
    line = encode_response(Response(request_id="r", timestamp="t", ack=Ack("stop", "pending")))
    assert json.loads(line) == {
        "protocol_version": 1,
        "request_id": "r",
        "client_id": "",
        "timestamp": "t",
        "ok": True,
        "error": None,
        "diagnostic": None,
        **SECTIONS_AT_THEIR_DEFAULTS,
        "ack": {"action": "stop", "status": "pending"},
    }
    assert b" " not in line and b"\n" not in line


def test_a_failed_response_has_every_section_at_its_default() -> None:
    diagnostic = diagnosed("d", "invalid_value", "No.", detail="why", scope="protocol")
    found = json.loads(encode_response(failed("r", "c", "t", diagnostic)))
    assert {name: found[name] for name in SECTIONS_AT_THEIR_DEFAULTS} == SECTIONS_AT_THEIR_DEFAULTS
    assert (found["ok"], found["error"], found["request_id"], found["client_id"]) == (False, "No.", "r", "c")
    assert found["diagnostic"] == {
        "id": "d",
        "code": "invalid_value",
        "summary": "No.",
        "detail": "why",
        "hint": None,
        "scope": "protocol",
        "severity": "error",
        "retryability": "unknown",
        "cause_id": None,
        "debug_ref": None,
        "source": None,
        "validation_paths": None,
    }


def test_a_snapshot_is_complete() -> None:
    line = encode_response(
        Response(request_id="r", timestamp="t", snapshot=RunSnapshot(run_id="x", sequence=4, status="running"))
    )
    assert json.loads(line)["snapshot"] == {
        "protocol_version": 1,
        "run_id": "x",
        "sequence": 4,
        "status": "running",
        "agent_kind": None,
        "round_label": None,
        "active_executions": [],
        "chat_threads": [],
        "spans": [],
        "overview": None,
    }


def test_text_is_written_raw() -> None:
    line = encode_response(failed("é", "", "t", diagnosed("d", "c", "naïve 🚀")))
    assert "naïve 🚀".encode() in line and "é".encode() in line


def test_a_client_reads_a_newer_servers_response() -> None:
    line = encode_response(Response(request_id="r", timestamp="t"))[:-1] + b',"new_section":{"a":1}}'
    assert decode_response(line).request_id == "r"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"{}",
        b'{"request_id":"r","timestamp":"t","protocol_version":2}',
        b'{"request_id":1,"timestamp":"t"}',
    ],
)
def test_a_client_refuses_what_is_no_response(line: bytes) -> None:
    with pytest.raises(ResponseRefused):
        decode_response(line)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("API_KEY=abc123 next", "API_KEY=[REDACTED] next"),
        ('{"token": "abc"}', '{"token": "[REDACTED]"}'),
        ("password: hunter2, ok", "password: [REDACTED], ok"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer [REDACTED]"),
        ("CLIENT_SECRET='x y'", "CLIENT_SECRET='[REDACTED] y'"),
        ("the keyboard is fine", "the keyboard is fine"),
    ],
)
def test_secrets_are_redacted_by_the_name_before_them(text: str, shown: str) -> None:
    assert redact(text) == shown


def test_a_diagnostic_carries_neither_secret_nor_surrogate() -> None:
    found = diagnosed("d", "c", "token=abc", detail="SECRET=x \udc80", hint="bearer abc")
    assert (found.summary, found.detail, found.hint) == ("token=[REDACTED]", "SECRET=[REDACTED] �", "bearer [REDACTED]")


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert plain("a\ud800b") == "a�b"
    assert plain("\udcff") == "�"
    assert plain("🚀") == "🚀"


@pytest.mark.parametrize(
    ("message", "paths"),
    [
        ("Expected `int` >= 1 - at `$.tail`", [["tail"]]),
        ("Object contains unknown field `heartbeat_ms`", [["heartbeat_ms"]]),
        ("Expected `str` - at `$.a[3].b`", [["a", 3, "b"]]),
        ("JSON is malformed", None),
    ],
)
def test_a_refusal_says_where_the_value_is(message: str, paths: object) -> None:
    assert validation_paths(message) == paths
