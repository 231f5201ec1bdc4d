"""Runs a scenario on the pure machine of one connection; the bytes are made here, without the code under test."""

import hashlib
import hmac
import json
import struct
from typing import Any

import lz4.block
import msgspec
from peer_scenario import Scenario, Step, named_fields, typed_bytes

from hopline.wire.peer.connection import PeerConnection
from hopline.wire.peer.events import Authenticated, Denied, Ended, Event, Faulted, Received, UnknownType, WrongPeer
from hopline.wire.peer.messages import decode_payload
from hopline.wire.peer.transfer import SessionTransfer

NONCE = "0123456789abcdef" * 4
KEY = bytes.fromhex("a1b2c3d4e5f60789b2c3ab776376b978ac3759614df56253ffbd4dca3cb82aa6")
PROOF = hmac.new(KEY, NONCE.encode(), hashlib.sha256).hexdigest()
LONG = 100_000
"""From here on the pieces are larger, by a prime: a MiB byte by byte takes seconds."""
US = "alice-0a0a0a0a"
ATTACHED = bytes(range(256)) * 3
FLAGS = {"frame": 0, "lz4": 1, "raw": 2}
NAMES: dict[type, str] = {
    Authenticated: "authenticated",
    Denied: "denied",
    Ended: "ended",
    Faulted: "faulted",
    Received: "received",
    UnknownType: "unknown",
    WrongPeer: "wrong-peer",
}


