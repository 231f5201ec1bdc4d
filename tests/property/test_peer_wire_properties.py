"""Whatever comes in whatever pieces gives the same events, and nothing that comes raises."""

import json
import struct
from itertools import pairwise
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from hopline.wire.peer import envelope, framing, lan, negotiation, pairing
from hopline.wire.peer.connection import PeerConnection
from hopline.wire.peer.events import Denied, Ended, Event, Faulted, WrongPeer
from hopline.wire.peer.faults import ProtocolFault
from hopline.wire.peer.messages import MESSAGES, decode_payload
from hopline.wire.peer.proof import nonce_text

KEY = bytes(range(32))
LAST = (Denied, Ended, Faulted, WrongPeer)


class Ring:
    """bob is paired, and one key waits."""

    def __init__(self) -> None:
        self.waiting: bytes | None = KEY

    def key(self, peer: str) -> bytes | None:
        return KEY if peer == "bob" else None

    def pending(self) -> bytes | None:
        return self.waiting

    def claim_pending(self, peer: str) -> None:
        self.waiting = None


def listener() -> PeerConnection:
    return PeerConnection.listener("alice", Ring(), nonce=nonce_text(bytes(32)), now_millis=1)


def dialler(offer: frozenset[str] = negotiation.FEATURES) -> PeerConnection:
    return PeerConnection.dialler("bob", KEY, "alice", version="1", now_millis=1, offer=offer)


def opened(offer: frozenset[str] = negotiation.FEATURES) -> tuple[PeerConnection, PeerConnection]:
    """A listener and its dialler, agreed."""
    alice, bob = listener(), dialler(offer)
    bob.receive(alice.data_to_send())
    alice.receive(bob.data_to_send())
    bob.receive(alice.data_to_send())
    assert alice.authenticated
    assert bob.authenticated
    return alice, bob


def told(event: Event) -> Any:
    return (type(event).__name__, msgspec.json.encode(event))


def fed(machine: PeerConnection, data: bytes, cuts: list[int]) -> list[Any]:
    """Everything that is told of `data`, given in pieces, and of the end."""
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    events: list[Event] = []
    for start, end in pairwise(edges):
        events += machine.receive(data[start:end])
    events += machine.receive_eof()
    assert [type(event) for event in events if isinstance(event, LAST)] == [type(events[-1])], "one end, the last"
    assert machine.receive(b"x" * 10) == machine.receive_eof() == []
    return [told(event) for event in events] + [machine.data_to_send()]


texts = st.text(max_size=40)
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
envelopes = st.fixed_dictionaries(
    {
        "id": texts | junk,
        "msg_type": st.sampled_from([*MESSAGES, "new", "newer"]) | junk,
        "from_peer": st.sampled_from(["bob", "alice", "", "eve"]) | junk,
        "timestamp": st.integers(0, 2**64 - 1) | junk,
        "payload": st.dictionaries(
            st.sampled_from(["proof", "nonce", "status", "proto", "features", "sessions", "units", "task_id"]) | texts,
            junk,
            max_size=4,
        )
        | junk,
    }
)
sound = st.fixed_dictionaries(
    {
        "id": st.text(max_size=20),
        "msg_type": st.sampled_from([*MESSAGES, "new", "newer"]),
        "from_peer": st.just("bob"),
        "timestamp": st.integers(0, 2**64 - 1),
        "payload": st.dictionaries(st.text(max_size=10), st.integers() | st.text(max_size=1500), max_size=4),
    }
)


