"""Frames as bytes: what is compressed, what is not, and what one connection keeps in mind."""

import json
import random
import struct

import lz4.block
import pytest

from hopline.wire.peer.connection import PeerConnection
from hopline.wire.peer.events import Event, Received, UnknownType
from hopline.wire.peer.framing import FrameReader, Framing, encode_frame, encode_line
from hopline.wire.peer.limits import COMPRESS_FROM_BYTES, MAX_FEATURES
from hopline.wire.peer.proof import nonce_text


def test_a_body_is_compressed_from_1024_bytes_on() -> None:
    """PL-COMPRESS"""
    below, at = b"x" * (COMPRESS_FROM_BYTES - 1), b"x" * COMPRESS_FROM_BYTES
    assert encode_frame(below) == struct.pack(">IB", 1024, 0) + below
    packed = struct.pack("<I", 1024) + lz4.block.compress(at, store_size=False)
    assert encode_frame(at) == struct.pack(">IB", len(packed) + 1, 1) + packed


def test_a_body_that_does_not_shrink_goes_as_it_is() -> None:
    """PL-COMPRESS"""
    body = random.Random(7).randbytes(5000)
    assert encode_frame(body) == struct.pack(">IB", 5001, 0) + body


@pytest.mark.parametrize("size", [1023, 1024, 4096, 1024 * 1024 - 1])
def test_a_frame_is_read_back_to_the_byte(size: int) -> None:
    body = (b'{"k":' + b"ab1" * size)[:size]
    reader = FrameReader()
    assert reader.settle(Framing.BINARY) == []
    assert reader.receive(encode_frame(body) + encode_frame(body)[:-1]) == [body]
    assert reader.mid_frame
    assert reader.receive(encode_frame(body)[-1:]) == [body]
    assert not reader.mid_frame
    assert reader.take_last_line() == b""


def test_a_compressed_frame_may_hold_up_to_4_mib() -> None:
    """PL-RAW-BOUNDS"""
    body = b"x" * (4 * 1024 * 1024)
    reader = FrameReader()
    reader.settle(Framing.BINARY)
    assert reader.receive(encode_frame(body)) == [body]
    assert reader.receive(encode_frame(body + b"x")) == []
    assert reader.fault == "a compressed frame that claims 4194305 bytes"


def test_bytes_in_hand_change_their_framing_with_the_ack() -> None:
    """PL-CARRIED-OVER"""
    reader = FrameReader()
    assert reader.receive_line(b"first\n" + encode_frame(b"{\n}") + encode_frame(b"{}")[:3]) == [b"first"]
    assert reader.settle(Framing.BINARY) == [b"{\n}"]
    assert reader.receive(encode_frame(b"{}")[3:]) == [b"{}"]
    lines = FrameReader()
    assert lines.receive_line(b"first\nsecond\nthi") == [b"first"]
    assert lines.settle(Framing.LINES) == [b"second"]
    assert lines.receive(b"rd\n") == [b"third"]


class Ring:
    """bob alone."""

    def key(self, peer: str) -> bytes | None:
        return bytes(32) if peer == "bob" else None

    def pending(self) -> bytes | None:
        return None

    def claim_pending(self, peer: str) -> None:
        raise AssertionError


def opened() -> tuple[PeerConnection, PeerConnection]:
    alice = PeerConnection.listener("alice", Ring(), nonce=nonce_text(bytes(32)), now_millis=1)
    bob = PeerConnection.dialler("bob", bytes(32), "alice", version="1", now_millis=1)
    for sender, receiver in ((alice, bob), (bob, alice), (alice, bob)):
        receiver.receive(sender.data_to_send())
    return alice, bob


def test_two_ends_of_ours_agree_on_everything_and_talk() -> None:
    alice, bob = opened()
    assert (
        alice.features
        == bob.features
        == {"frame-bin", "lease-fleet", "oneshot-reuse", "session-lz4", "session-offer", "session-raw", "unknown-ok"}
    )
    assert (alice.peer, bob.peer) == ("bob", "alice")
    (event,) = alice.receive(bob.encode("heartbeat", {}, now_millis=2, entropy="00" * 8))
    assert isinstance(event, Received)
    assert event.envelope.id == "msg_2_0000000000000000"


def test_the_frames_of_one_opening_have_ids_of_their_own() -> None:
    alice = PeerConnection.listener("alice", Ring(), nonce=nonce_text(bytes(32)), now_millis=1)
    bob = PeerConnection.dialler("bob", bytes(32), "alice", version="1", now_millis=1)
    sent = []
    for sender, receiver in ((alice, bob), (bob, alice), (alice, bob)):
        sent.append(sender.data_to_send())
        receiver.receive(sent[-1])
    assert len({json.loads(line)["id"] for line in sent}) == 3


def test_unknown_types_are_remembered_up_to_a_bound() -> None:
    """PL-UNKNOWN-TYPE"""
    alice, bob = opened()
    events: list[Event] = []
    for number in [*range(200), *range(200)]:
        events += alice.receive(bob.encode(f"new_{number}", {}, now_millis=2, entropy="0"))
    assert events == [UnknownType(f"new_{number}") for number in range(MAX_FEATURES)]


def test_a_line_is_the_body_and_a_newline() -> None:
    assert encode_line(b"{}") == b"{}\n"