class Ring:
    """The keys of a scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self.keys = dict.fromkeys(scenario.settings.get("key", "").split(), KEY)
        self.waiting = KEY if "pending" in scenario.settings else None

    def key(self, peer: str) -> bytes | None:
        return self.keys.get(peer)

    def pending(self) -> bytes | None:
        return self.waiting

    def claim_pending(self, peer: str) -> None:
        assert self.waiting is not None
        self.keys[peer], self.waiting = self.waiting, None


class CoreRun:
    """One scenario on one machine.

    Args:
        scenario: what happens.
        piece: how many bytes the machine gets at once; None for everything up to what is expected next.
    """

    def __init__(self, scenario: Scenario, piece: int | None) -> None:
        self.scenario = scenario
        self.piece = piece
        self.ring = Ring(scenario)
        self.machine = self.connect()
        self.typed = b""
        self.eof = False
        self.sent = b""
        self.events: list[Event] = []

    def connect(self) -> PeerConnection:
        settings = self.scenario.settings
        offer: dict[str, Any] = {"offer": frozenset(settings["offer"].split())} if "offer" in settings else {}
        if settings["role"] == "listener":
            return PeerConnection.listener(US, self.ring, nonce=NONCE, now_millis=1_760_000_000_000, **offer)
        return PeerConnection.dialler(
            US,
            KEY,
            settings.get("expect"),
            version="1.2.3",
            now_millis=1_760_000_000_000,
            listen_port=None if "one-shot" in settings else 9850,
            transient="one-shot" in settings,
            own_nonces=settings.get("own-nonce", "").replace("$NONCE", NONCE).split(),
            **offer,
        )

    def run(self) -> None:
        """Do every step; nothing may happen that was not named."""
        for step in self.scenario.steps:
            if step.actor == "peer":
                self.peer(step)
            else:
                self.flush()
                getattr(self, step.actor)(step)
        self.flush()
        assert self.events == [], "events nobody named"
        assert self.sent == b"", "frames nobody named"

    def flush(self) -> None:
        """Give the machine what was typed."""
        typed, self.typed = self.typed, b""
        size = self.piece or max(len(typed), 1)
        if len(typed) > LONG:
            size *= 4099
        for at in range(0, len(typed), size):
            self.events += self.machine.receive(typed[at : at + size])
        if self.eof:
            self.events += self.machine.receive_eof()
            self.eof = False
        self.sent += self.machine.data_to_send()

    # Steps

    def peer(self, step: Step) -> None:
        kind = step.text.partition(" ")[0]
        text = step.text.replace("$PROOF", PROOF).replace("$NONCE", NONCE).replace("$PAD", "pad " * 500)
        if kind == "EOF":
            self.eof = True
        elif kind in ("bytes", "repeat"):
            self.typed += typed_bytes(step.text)
        elif kind == "frame":
            body = text.removeprefix("frame ").encode()
            self.typed += struct.pack(">IB", len(body) + 1, 0) + body
        elif kind == "lz4":
            body = text.removeprefix("lz4 ").encode()
            packed = struct.pack("<I", len(body)) + lz4.block.compress(body, store_size=False)
            self.typed += struct.pack(">IB", len(packed) + 1, 1) + packed
        elif kind in ("raw", "raw-nothing"):
            body = text.removeprefix(f"{kind} ").encode()
            attached = b"" if kind == "raw-nothing" else ATTACHED
            length = 5 + len(body) + len(attached)
            self.typed += struct.pack(">IB", length, 2) + struct.pack("<I", len(body)) + body + attached
        else:
            self.typed += text.encode() + b"\n"

    def ours(self, step: Step) -> None:
        line, _, self.sent = self.sent.partition(b"\n")
        assert line, f"line {step.line}: nothing was sent"
        frame = json.loads(line)
        assert frame.keys() == {"id", "msg_type", "from_peer", "timestamp", "payload"}
        expected = json.loads(step.text.replace("$PROOF", PROOF).replace("$NONCE", NONCE))
        assert {key: frame[key] for key in expected} == expected, f"line {step.line}"

    def event(self, step: Step) -> None:
        assert self.events, f"line {step.line}: no such event"
        event = self.events.pop(0)
        name, _, rest = step.text.partition(" ")
        assert NAMES[type(event)] == name, f"line {step.line}: {event}"
        match event:
            case Received():
                assert event.envelope.msg_type == rest, f"line {step.line}"
                if isinstance(chunk := decode_payload(event.envelope), SessionTransfer):
                    assert bytes(chunk.data) in (ATTACHED, b""), f"line {step.line}"
            case Faulted():
                assert rest in event.reason and rest, f"line {step.line}: {event.reason}"
            case UnknownType():
                assert event.msg_type == rest, f"line {step.line}"
            case _:
                said = msgspec.to_builtins(event)
                fields = named_fields(rest)
                assert {key: sorted(v) if isinstance(v := said[key], list) else v for key in fields} == fields, (
                    f"line {step.line}"
                )

    def state(self, step: Step) -> None:
        for pair in step.text.split():
            name, _, value = pair.partition("=")
            if name == "hold":
                self.machine.hold_is_over()
            elif name == "pending":
                assert str(self.ring.waiting is not None) == value, f"line {step.line}: {name}"
            else:
                assert str(getattr(self.machine, name)) == value, f"line {step.line}: {name}"

    def sends(self, step: Step) -> None:
        framing, msg_type, text = step.text.split(" ", 2)
        payload = json.loads(text.replace("$PAD", "pad " * 500))
        chunk = SessionTransfer(**payload | {"data": ATTACHED}) if framing == "raw" else payload
        data = self.machine.encode(msg_type, chunk, now_millis=1_760_000_000_001, entropy="0f" * 8)
        if framing == "line":
            assert data.endswith(b"\n")
            body = data[:-1]
        else:
            length, flags = struct.unpack(">IB", data[:5])
            assert (length, flags) == (len(data) - 4, FLAGS[framing]), f"line {step.line}"
            body = data[5:]
            if framing == "raw":
                (size,) = struct.unpack("<I", body[:4])
                assert body[4 + size :] == ATTACHED
                body = body[4 : 4 + size]
            elif flags:
                (raw,) = struct.unpack("<I", body[:4])
                body = lz4.block.decompress(body[4:], uncompressed_size=raw)
                assert len(body) == raw > len(data)
        assert json.loads(body) == {
            "id": "msg_1760000000001_" + "0f" * 8,
            "msg_type": msg_type,
            "from_peer": US,
            "timestamp": 1_760_000_000_001,
            "payload": payload,
        }, f"line {step.line}"
