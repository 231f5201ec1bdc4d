"""What the host program accepts, refuses and answers, byte for byte."""

import json

import pytest

from hopline.serve.host_messages import (
    AgentTurnOwner,
    Connected,
    GateStageOwner,
    HostRequestRefused,
    HostResponse,
    InstancesList,
    Logs,
    LogsList,
    LogStream,
    ProcessOwner,
    RunConnect,
    RunConnected,
    RunOwner,
    decode_host_request,
    encode_host_reply,
)


def test_the_requests_of_the_contract_are_understood() -> None:
    connect = (
        b'{"type":"run.connect","protocol_version":1,"request_id":"r","client_id":"c",'
        b'"instance_id":null,"socket_path":"/s"}'
    )
    assert decode_host_request(connect) == RunConnect(request_id="r", client_id="c", socket_path="/s")
    assert decode_host_request(b'{"type":"run.connect","instance_id":"0123456789ab"}') == RunConnect(
        instance_id="0123456789ab"
    )
    assert decode_host_request(b'{"type":"instances.list","request_id":"r"}') == InstancesList(request_id="r")
    logs = b'{"type":"logs.list","request_id":"r","run_id":"x","span_id":null,"cursor":null,"limit":500}'
    assert decode_host_request(logs) == LogsList(request_id="r", run_id="x", limit=500)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b"\xff",
        b"{",
        b'{"type":"subscribe"}',
        b'{"instance_id":"0123456789ab"}',
        b'{"type":"run.connect"}',
        b'{"type":"run.connect","instance_id":"0123456789ab","socket_path":"/s"}',
        b'{"type":"run.connect","instance_id":"0123456789AB"}',
        b'{"type":"run.connect","instance_id":"0123456789ab\\n"}',
        b'{"type":"run.connect","instance_id":"../../../../x"}',
        b'{"type":"run.connect","socket_path":""}',
        b'{"type":"run.connect","socket_path":"/a\\u0000b"}',
        b'{"type":"run.connect","socket_path":"/s","timestamp":"2026-01-01T00:00:00Z"}',
        b'{"type":"run.connect","socket_path":"/s","protocol_version":2}',
        b'{"type":"run.connect","socket_path":"/s"} {}',
        b'{"type":"instances.list","surprise":1}',
        b'{"type":"logs.list"}',
        b'{"type":"logs.list","run_id":"x","limit":0}',
        b'{"type":"logs.list","run_id":"x","limit":501}',
        b'{"type":"logs.list","run_id":"x","cursor":""}',
        b'{"type":"logs.list","run_id":"x","cursor":"' + b"c" * 1025 + b'"}',
        b'{"type":"logs.list","run_id":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
    ids=range(24),
)
def test_whatever_else_is_refused(line: bytes) -> None:
    with pytest.raises(HostRequestRefused):
        decode_host_request(line)


def test_the_line_before_raw_copying_is_the_contract_s() -> None:
    reply = RunConnected(
        request_id="r", client_id="c", connected=Connected(instance_id="0123456789ab", socket_path="/s")
    )
    assert encode_host_reply(reply) == (
        b'{"protocol_version":1,"request_id":"r","client_id":"c","ok":true,'
        b'"connected":{"instance_id":"0123456789ab","socket_path":"/s"}}\n'
    )


@pytest.mark.parametrize(
    ("owner", "written"),
    [
        (RunOwner(), {"kind": "run", "span_id": None}),
        (AgentTurnOwner(execution_id="e", span_id="s"), {"kind": "agent_turn", "execution_id": "e", "span_id": "s"}),
        (GateStageOwner(gate="build"), {"kind": "gate_stage", "gate": "build", "span_id": None}),
        (ProcessOwner(process_id="p"), {"kind": "process", "process_id": "p", "span_id": None}),
    ],
)
def test_a_log_stream_is_written_whole_whoever_owns_it(
    owner: RunOwner | AgentTurnOwner | GateStageOwner | ProcessOwner, written: dict[str, object]
) -> None:
    stream = LogStream(log_id="l", owner=owner, size_bytes=0, complete=False, started_at="2026-01-01T00:00:00Z")
    reply = HostResponse(
        request_id="r", client_id="", timestamp="2026-01-01T00:00:00Z", logs=Logs(run_id="x", streams=[stream])
    )
    assert json.loads(encode_host_reply(reply)) == {
        "protocol_version": 1,
        "request_id": "r",
        "client_id": "",
        "timestamp": "2026-01-01T00:00:00Z",
        "ok": True,
        "error": None,
        "diagnostic": None,
        "instances": None,
        "logs": {
            "run_id": "x",
            "streams": [
                {
                    "log_id": "l",
                    "owner": written,
                    "title": "",
                    "size_bytes": 0,
                    "complete": False,
                    "started_at": "2026-01-01T00:00:00Z",
                    "ended_at": None,
                }
            ],
            "next_cursor": None,
        },
    }
