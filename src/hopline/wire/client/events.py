"""The event envelope: what the server records, as the exact bytes that go into the journal and on the wire.

Every line begins `{"protocol_version":1,"sequence":N,`. An event is at most 1,000,000 bytes; a larger one keeps
prefixes of its payload values and says `truncated` (docs/wire/client.md, "Events" and "Size bound").
"""

from typing import Any, Protocol

import msgspec
from msgspec import UNSET, Raw, UnsetType

from hopline.wire.client.payloads import Known, Payload, SubprocessOutput
from hopline.wire.client.responses import NULL, Diagnostic, plain

MAX_SERIALIZED_RUN_EVENT_BYTES = 1_000_000


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
    status: str | None = None
    """active, answered, pending, consumed, delivered, completed, failed, cancelled or interrupted."""
    round_label: str | None = None
    agent_kind: str | None = None
    invocation_id: str | None = None
    execution_id: str | None = None
    chat_thread_id: str | None = None
    data: Raw = NULL
    """The payload's JSON, `null` for none; `payload_of` reads it."""
    truncated: bool | UnsetType = UNSET
    """Only ever present as true."""
    span_id: str | None = None


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
        text: str = "",
        status: str | None = None,
        diagnostic: Diagnostic | None = None,
        data: Payload | None = None,
    ) -> bytes:
        """One event without its newline; past the bound it is cut and says so. Raises EventTooLarge."""

        def encoded(text: str, diagnostic: Any, data: Any, truncated: bool | UnsetType) -> bytes:
            return _encoder.encode(
                RunEvent(
                    sequence=sequence,
                    run_id=self._run_id,
                    timestamp=timestamp,
                    type=kind,
                    text=text,
                    diagnostic=diagnostic,
                    status=status,
                    data=NULL if data is None else data,
                    truncated=truncated,
                )
            )

        text = plain(text)
        try:
            whole = encoded(text, diagnostic, data, UNSET)
        except UnicodeEncodeError:
            clean = _cut(msgspec.to_builtins(data), None, frozenset())
            whole = encoded(text, diagnostic, clean, UNSET)
        if len(whole) <= MAX_SERIALIZED_RUN_EVENT_BYTES:
            return whole
        exact = _EXACT_DIAGNOSTIC | (data.exact if data is not None else frozenset())
        parts = (text, msgspec.to_builtins(diagnostic), msgspec.to_builtins(data))

        def bounded(limit: int) -> bytes:
            cut_text, cut_diagnostic, cut_data = (_cut(part, limit, exact) for part in parts)
            return encoded(cut_text, cut_diagnostic, cut_data, True)

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
_EXACT_DIAGNOSTIC = frozenset({"kind", "id", "code", "scope", "severity", "retryability"})


def _cut(value: Any, limit: int | None, exact: frozenset[str]) -> Any:
    """`value` with every text and list cut to its first `limit` code points or entries; None cuts nothing."""
    match value:
        case str():
            return plain(value)[:limit]
        case list():
            return [_cut(entry, limit, exact) for entry in value[:limit]]
        case dict():
            return {name: entry if name in exact else _cut(entry, limit, exact) for name, entry in value.items()}
        case _:
            return value


def decode_event(line: bytes) -> RunEvent:
    """One event. Raises msgspec.MsgspecError, which is a ValueError."""
    return _event.decode(line)


def decode_events(events: Raw | bytes) -> list[RunEvent]:
    """The `events` section of a Response. Raises msgspec.MsgspecError."""
    return _event_lists.decode(events)


def payload_of(event: RunEvent) -> Known | None:
    """The typed payload; None when there is none or its kind is not known here."""
    if event.data == NULL:
        return None
    try:
        return _payloads.decode(event.data)
    except (msgspec.MsgspecError, ValueError):
        return None


def output_of(event: RunEvent) -> SubprocessOutput | None:
    """The payload of a `subprocess_output` event, quickly; None for any other event."""
    if event.type != "subprocess_output" or event.data == NULL:
        return None
    return _output.decode(event.data)


def sequence_of(line: bytes) -> int:
    """The sequence of a stored event line, from its fixed beginning. Raises ValueError when it has another one."""
    if not line.startswith(_PREFIX):
        raise ValueError(f"{line[:60]!r} does not begin as an event does")
    return int(line[len(_PREFIX) : line.index(b",", len(_PREFIX))])
