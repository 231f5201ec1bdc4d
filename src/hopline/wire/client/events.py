"""The event envelope: what the server records, as the exact bytes that go into the journal and on the wire.

Every line begins `{"protocol_version":1,"sequence":N,`. An event is at most 1,000,000 bytes; a larger one keeps
prefixes of its payload values and says `truncated` (docs/wire/client.md, "Events" and "Size bound").
"""

from typing import Annotated, Any, Protocol, TypedDict, Unpack

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from hopline.wire.client.diagnostics import Diagnostic
from hopline.wire.client.payload import Payload
from hopline.wire.client.payloads import Known, SubprocessOutput
from hopline.wire.client.texts import plain
from hopline.wire.client.truncation import cut
from hopline.wire.client.types import DIAGNOSED, EVENT_TYPES, PHASES

MAX_SERIALIZED_RUN_EVENT_BYTES = 1_000_000

NULL = Raw(b"null")

EventStatus = Annotated[
    str,
    Meta(
        examples=[
            "active",
            "answered",
            "pending",
            "consumed",
            "delivered",
            "completed",
            "failed",
            "cancelled",
            "interrupted",
        ]
    ),
]


class RunEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded fact. Unknown keys and types pass, so that an older reader follows a newer run."""

    protocol_version: int = 1
    sequence: int = 0
    """From 1, without holes within one store."""
    run_id: str = ""
    timestamp: str
    type: str
    text: str = ""
    diagnostic: Diagnostic | None = None
    status: EventStatus | None = None
    round_label: str | None = None
    agent_kind: str | None = None
    invocation_id: str | None = None
    execution_id: str | None = None
    chat_thread_id: str | None = None
    data: Raw = msgspec.field(default_factory=lambda: NULL)
    """The payload's JSON, `null` for none; `payload_of` reads it."""
    truncated: bool | UnsetType = UNSET
    """Only ever present as true."""
    span_id: str | None = None


class EnvelopeFields(TypedDict, total=False):
    """What the recorder of an event may say besides its payload; see RunEvent."""

    text: str
    status: str | None
    diagnostic: Diagnostic | None
    round_label: str | None
    agent_kind: str | None
    invocation_id: str | None
    execution_id: str | None
    chat_thread_id: str | None
    span_id: str | None


class OutputPiece(Protocol):
    """What `EventEncoder.output` needs of a chunk of worker output (`wire.worker.output.OutputChunk`)."""

    @property
    def stream(self) -> str: ...
    @property
    def offset(self) -> int: ...
    @property
    def content_json(self) -> bytes: ...
    @property
    def raw(self) -> bytes | None: ...


_encoder = msgspec.json.Encoder()
_payloads: msgspec.json.Decoder[Known] = msgspec.json.Decoder(Known)
_output = msgspec.json.Decoder(SubprocessOutput)
_event_lists = msgspec.json.Decoder(list[RunEvent])
_event = msgspec.json.Decoder(RunEvent)


class EventTooLarge(ValueError):
    """An event's envelope alone passes the bound: our own bug."""


class EventRefused(ValueError):
    """An event that this wire does not have, or that lacks what its type must carry: our own bug."""


