"""The opening of a connection, either end: challenge, handshake, ack (docs/wire/peer.md, "Opening a connection").

A machine takes frames and gives frames to send and, at last, the event that ends the opening.
"""

import hashlib
from collections.abc import Container
from typing import Protocol

from hopline.wire.peer import proof as proofs
from hopline.wire.peer.envelope import Envelope, Payload, encode, message_id
from hopline.wire.peer.events import Authenticated, Denied, Event, Faulted, WrongPeer
from hopline.wire.peer.framing import encode_line
from hopline.wire.peer.handshake import DENIED, OK, Challenge, Handshake, HandshakeAck, Said, read_opening
from hopline.wire.peer.identity import is_peer_id
from hopline.wire.peer.limits import MAX_PEER_ID_CHARACTERS, PROTO
from hopline.wire.peer.negotiation import agree, read_proto
from hopline.wire.peer.texts import shown

REFLECTED = "a challenge with a nonce of our own"
"""We dialled ourselves, or somebody who wants our proof."""

_NO_KEY = bytes(proofs.KEY_BYTES)
"""A proof is computed also where there is no key, so that the time does not tell who is paired."""


class KeyRing(Protocol):
    """The keys of a hub. What it raises goes through the machine."""

    def key(self, peer: str) -> bytes | None:
        """The 32 bytes shared with that peer."""

    def pending(self) -> bytes | None:
        """The key that waits for whoever proves it first."""

    def claim_pending(self, peer: str) -> None:
        """Make the pending key that peer's, durably; it is no longer pending when this returns."""


class Opening(Protocol):
    """One end."""

    output: bytes
    """What to send next; the owner takes it away."""

    def receive(self, frame: Envelope) -> Event | None:
        """The event that ends the opening, if this frame does."""


def _frame(msg_type: str, payload: Payload, *, sender: str, now_millis: int, nonce: str) -> bytes:
    entropy = hashlib.sha256(f"{msg_type} {nonce}".encode()).hexdigest()[:16]
    body = encode(msg_type, payload, from_peer=sender, message_id=message_id(now_millis, entropy), timestamp=now_millis)
    return encode_line(body)


class ListenerOpening:
    """Challenges, checks the handshake, answers with the ack.

    Args:
        now_millis: wall time of the accept; it stands in the frames of the opening.
        nonce: fresh for this connection (`proof.nonce_text`).
    """

    def __init__(self, identity: str, keys: KeyRing, *, nonce: str, offer: frozenset[str], now_millis: int) -> None:
        self._identity = identity
        self._keys = keys
        self._nonce = nonce
        self._offer = offer
        self._now_millis = now_millis
        self.output = _frame("challenge", Challenge(nonce), sender="", now_millis=now_millis, nonce=nonce)

    def receive(self, frame: Envelope) -> Event | None:
        """The handshake. Whatever is wrong with it gets the same answer (PL-ONE-ANSWER).

        Only the claimed id's own key counts (PL-OWN-KEY), and the pending key only for an id without one; it is that
        peer's before the ack is out (PL-PENDING).
        """
        said = read_opening(frame.payload)
        claimed = frame.from_peer
        sound = is_peer_id(claimed) and claimed != self._identity
        key = self._keys.key(claimed) if sound else None
        pending = self._keys.pending() if sound and key is None else None
        claim = said.proof if isinstance(said.proof, str) else ""
        proved = proofs.check(key or pending or _NO_KEY, self._nonce, claim)
        if not proved or frame.msg_type != "handshake" or (key is None and pending is None):
            self._answer(HandshakeAck(DENIED))
            return Denied(DENIED, shown(claimed, MAX_PEER_ID_CHARACTERS))
        if pending is not None:
            self._keys.claim_pending(claimed)
        agreed = agree(said.proto, said.features, self._offer)
        if read_proto(said.proto) is None:  # PL-BARE-ACK: what peers without negotiation expect to the byte
            self._answer(HandshakeAck(OK))
        else:
            self._answer(HandshakeAck(OK, agreed.proto, sorted(agreed.features)))
        return Authenticated(
            peer=claimed,
            version=said.version_shown,
            proto=agreed.proto,
            features=agreed.features,
            transient=said.transient is True,  # PL-ONE-SHOT
            listen_port=None if said.transient is True else said.port,
            used_pending=pending is not None,
            peer_millis=frame.timestamp,
        )

    def _answer(self, ack: HandshakeAck) -> None:
        self.output += _frame(
            "handshake_ack", ack, sender=self._identity, now_millis=self._now_millis, nonce=self._nonce
        )


class DiallerOpening:
    """Answers the challenge and judges the ack.

    Args:
        key: what to prove.
        expected: who must answer; None to take whoever accepts the proof.
        own_nonces: nonces that our own listener has outstanding; a peer that sends one back wants our proof for itself.
    """

    def __init__(
        self,
        identity: str,
        key: bytes,
        expected: str | None,
        *,
        hello: Handshake,
        offer: frozenset[str],
        own_nonces: Container[str],
        now_millis: int,
    ) -> None:
        self._identity = identity
        self._key = key
        self._expected = expected
        self._hello = hello
        self._offer = offer
        self._own_nonces = own_nonces
        self._now_millis = now_millis
        self._answered = False
        self.output = b""

    def receive(self, frame: Envelope) -> Event | None:
        """The challenge, whatever its type says, and then the ack."""
        said = read_opening(frame.payload)
        if self._answered:
            return self._judge(frame, said)
        if not isinstance(said.nonce, str):
            return Faulted("a challenge without a nonce")
        if said.nonce in self._own_nonces:
            return Faulted(REFLECTED)  # PL-REFLECTED
        hello = Handshake(
            proof=proofs.proof(self._key, said.nonce),
            version=self._hello.version,
            proto=PROTO,
            features=sorted(self._offer),
            listen_port=self._hello.listen_port,
            transient=self._hello.transient,
        )
        self._answered = True
        self.output += _frame("handshake", hello, sender=self._identity, now_millis=self._now_millis, nonce=said.nonce)
        return None

    def _judge(self, frame: Envelope, said: Said) -> Event:
        peer = frame.from_peer
        if frame.msg_type != "handshake_ack":
            return Faulted(f"{shown(frame.msg_type)} instead of an ack")
        if said.status != OK:
            # PL-DENIED: any status but ok, and none at all
            status = shown(said.status) if isinstance(said.status, str) else ""
            return Denied(status or DENIED, shown(peer, MAX_PEER_ID_CHARACTERS))
        if not is_peer_id(peer):
            return Faulted("an ack from an id that no peer may have")
        if self._expected is not None and peer != self._expected:
            return WrongPeer(self._expected, peer)  # PL-EXPECTED
        agreed = agree(said.proto, said.features, self._offer)
        return Authenticated(
            peer=peer,
            version="",
            proto=agreed.proto,
            features=agreed.features,
            transient=self._hello.transient,
            listen_port=None,
            used_pending=False,
            peer_millis=frame.timestamp,
        )
