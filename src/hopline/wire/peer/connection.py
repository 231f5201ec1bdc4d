"""One connection of the peer wire, either end: bytes in, events and bytes out (docs/wire/peer.md, "Connection")."""

from collections.abc import Container, Sequence

import msgspec

from hopline.wire.peer import envelope as envelopes
from hopline.wire.peer.envelope import Envelope, EnvelopeWith, Payload, message_id
from hopline.wire.peer.events import Authenticated, Ended, Event, Faulted, Received, UnknownType
from hopline.wire.peer.faults import ProtocolFault
from hopline.wire.peer.framing import Attached, FrameReader, Framing, encode_attached, encode_frame, encode_line
from hopline.wire.peer.handshake import Handshake
from hopline.wire.peer.limits import MAX_FEATURES
from hopline.wire.peer.messages import MESSAGES
from hopline.wire.peer.negotiation import FEATURES, FRAME_BIN, SESSION_RAW
from hopline.wire.peer.opening import DiallerOpening, KeyRing, ListenerOpening, Opening
from hopline.wire.peer.texts import shown
from hopline.wire.peer.transfer import SessionTransfer

__all__ = ["KeyRing", "PeerConnection"]


class PeerConnection:
    """From the first byte to the last. What the peer sends never raises; what ends the connection is an event.

    After Denied, WrongPeer, Faulted or Ended it takes and gives nothing more.
    """

    def __init__(self, identity: str, opening: Opening, *, listening: bool) -> None:
        self._identity = identity
        self._opening: Opening | None = opening
        self._reader = FrameReader()
        self._agreed: Authenticated | None = None
        self._names: tuple[str, ...] = ()
        self._holding = listening
        self._unknown: set[str] = set()
        self._over = False
        self._output = opening.output
        opening.output = b""
        self.framing = Framing.LINES
        """How frames after the ack are cut."""
        self.attaches = False
        """Whether chunks of conversations go beside their JSON."""
        self.first_frame_seen = False
        """Whether the peer sent a frame after the ack."""

    @classmethod
    def listener(
        cls, identity: str, keys: KeyRing, *, nonce: str, now_millis: int, offer: frozenset[str] = FEATURES
    ) -> "PeerConnection":
        """The accepting end.

        Args:
            nonce: fresh for this connection (`proof.nonce_text`).
            now_millis: wall time; it stands in the frames of the opening.
            offer: the features we agree to.
        """
        opening = ListenerOpening(identity, keys, nonce=nonce, offer=offer, now_millis=now_millis)
        return cls(identity, opening, listening=True)

    @classmethod
    def dialler(
        cls,
        identity: str,
        candidate_key: bytes,
        expected: str | None,
        *,
        version: str,
        now_millis: int,
        offer: frozenset[str] = FEATURES,
        listen_port: int | None = None,
        transient: bool = False,
        own_nonces: Container[str] = frozenset(),
    ) -> "PeerConnection":
        """The dialling end.

        Args:
            candidate_key: what to prove.
            expected: who must answer; None to take whoever accepts the proof.
            listen_port: where we accept connections, when at every address; never for a one-shot.
            transient: a one-shot.
            own_nonces: nonces that our own listener has outstanding.
        """
        opening = DiallerOpening(
            identity,
            candidate_key,
            expected,
            hello=Handshake(proof="", version=version, listen_port=listen_port, transient=transient),
            offer=offer,
            own_nonces=own_nonces,
            now_millis=now_millis,
        )
        return cls(identity, opening, listening=False)

    @property
    def authenticated(self) -> bool:
        """Whether the opening succeeded; it stays so when the connection ends."""
        return self._agreed is not None

    @property
    def peer(self) -> str:
        """The authenticated id; empty before."""
        return self._agreed.peer if self._agreed else ""

    @property
    def features(self) -> frozenset[str]:
        """What both ends agreed; nothing before."""
        return self._agreed.features if self._agreed else frozenset()

    @property
    def proto(self) -> int:
        """The agreed version; 0 before."""
        return self._agreed.proto if self._agreed else 0

    @property
    def transient(self) -> bool:
        """Whether it is a one-shot, as far as is known."""
        return self._agreed is not None and self._agreed.transient

    @property
    def mid_frame(self) -> bool:
        """Whether a frame has begun and is not whole."""
        return self._reader.mid_frame

    @property
    def may_send(self) -> bool:
        """Whether frames may go out: a listener waits for the dialler's first frame, or `hold_is_over` (PL-HOLD)."""
        return self._agreed is not None and not self._over and (self.first_frame_seen or not self._holding)

    def hold_is_over(self) -> None:
        """HOLD_SECONDS passed since the ack."""
        self._holding = False

    def data_to_send(self) -> bytes:
        """The frames of the opening that are due; each is given once."""
        output, self._output = self._output, b""
        return output

    def encode(self, msg_type: str, payload: Payload, *, now_millis: int, entropy: str) -> bytes:
        """One frame in the agreed framing, for when `may_send`.

        Args:
            entropy: 16 random hex digits.

        Raises Misuse when it is longer than a frame may be.
        """
        attached: bytes | None = None
        if self.attaches and isinstance(payload, SessionTransfer):
            attached, payload = payload.data, msgspec.structs.replace(payload, data=b"")
        body = envelopes.encode(
            msg_type,
            payload,
            from_peer=self._identity,
            message_id=message_id(now_millis, entropy),
            timestamp=now_millis,
        )
        if attached is not None:
            return encode_attached(body, attached)
        return encode_frame(body) if self.framing is Framing.BINARY else encode_line(body)

    def receive(self, data: bytes) -> list[Event]:
        """What `data` brings."""
        if self._over:
            return []
        if self._opening is not None:
            return self._open(self._opening, data)
        return self._read(self._reader.receive(data))

    def receive_eof(self) -> list[Event]:
        """The peer's stream is over. What stands after the last newline of lines is still tried as a frame."""
        if self._over:
            return []
        events: list[Event] = []
        if last := self._reader.take_last_line():
            events = self.receive(last + b"\n")
        elif self._reader.mid_frame:
            events = [self._end(Faulted("the stream ended inside a frame"))]
        if not self._over:
            events.append(self._end(Ended()))
        return events

    def _open(self, opening: Opening, data: bytes) -> list[Event]:
        while lines := self._reader.receive_line(data):
            data = b""
            try:
                event = opening.receive(envelopes.decode(lines[0]))
            except ProtocolFault as fault:
                return [self._end(Faulted(fault.reason))]
            self._output += opening.output
            opening.output = b""
            if isinstance(event, Authenticated):
                return [event, *self._begin(event)]
            if event is not None:
                return [self._end(event)]
        return self._close_if_due()

    def _begin(self, agreed: Authenticated) -> list[Event]:
        self._opening = None
        self._agreed = agreed
        self._names = (agreed.peer, "")
        if FRAME_BIN in agreed.features:  # PL-ACK-DECIDES
            self.framing = Framing.BINARY
            self.attaches = SESSION_RAW in agreed.features
        return self._read(self._reader.settle(self.framing, attachments=self.attaches))

    def _read(self, bodies: Sequence[bytes | Attached]) -> list[Event]:
        events: list[Event] = []
        for body in bodies:
            try:
                frame = envelopes.decode(body) if isinstance(body, bytes) else _with_attached(body)
            except ProtocolFault as fault:
                events.append(self._end(Faulted(fault.reason)))
                return events
            if frame.from_peer not in self._names:  # PL-OWN-NAME
                events.append(self._end(Faulted("a frame in another's name: " + shown(frame.from_peer))))
                return events
            self.first_frame_seen = True
            if frame.msg_type in MESSAGES:
                events.append(Received(frame))
            else:
                self._note_unknown(frame, events)
        events += self._close_if_due()
        return events

    def _note_unknown(self, frame: Envelope, events: list[Event]) -> None:
        """Skipped, and told once a type and connection (PL-UNKNOWN-TYPE)."""
        name = shown(frame.msg_type)
        if name not in self._unknown and len(self._unknown) < MAX_FEATURES:
            self._unknown.add(name)
            events.append(UnknownType(name))

    def _close_if_due(self) -> list[Event]:
        if self._reader.fault:
            return [self._end(Faulted(self._reader.fault))]
        return [self._end(Ended())] if self._reader.ended else []

    def _end(self, event: Event) -> Event:
        self._over = True
        return event


def _with_attached(frame: Attached) -> EnvelopeWith:
    """Raises ProtocolFault for bytes beside anything but a chunk of a conversation (PL-ATTACHED)."""
    envelope = envelopes.decode(frame.body)
    if MESSAGES.get(envelope.msg_type) is not SessionTransfer:
        raise ProtocolFault("bytes beside the JSON of " + shown(envelope.msg_type))
    return EnvelopeWith(**msgspec.structs.asdict(envelope), attached=frame.attached)