class EventEncoder:
    """Makes the lines of one run's events; the caller gives sequence and time.

    Args:
        run_id: stamped on every event.
    """

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        nulls = b'"text":"","diagnostic":null,"status":null,"round_label":null,"agent_kind":null,"invocation_id":null'
        rest = b',"execution_id":null,"chat_thread_id":null,"data":{"kind":"subprocess_output","process_id":"worker-'
        self._output_head = b'"run_id":%b,"timestamp":"' % _encoder.encode(run_id)
        self._output_middle = b'","type":"subprocess_output",' + nulls + rest

    def line(
        self,
        sequence: int,
        timestamp: str,
        kind: str,
        *,
        data: Payload | None = None,
        **fields: Unpack[EnvelopeFields],
    ) -> bytes:
        """One event without its newline; past the bound it is cut and says so.

        Raises EventRefused for a type that is not of this wire, another type's payload, and a failure without a
        diagnostic; EventTooLarge.
        """
        _check(kind, data, fields)
        envelope: dict[str, Any] = {
            name: plain(value) if isinstance(value, str) else value for name, value in fields.items()
        }
        if envelope.get("execution_id") is None:
            envelope["execution_id"] = envelope.get("invocation_id")
        if envelope.get("invocation_id") is None:
            envelope["invocation_id"] = envelope["execution_id"]
        text, diagnostic = envelope.pop("text", ""), envelope.pop("diagnostic", None)

        def encoded(text: str, diagnostic: Any, data: Any, truncated: bool | UnsetType) -> bytes:
            return _encoder.encode(
                RunEvent(
                    sequence=sequence,
                    run_id=self._run_id,
                    timestamp=timestamp,
                    type=kind,
                    text=text,
                    diagnostic=diagnostic,
                    data=NULL if data is None else data,
                    truncated=truncated,
                    **envelope,
                )
            )

        try:
            whole = encoded(text, diagnostic, data, UNSET)
        except UnicodeEncodeError:
            whole = encoded(text, diagnostic, cut(data, None), UNSET)
        if len(whole) <= MAX_SERIALIZED_RUN_EVENT_BYTES:
            return whole

        def bounded(limit: int) -> bytes:
            return encoded(cut(text, limit), cut(diagnostic, limit), cut(data, limit), True)

        best = bounded(0)
        if len(best) > MAX_SERIALIZED_RUN_EVENT_BYTES:
            raise EventTooLarge(f"{kind} event {sequence}: its envelope alone has {len(best)} bytes")
        low, high = 0, MAX_SERIALIZED_RUN_EVENT_BYTES
        while low < high:
            middle = (low + high + 1) // 2
            candidate = bounded(middle)
            if len(candidate) <= MAX_SERIALIZED_RUN_EVENT_BYTES:
                best, low = candidate, middle
            else:
                high = middle - 1
        return best

    def output(self, sequence: int, timestamp: bytes, generation: int, piece: OutputPiece) -> bytes:
        """One `subprocess_output` event without its newline, spliced from JSON text that is already escaped.

        The piece must fit the bound; raw output is split by its maker, never truncated here.
        """
        raw = piece.raw
        return b'{"protocol_version":1,"sequence":%d,%b%b%b%d%b%b%b%b%b%d%b},"span_id":null}' % (
            sequence,
            self._output_head,
            timestamp,
            self._output_middle,
            generation,
            b'","process_kind":"worker","stream":"',
            piece.stream.encode(),
            b'","content":"',
            piece.content_json,
            b'","offset":',
            piece.offset,
            b"" if raw is None else b',"raw":"%b"' % raw,
        )


_PREFIX = b'{"protocol_version":1,"sequence":'


def _check(kind: str, data: Payload | None, fields: EnvelopeFields) -> None:
    if kind not in EVENT_TYPES:
        raise EventRefused(f"there is no event type {kind!r}")
    if data is not None and data.__struct_config__.tag != PHASES.get(kind, kind):
        raise EventRefused(f"a {kind} event cannot carry a {data.__struct_config__.tag} payload")
    if kind in DIAGNOSED and fields.get("status") == "failed" and fields.get("diagnostic") is None:
        raise EventRefused(f"a failed {kind} event carries a diagnostic")


def decode_event(line: bytes) -> RunEvent:
    """One event. Raises msgspec.MsgspecError, which is a ValueError; so too for one nested too deep to be read."""
    try:
        return _event.decode(line)
    except RecursionError as error:
        raise msgspec.DecodeError(str(error)) from error


def decode_events(events: Raw | bytes) -> list[RunEvent]:
    """The `events` section of a Response. Raises as `decode_event` does."""
    try:
        return _event_lists.decode(events)
    except RecursionError as error:
        raise msgspec.DecodeError(str(error)) from error


def payload_of(event: RunEvent) -> Payload | None:
    """The typed payload, of any type of this wire; None when there is none or its kind is not known here."""
    if event.data == NULL:
        return None
    try:
        return _payloads.decode(event.data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    from hopline.wire.client.kinds import decode_payload

    return decode_payload(event.data)


def output_of(event: RunEvent) -> SubprocessOutput | None:
    """The payload of a `subprocess_output` event, quickly; None for any other event."""
    if event.type != "subprocess_output" or event.data == NULL:
        return None
    return _output.decode(event.data)


def renumbered(line: bytes, sequence: int) -> bytes:
    """A stored event line with another sequence. Raises ValueError when it does not begin as an event does."""
    old = sequence_of(line)
    return line if old == sequence else b"%b%d%b" % (_PREFIX, sequence, line[len(_PREFIX) + len(str(old)) :])


def sequence_of(line: bytes) -> int:
    """The sequence of a stored event line, from its fixed beginning. Raises ValueError when it has another one."""
    if not line.startswith(_PREFIX):
        raise ValueError(f"{line[:60]!r} does not begin as an event does")
    return int(line[len(_PREFIX) : line.index(b",", len(_PREFIX))])