def body_of(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


bodies = envelopes.map(body_of) | st.binary(max_size=60) | sound.map(body_of)
frames = st.one_of(
    bodies.map(framing.encode_frame),
    st.builds(lambda flags, body: struct.pack(">IB", len(body) + 1, flags) + body, st.integers(0, 255), st.binary()),
    st.binary(max_size=30),
)
lines = bodies.map(lambda body: body + b"\n") | st.binary(max_size=30)
cuts = st.lists(st.integers(0, 1_000_000), max_size=12)


@settings(deadline=None)
@given(data=st.lists(frames, max_size=5).map(b"".join), where=cuts)
def test_binary_frames_are_told_the_same_in_any_pieces(data: bytes, where: list[int]) -> None:
    assert fed(opened()[0], data, []) == fed(opened()[0], data, where) == fed(opened()[0], data, list(range(len(data))))


@settings(deadline=None)
@given(data=st.lists(lines, max_size=5).map(b"".join), where=cuts)
def test_lines_are_told_the_same_in_any_pieces(data: bytes, where: list[int]) -> None:
    plain = frozenset({"unknown-ok"})
    whole = fed(opened(plain)[0], data, [])
    assert whole == fed(opened(plain)[0], data, where) == fed(opened(plain)[0], data, list(range(len(data))))


@settings(deadline=None)
@given(data=st.lists(lines | frames, max_size=5).map(b"".join), where=cuts)
def test_an_opening_is_told_the_same_in_any_pieces(data: bytes, where: list[int]) -> None:
    for make in (listener, dialler):
        assert fed(make(), data, []) == fed(make(), data, where)


@settings(deadline=None)
@given(after=st.lists(sound.map(body_of), max_size=5), where=cuts, binary=st.booleans())
def test_what_came_with_the_handshake_is_read_in_the_framing_that_the_ack_decides(
    after: list[bytes], where: list[int], binary: bool
) -> None:
    """PL-CARRIED-OVER"""
    bob = dialler(negotiation.FEATURES if binary else frozenset())
    bob.receive(listener().data_to_send())
    encode = framing.encode_frame if binary else framing.encode_line
    data = bob.data_to_send() + b"".join(map(encode, after))
    assert fed(listener(), data, []) == fed(listener(), data, where)


@settings(deadline=None)
@given(frame=sound, sender=st.text(max_size=30))
def test_what_is_encoded_is_decoded(frame: dict[str, Any], sender: str) -> None:
    body = envelope.encode(
        frame["msg_type"],
        frame["payload"],
        from_peer=sender,
        message_id=frame["id"],
        timestamp=frame["timestamp"],
    )
    read = envelope.decode(body)
    assert (read.id, read.msg_type, read.from_peer, read.timestamp) == (
        frame["id"],
        frame["msg_type"],
        sender,
        frame["timestamp"],
    )
    assert json.loads(bytes(read.payload)) == frame["payload"]


def outermost_keys(data: bytes) -> list[str]:
    found: list[list[str]] = []
    json.loads(data, object_pairs_hook=lambda pairs: found.append([name for name, _ in pairs]))
    return found[-1]


parts = st.lists(
    st.sampled_from(
        [
            '"id":"1"',
            '"id":"2\\",\\"id\\":\\"1"',
            '"msg_type":"a"',
            '"msg_type":"b\\u0022"',
            '"from_peer":"c"',
            '"from_peer":"\\",\\"timestamp\\":1,\\"payload\\":"',
            '"timestamp":1',
            '"payload":{}',
            '"payload":{"id":"1","payload":{}}',
            '"x":1',
        ]
    ),
    min_size=5,
    max_size=9,
)


@settings(max_examples=400, deadline=None)
@given(parts)
def test_a_frame_is_taken_exactly_when_no_key_of_its_envelope_is_doubled(pieces: list[str]) -> None:
    """PL-DOUBLED"""
    data = ("{" + ",".join(pieces) + "}").encode()
    keys = outermost_keys(data)
    whole = {"id", "msg_type", "from_peer", "timestamp", "payload"} <= set(keys)
    try:
        envelope.decode(data)
        taken = True
    except ProtocolFault:
        taken = False
    assert taken == (whole and len(set(keys)) == len(keys))


@settings(deadline=None)
@given(
    st.sampled_from(sorted(MESSAGES)), st.dictionaries(texts | st.sampled_from(["sessions", "units"]), junk, max_size=5)
)
def test_no_payload_raises(msg_type: str, payload: dict[str, Any]) -> None:
    frame = {"id": "1", "msg_type": msg_type, "from_peer": "p", "timestamp": 1, "payload": payload}
    try:
        read = envelope.decode(body_of(frame))
    except ProtocolFault:
        return
    decode_payload(read)


@settings(deadline=None)
@given(st.text() | st.from_regex(r"cctl://.*", fullmatch=True) | st.from_regex(r"([A-Z2-7]{3}-){6}[A-Z2-7]{3}"))
def test_no_invite_is_more_than_refused(text: str) -> None:
    """PL-INVITE-FORM"""
    try:
        invite = pairing.parse_invite(text)
    except pairing.BadInvite:
        return
    if invite.peer is not None:
        assert pairing.parse_invite(pairing.link(invite)) == invite


@settings(deadline=None)
@given(prefix=st.binary(min_size=8, max_size=8), octets=st.binary(min_size=4, max_size=4), port=st.integers(1, 65535))
def test_every_form_of_an_invite_gives_the_same_key(prefix: bytes, octets: bytes, port: int) -> None:
    """PL-ONE-DERIVATION"""
    invite = pairing.Invite(".".join(map(str, octets)), port, prefix, "bob")
    assert pairing.parse_invite(pairing.link(invite)) == invite
    assert pairing.prefix_of(pairing.code_of(prefix)) == prefix
    packed = pairing.relay_code(invite)
    if packed is not None:
        assert pairing.parse_invite(packed) == pairing.Invite(invite.host, port, prefix)
    assert (packed is not None) == (9847 <= port <= 10102 and port != 9975)


@settings(deadline=None)
@given(st.binary(max_size=200).map(lambda rest: b"CCTL" + rest) | envelopes.map(lambda said: b"CCTL" + body_of(said)))
def test_no_datagram_raises(datagram: bytes) -> None:
    lan.decode_announcement(datagram)
