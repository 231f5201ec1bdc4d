"""Every message type there and back; what cannot be read, and what of it still can."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hopline.errors import Misuse
from hopline.wire.peer.envelope import Envelope, decode, encode
from hopline.wire.peer.faults import ProtocolFault
from hopline.wire.peer.heartbeat import (
    Capabilities,
    Heartbeat,
    SessionRow,
    Tool,
    read_capabilities,
    read_listen_addresses,
)
from hopline.wire.peer.lan import Announcement, HiveNotice, decode_announcement, encode_announcement
from hopline.wire.peer.limits import MAX_BODY_BYTES
from hopline.wire.peer.messages import MESSAGES, decode_payload

EXAMPLES = json.loads((Path(__file__).parent / "peer_examples.json").read_text())
FULL = {name: example["full"] for name, example in EXAMPLES.items()}
LEAST = {name: example["least"] for name, example in EXAMPLES.items()}
PAGE = Path(__file__).parents[3] / "docs" / "wire" / "peer.md"

PROTO_0 = frozenset(
    {
        "challenge",
        "handshake",
        "handshake_ack",
        "heartbeat",
        "ack",
        "delegate_task",
        "task_status",
        "task_handoff",
        "task_interrupt",
        "knowledge_sync",
        "knowledge_request",
        "knowledge_snapshot",
    }
)
"""What the oldest peers know."""


def frame(msg_type: str, payload: object) -> Envelope:
    body = {"id": "1", "msg_type": msg_type, "from_peer": "p", "timestamp": 1, "payload": payload}
    return decode(json.dumps(body).encode())


def test_every_type_has_an_example() -> None:
    assert EXAMPLES.keys() == MESSAGES.keys()
    assert MESSAGES.keys() > PROTO_0


def test_every_type_is_in_the_table_of_the_page() -> None:
    assert set(re.findall(r"^\| `([a-z_]+)` \|", PAGE.read_text().split("## Messages")[1], re.MULTILINE)) >= set(
        MESSAGES
    )


@pytest.mark.parametrize("msg_type", sorted(MESSAGES))
def test_what_is_written_is_read_back_with_every_key(msg_type: str) -> None:
    kind = MESSAGES[msg_type]
    full = FULL[msg_type]
    fields = {field.encode_name for field in msgspec.structs.fields(kind)}
    assert full.keys() == fields, "the example names every key"
    read = decode_payload(frame(msg_type, full))
    assert type(read) is kind
    data = encode(msg_type, read, from_peer="p", message_id="1", timestamp=1)
    written = decode(data)
    assert json.loads(bytes(written.payload)) == full
    again = decode_payload(written)
    assert msgspec.json.encode(again) == msgspec.json.encode(read)


@pytest.mark.parametrize("msg_type", sorted(MESSAGES))
def test_required_keys_are_enough_and_none_of_them_may_be_missing(msg_type: str) -> None:
    least = LEAST[msg_type]
    assert decode_payload(frame(msg_type, {**least, "newer_key": [1]})) is not None
    required = {field.encode_name for field in msgspec.structs.fields(MESSAGES[msg_type]) if field.required}
    assert required == least.keys()
    for key in required:
        assert decode_payload(frame(msg_type, {name: least[name] for name in required - {key}})) is None
        assert decode_payload(frame(msg_type, {**least, key: [{}]})) is None


@pytest.mark.parametrize("msg_type", sorted(MESSAGES))
def test_an_optional_key_that_cannot_be_read_reads_as_if_it_was_not_sent(msg_type: str) -> None:
    """PL-SALVAGE"""
    least = LEAST[msg_type]
    whole = decode_payload(frame(msg_type, least))
    for key in FULL[msg_type].keys() - least.keys() - {"sessions", "listen_addrs"}:
        assert decode_payload(frame(msg_type, {**least, key: [[[]]]})) == whole, key


def test_sessions_and_addresses_are_salvaged_one_by_one() -> None:
    """PL-SALVAGE"""
    good = {"pid": 1, "project": "x", "session_id": "s"}
    read = decode_payload(
        frame("heartbeat", {"worker_id": 5, "sessions": [good, {"pid": -1}, 7], "listen_addrs": ["10.0.0.7:80", 5]})
    )
    assert read == Heartbeat(sessions=[SessionRow(pid=1, project="x", session_id="s")], listen_addrs=["10.0.0.7:80"])
    assert decode_payload(frame("heartbeat", {"sessions": 5})) == Heartbeat(sessions=[])


def test_one_bad_unit_voids_its_batch() -> None:
    unit = FULL["knowledge_sync"]["units"][0]
    assert decode_payload(frame("knowledge_sync", {"units": [unit, {**unit, "content": {"type": "new"}}]})) == (
        decode_payload(frame("knowledge_sync", {}))
    )


def test_what_was_not_said_is_left_out_and_not_sent_empty() -> None:
    assert msgspec.json.encode(Heartbeat()) == b"{}"
    assert msgspec.json.encode(MESSAGES["handshake_ack"]("ok")) == b'{"status":"ok"}'
    assert json.loads(msgspec.json.encode(MESSAGES["hive_join_request"]())) == dict.fromkeys(
        ["hive_id", "label", "grant"]
    )
    assert json.loads(msgspec.json.encode(MESSAGES["delegate_task"]("task_1", "p")))["cwd"] is None


def test_a_payload_of_an_unknown_type_is_not_read() -> None:
    assert decode_payload(frame("from_the_future", {})) is None


@pytest.mark.parametrize(
    "payload", [b'{"worker_id":"\xff"}', b'{"worker_id":"\\ud800"}', b'{"sessions":[', b"[" * 5000]
)
def test_a_payload_that_is_no_json_of_its_own_is_not_read(payload: bytes) -> None:
    broken = Envelope(id="1", msg_type="heartbeat", from_peer="p", timestamp=1, payload=msgspec.Raw(payload))
    assert decode_payload(broken) in (None, Heartbeat())


def test_a_body_over_the_bound_is_our_own_mistake() -> None:
    empty = len(encode("x", {"a": ""}, from_peer="p", message_id="1", timestamp=1))
    most = "x" * (MAX_BODY_BYTES - empty)
    assert len(encode("x", {"a": most}, from_peer="p", message_id="1", timestamp=1)) == MAX_BODY_BYTES
    with pytest.raises(Misuse, match="send it in parts"):
        encode("x", {"a": most + "x"}, from_peer="p", message_id="1", timestamp=1)


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000, b'{"payload":' + b"[" * 5000])
def test_nesting_without_end_is_a_fault(body: bytes) -> None:
    """PL-ENVELOPE"""
    with pytest.raises(ProtocolFault) as caught:
        decode(body)
    assert caught.value.reason.startswith("no frame: ")


TRICKS = [
    '{"id":"1","msg_type":"a","from_peer":"b","timestamp":1,"payload":{},"id":"1"}',
    '{"id":"1","msg_type":"a","from_peer":"b","timestamp":1,"payload":{},"payload":{}}',
    '{"id":"1","msg_type":"a","from_peer":"b","timestamp":1,"payload":{"id":1},"x":1,"x":1}',
    '{"id":"1","id":"1","msg_type":"a","from_peer":"b","timestamp":1,"payload":{}}',
    '{"id": "1","msg_type":"a","from_peer":"b","timestamp":1,"\\u0069d":"2","payload":{}}',
]


@pytest.mark.parametrize("body", TRICKS)
def test_a_doubled_key_is_found_wherever_it_stands(body: str) -> None:
    """PL-DOUBLED"""
    with pytest.raises(ProtocolFault, match="doubled key"):
        decode(body.encode())


def capabilities(**said: Any) -> Capabilities | None:
    return read_capabilities(msgspec.convert({"capabilities": said}, Heartbeat))


def test_capabilities_are_bounded_and_never_hold_a_credential() -> None:
    """PL-SHOWN"""
    tools = {
        "git": {"state": "present", "version": "git\x1b version " + "9" * 99, "credential": "secret"},
        "gh": {"state": "present"},
        "claude": {"state": "broken", "version": "1"},
        "bad name": {"state": "present"},
        "x" * 65: {"state": "present"},
    }
    read = capabilities(claudectl_version="1\n", os="linux", arch="x86_64", tools=tools, more=1)
    assert read is not None
    assert read == Capabilities(
        "1",
        "linux",
        "x86_64",
        {"git": Tool("present", "git version " + "9" * 51), "gh": Tool("present"), "claude": Tool("missing")},
    )
    many = capabilities(tools={f"t{number}": {"state": "present"} for number in range(99)})
    assert many is not None
    assert len(many.tools) == 64
    assert read_capabilities(Heartbeat()) is None


def test_of_many_addresses_eight_sound_ones_are_kept() -> None:
    said = ["host:80", "10.0.0.7:80", "10.0.0.7:80", *(f"[::{number}]:80" for number in range(1, 20))]
    assert read_listen_addresses(Heartbeat(listen_addrs=said)) == (
        "10.0.0.7:80",
        *(f"[::{number}]:80" for number in range(1, 8)),
    )
    assert read_listen_addresses(Heartbeat()) is None


def test_an_announcement_is_read_back() -> None:
    hive = HiveNotice("hv_0a0b0c", "team", "ask", 2, 3)
    for announcement in (Announcement("bob", 9847, "1.0", hive), Announcement("bob", 1)):
        assert decode_announcement(encode_announcement(announcement)) == announcement
    assert encode_announcement(Announcement("b", 9, "1")) == b'CCTL{"identity":"b","port":9,"version":"1"}'


@pytest.mark.parametrize(
    "datagram",
    [
        b"",
        b"CCTL",
        b"cctl{}",
        b'CCTX{"identity":"b","port":9}',
        b'CCTL{"identity":"../b","port":9}',
        b'CCTL{"identity":"b","port":0}',
        b'CCTL{"identity":"b","port":65536}',
        b'CCTL{"identity":"b","port":9.0}',
        b'CCTL{"identity":"b","port":9,"version":"' + b"x" * 1000 + b'"}',
        b"CCTL" + b"[" * 1000,
    ],
)
def test_anything_else_is_no_announcement(datagram: bytes) -> None:
    """PL-DATAGRAM"""
    assert decode_announcement(datagram) is None


@pytest.mark.parametrize("hive", [b"5", b'{"id":1}', b'{"id":"h","name":"n","join_policy":"ask","peers":"many"}'])
def test_a_hive_that_cannot_be_read_is_dropped_and_the_rest_kept(hive: bytes) -> None:
    """PL-DATAGRAM"""
    datagram = b'CCTL{"identity":"b","port":9,"version":"1\\u0007","hive":' + hive + b',"more":1}'
    assert decode_announcement(datagram) == Announcement("b", 9, "1")
