"""A second speaker of the peer wire, written from the seed and its reference alone, sharing no code with src/.

It behaves as a claudectl relay of proto 0 or 1 does, its weaknesses included: what came with a handshake is thrown
away, a proto-0 reader goes mute at an unknown type, ids collide between machines. And it is strict: whatever a peer
may not send is an AssertionError that says so.
"""

import itertools
import json
import socket
import struct
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import lz4.block
from peer_forms import IDENTITY, proof_of

MAX_FRAME = 1 << 20
MAX_RAW = 4 << 20
COMPRESS_FROM = 1024
DEDUP_WINDOW = 1000
FEATURES = ("unknown-ok", "frame-bin", "lease-fleet")
PROTO_0_TYPES = frozenset(
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
LEASE_TYPES = frozenset({"lease_claim", "lease_release", "lease_list", "lease_result"})
SINCE_TYPES = frozenset(
    {
        "hive_join_request",
        "hive_join_result",
        "knowledge_rejected",
        "session_transfer",
        "session_received",
    }
)
PROTO_1_TYPES = PROTO_0_TYPES | LEASE_TYPES | SINCE_TYPES
SECONDS = 10.0
"""Bound on every wait unless the caller gives another."""


class Denied(Exception):
    """The listener's ack was not `ok`; `peer` is who it says it is."""

    def __init__(self, peer: str, status: str) -> None:
        super().__init__(f"{peer} answered {status}")
        self.peer = peer


class Ended(Exception):
    """The connection is over, or its reader is."""


def frames_of(body: bytes, *, compress: bool = True) -> bytes:
    """One binary frame around `body`."""
    if compress and len(body) >= COMPRESS_FROM:
        block = lz4.block.compress(body, store_size=False)
        if 4 + len(block) < len(body):
            return struct.pack(">IB", 5 + len(block), 1) + struct.pack("<I", len(body)) + block
    return struct.pack(">IB", 1 + len(body), 0) + body


def opened(body: bytes, flags: int) -> bytes:
    """The JSON of a binary frame. AssertionError for what no sender may write."""
    assert flags in (0, 1), f"reserved bits set: {flags:#04x}"
    if flags == 0:
        return body
    assert len(body) >= 5, "a compressed frame without a block"
    raw = struct.unpack("<I", body[:4])[0]
    assert COMPRESS_FROM <= raw <= MAX_RAW, f"raw length {raw}"
    plain: bytes = lz4.block.decompress(body[4:], uncompressed_size=raw)
    assert len(plain) == raw, "the block is not as long as it says"
    assert len(body) < raw, "compressed although that made it no smaller"
    return plain


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({key for key, _ in pairs}) == len(pairs), f"a doubled key: {pairs}"
    return dict(pairs)


def message_of(body: bytes) -> dict[str, Any]:
    """The envelope, checked key by key."""
    message: dict[str, Any] = json.loads(body.decode(), object_pairs_hook=_once)
    for key, kind in (("id", str), ("msg_type", str), ("from_peer", str), ("timestamp", int), ("payload", dict)):
        assert type(message.get(key)) is kind, f"{key} of {message}"
    assert message["timestamp"] >= 0
    assert len(body) <= MAX_FRAME, "a body that no line may carry"
    return message


@dataclass
class Speaker:
    """One relay process: its identity, its keys, what it speaks.

    `forgetful`: what arrives in one read with a handshake frame is lost, as with upstream's buffered reader.
    `since_078`: a proto-0 program of 0.78 rather than 0.64: it knows transfers, hives and one-shots.
    """

    identity: str
    keys: dict[str, bytes] = field(default_factory=dict)
    pending: bytes | None = None
    proto: int = 1
    features: tuple[str, ...] = FEATURES
    forgetful: bool = True
    since_078: bool = False
    seen: "OrderedDict[str, None]" = field(default_factory=OrderedDict)
    _counter: Iterator[int] = field(default_factory=itertools.count)

    @property
    def version(self) -> str:
        """As its program would call itself."""
        return "0.90.0" if self.proto else "0.78.0" if self.since_078 else "0.64.0"

    @property
    def one_shots(self) -> bool:
        """Whether it knows `transient`."""
        return self.proto > 0 or self.since_078

    def message(self, msg_type: str, payload: dict[str, Any] | None = None, **overrides: Any) -> dict[str, Any]:
        """An envelope with upstream's ids: milliseconds and a counter from 0 in every process."""
        now = int(time.time() * 1000)
        plain = {
            "id": f"msg_{now}_{next(self._counter)}",
            "msg_type": msg_type,
            "from_peer": self.identity,
            "timestamp": now,
            "payload": payload or {},
        }
        return plain | overrides

    def handshake(self, proof: str, *, transient: bool = False, listen_port: int | None = None) -> dict[str, Any]:
        """The payload of the dialler's handshake."""
        payload: dict[str, Any] = {"proof": proof, "version": self.version}
        if self.one_shots:
            payload |= {} if listen_port is None else {"listen_port": listen_port}
            payload |= {"transient": True} if transient else {}
        if self.proto > 0:
            payload |= {"proto": self.proto, "features": list(self.features)}
        return payload

    def new(self, message_id: str) -> bool:
        """Whether the id is not in the window of the last 1000, which all peers share."""
        if message_id in self.seen:
            return False
        self.seen[message_id] = None
        if len(self.seen) > DEDUP_WINDOW:
            self.seen.popitem(last=False)
        return True

    def dial(
        self,
        address: tuple[str, int],
        peer: str,
        *,
        key: bytes | None = None,
        transient: bool = False,
        listen_port: int | None = None,
        source: str | None = None,
    ) -> "Line":
        """Connect, prove, read the ack. Raises Denied, Ended, OSError; AssertionError for an ack of somebody else."""
        line = Line(self, call(address, source))
        try:
            nonce = line.challenged()
            proof = proof_of(key or self.keys[peer], nonce)
            line.send("handshake", self.handshake(proof, transient=transient, listen_port=listen_port))
            ack = line.handshake_frame()
            assert ack["msg_type"] == "handshake_ack", ack
            if ack["payload"]["status"] != "ok":
                raise Denied(ack["from_peer"], ack["payload"]["status"])
            assert ack["from_peer"] == peer, f"{ack['from_peer']} answered for {peer}"
        except BaseException:
            line.close()
            raise
        line.agree(peer, ack["payload"] if self.proto else {}, transient=transient)
        assert self.proto or ack["payload"] == {"status": "ok"}, f"a proto 0 peer was answered {ack['payload']}"
        return line

    def listen(self, host: str = "127.0.0.1", port: int = 0) -> "Door":
        """Accept connections at an address of its own."""
        return Door(self, host, port)


def call(address: tuple[str, int], source: str | None = None) -> socket.socket:
    """A plain TCP connection, from the address `source` when given. Raises OSError."""
    made = socket.create_connection(address, SECONDS, source_address=(source, 0) if source else None)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


class Line:
    """One connection, from its first byte."""

    def __init__(self, speaker: Speaker, connection: socket.socket) -> None:
        self.speaker = speaker
        self.socket = connection
        self.peer = ""
        self.proto = 0
        self.agreed: frozenset[str] = frozenset()
        self.transient = False
        self.binary = False
        self.handshake_payload: dict[str, Any] = {}
        """What the dialler said, on a connection that we accepted."""
        self.skipped: list[dict[str, Any]] = []
        """What `expect` passed over."""
        self.lost = b""
        """What a forgetful speaker threw away."""
        self.compressed = 0
        """How many frames came compressed."""
        self._buffer = b""
        self._mute = False

    def agree(self, peer: str, said: dict[str, Any], *, transient: bool) -> None:
        """Take over what was negotiated; frames change with it."""
        self.peer, self.transient = peer, transient
        self.proto = said.get("proto", 0)
        assert self.proto <= self.speaker.proto, said
        offered = said.get("features", [])
        assert self.proto or "features" not in said, f"features without proto: {said}"
        self.agreed = frozenset(offered) & frozenset(self.speaker.features)
        self.binary = "frame-bin" in self.agreed

    # The handshake, always in lines.

    def handshake_frame(self, seconds: float = SECONDS) -> dict[str, Any]:
        """The next line; with a forgetful speaker what was read behind it is gone."""
        line = self._line(time.monotonic() + seconds)
        if self.speaker.forgetful:
            self.lost, self._buffer = self.lost + self._buffer, b""
        return message_of(line)

    def challenged(self) -> str:
        """The nonce of the listener's first frame."""
        challenge = self.handshake_frame()
        nonce: str = challenge["payload"]["nonce"]
        assert challenge["msg_type"] == "challenge"
        assert challenge["from_peer"] == ""
        assert len(nonce) == 64, nonce
        assert set(nonce) <= set("0123456789abcdef"), nonce
        return nonce

    # Frames.

    def encoded(self, message: dict[str, Any]) -> bytes:
        """The message in this connection's framing."""
        body = json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()
        return frames_of(body) if self.binary else body + b"\n"

    def send(self, msg_type: str, payload: dict[str, Any] | None = None, **overrides: Any) -> str:
        """Write one message; its id."""
        message = self.speaker.message(msg_type, payload, **overrides)
        self.socket.settimeout(SECONDS)
        self.socket.sendall(self.encoded(message))
        return str(message["id"])

    def send_raw(self, data: bytes) -> None:
        """Write bytes as they are."""
        self.socket.settimeout(SECONDS)
        self.socket.sendall(data)

    def receive(self, seconds: float = SECONDS) -> dict[str, Any]:
        """The next message that is not a repetition. Raises TimeoutError, Ended."""
        deadline = time.monotonic() + seconds
        while True:
            message = self._next(deadline)
            if self.speaker.new(message["id"]):
                return message

    def expect(self, *types: str, seconds: float = SECONDS) -> dict[str, Any]:
        """The next message of one of these types; what comes before it is kept in `skipped`."""
        deadline = time.monotonic() + seconds
        while True:
            message = self.receive(deadline - time.monotonic())
            if message["msg_type"] in types:
                return message
            self.skipped.append(message)

    def ends(self, seconds: float = SECONDS) -> bool:
        """Whether the other side closes within that time; what it still says is read and thrown away."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                if not self.socket.recv(1 << 16):
                    return True
            except TimeoutError:
                return False
            except OSError:
                return True
        return False

    def close(self) -> None:
        """FIN, or at once what the system does for unread data."""
        self.socket.close()

    def reset(self) -> None:
        """RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def __enter__(self) -> "Line":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _next(self, deadline: float) -> dict[str, Any]:
        if self._mute:
            raise Ended("this reader ended at a type that it does not know; the socket is still open")
        message = message_of(self._binary_body(deadline) if self.binary else self._line(deadline))
        msg_type = message["msg_type"]
        known = PROTO_0_TYPES | SINCE_TYPES if self.speaker.since_078 else PROTO_0_TYPES
        if self.speaker.proto == 0 and msg_type not in known:
            self._mute = True
            raise AssertionError(f"{msg_type} was sent to a proto 0 peer, whose reader ends at it")
        if msg_type in LEASE_TYPES:
            assert "lease-fleet" in self.agreed, f"{msg_type} where lease-fleet was not agreed"
        assert msg_type not in ("challenge", "handshake", "handshake_ack"), f"{msg_type} after the handshake"
        assert message["from_peer"] == self.peer, f"{message['from_peer']} wrote on the connection of {self.peer}"
        return message

    def _fill(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("nothing came")
        self.socket.settimeout(left)
        try:
            data = self.socket.recv(1 << 18)
        except ConnectionError as gone:
            raise Ended(str(gone)) from gone
        if not data:
            raise Ended("end of stream")
        self._buffer += data

    def _line(self, deadline: float) -> bytes:
        while (at := self._buffer.find(b"\n")) < 0:
            assert len(self._buffer) <= MAX_FRAME, "a line over 1 MiB"
            self._fill(deadline)
        line, self._buffer = self._buffer[:at], self._buffer[at + 1 :]
        assert len(line) <= MAX_FRAME, "a line over 1 MiB"
        if not line.strip():
            raise Ended("a blank line")
        return line

    def _binary_body(self, deadline: float) -> bytes:
        while len(self._buffer) < 5:
            self._fill(deadline)
        length, flags = struct.unpack(">IB", self._buffer[:5])
        assert 1 <= length <= MAX_FRAME, f"a frame of {length}"
        while len(self._buffer) < 4 + length:
            self._fill(deadline)
        body, self._buffer = self._buffer[5 : 4 + length], self._buffer[4 + length :]
        self.compressed += flags & 1
        return opened(body, flags)


class Door:
    """A listener. Counts nothing and limits nothing."""

    def __init__(self, speaker: Speaker, host: str, port: int) -> None:
        self.speaker = speaker
        self._socket = socket.create_server((host, port), backlog=64)
        self.address: tuple[str, int] = self._socket.getsockname()[:2]

    @property
    def port(self) -> int:
        return self.address[1]

    def pick_up(self, seconds: float = SECONDS) -> Line:
        """The next TCP connection, before any byte. Raises TimeoutError."""
        self._socket.settimeout(max(seconds, 0.001))
        connection, _ = self._socket.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return Line(self.speaker, connection)

    def accept(self, seconds: float = SECONDS, nonce: str = "5a" * 32) -> Line:
        """Pick up, challenge, check, answer. Raises Denied after having answered `denied`, TimeoutError, Ended."""
        line = self.pick_up(seconds)
        try:
            self._prove(line, nonce)
        except BaseException:
            line.close()
            raise
        return line

    def accept_link(self, seconds: float = SECONDS) -> Line:
        """The next connection that is to last; one-shots before it are turned away by closing."""
        return self._accept_kind(seconds, transient=False)

    def accept_one_shot(self, seconds: float = SECONDS) -> Line:
        """The next one-shot; links that come before it are closed."""
        return self._accept_kind(seconds, transient=True)

    def _accept_kind(self, seconds: float, *, transient: bool) -> Line:
        deadline = time.monotonic() + seconds
        while True:
            line = self.accept(deadline - time.monotonic())
            if line.transient == transient:
                return line
            line.close()

    def _prove(self, line: Line, nonce: str) -> None:
        us = self.speaker
        line.send("challenge", {"nonce": nonce}, from_peer="")
        offer = line.handshake_frame()
        assert offer["msg_type"] == "handshake", offer
        peer, payload = offer["from_peer"], offer["payload"]
        assert IDENTITY.fullmatch(peer), peer
        line.handshake_payload = payload
        key = us.keys.get(peer, us.pending)
        if key is None or payload["proof"] != proof_of(key, nonce):
            line.send("handshake_ack", {"status": "denied"})
            raise Denied(peer, "denied")
        if peer not in us.keys:
            us.keys[peer], us.pending = key, None
        said: dict[str, Any] = {}
        if us.proto and "proto" in payload:
            said = {"proto": min(us.proto, payload["proto"])}
            said["features"] = [name for name in us.features if name in payload.get("features", [])]
        line.send("handshake_ack", {"status": "ok"} | said)
        # The ack is out; from here on frames are as agreed.
        line.agree(peer, said, transient=us.one_shots and payload.get("transient") is True)

    def close(self) -> None:
        self._socket.close()


@contextmanager
def listening(speaker: Speaker, host: str = "127.0.0.1", port: int = 0) -> Iterator[Door]:
    """A door that is closed at the end of the block."""
    door = speaker.listen(host, port)
    try:
        yield door
    finally:
        door.close()
