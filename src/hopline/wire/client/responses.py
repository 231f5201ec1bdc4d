"""The one Response a request gets, and the diagnostic that explains a refusal or a failure.

Complete models: absent optionals are null, defaults are present, compact JSON, raw UTF-8
(docs/wire/client.md, "Responses"). Sections that this server does not fill yet are carried as raw JSON, so that a
client of ours reads a newer server.
"""

import re
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Raw

MAX_RESPONSE_BYTES = 64 << 20
"""What a client accepts of one Response; Responses are never split (reference 3.1)."""

NULL = Raw(b"null")
_NO_EVENTS = Raw(b"[]")


class Code(StrEnum):
    """Why a request was refused or a stream ended."""

    INVALID_VALUE = "invalid_value"
    PERMISSION_DENIED = "permission_denied"
    NOT_FOUND = "not_found"
    TIMEOUT = "timeout"
    OPERATION_FAILED = "operation_failed"
    RUN_READ_ONLY = "run_read_only"
    REQUEST_TOO_LARGE = "request_too_large"
    STREAM_FAILED = "stream_failed"
    INTERRUPTED = "interrupted"
    INPUT_CLOSED = "input_closed"
    """Beyond the seed: the worker's stdin takes nothing more."""
    WORKER_ENDED = "worker_ended"
    """Beyond the seed: there is no worker to act on; the run is ending or has ended."""
    WORKER_FAILED = "worker_failed"
    """Beyond the seed, of run_failed: the worker exited with another status than 0, or a signal ended it."""
    WORKER_LOST = "worker_lost"
    """Beyond the seed, of run_failed: the worker could not be started, or its relay left without its outcome."""
    TOO_MANY_CONNECTIONS = "too_many_connections"
    """Beyond the seed: the server holds as many connections as it takes."""


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong, for a person and for a program."""

    id: str
    """Random hex; names this one occurrence."""
    code: str
    summary: str
    """One sentence."""
    detail: str | None = None
    hint: str | None = None
    """The next step."""
    scope: str = "request"
    """configuration, invocation, phase, run, request, protocol or transport."""
    severity: str = "error"
    """warning, error or fatal."""
    retryability: str = "unknown"
    """automatic, manual, never or unknown."""
    cause_id: str | None = None
    debug_ref: str | None = None
    source: str | None = None
    validation_paths: list[list[str | int]] | None = None
    """Where in the request the refused values are."""


class Ack(msgspec.Struct, frozen=True):
    """What became of a command when its Response was written."""

    action: str
    """stop; beyond the seed: interrupt, input, restart."""
    status: str
    """pending or consumed; beyond the seed: delivered (interrupt), accepted (input)."""


class RunSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The fold of the events up to `sequence`."""

    protocol_version: int = 1
    run_id: str
    sequence: int
    status: str
    agent_kind: str | None = None
    round_label: str | None = None
    active_executions: list[Raw] = []
    chat_threads: list[Raw] = []
    spans: list[Raw] = []
    overview: Raw = NULL


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """Exactly one a request, correlated by `request_id`; it has no `type`."""

    protocol_version: int = 1
    request_id: str
    client_id: str = ""
    timestamp: str
    ok: bool = True
    error: str | None = None
    """Equals `diagnostic.summary` on failure."""
    diagnostic: Diagnostic | None = None
    ack: Ack | None = None
    chat: Raw = NULL
    chat_thread: Raw = NULL
    chat_options: Raw = NULL
    tui_defaults: Raw = NULL
    snapshot: RunSnapshot | None = None
    events: Raw = _NO_EVENTS
    """The JSON list of RunEvents as stored; `events.decode_events` reads it."""
    performance: list[Raw] = []
    performance_context: Raw = NULL
    experiments: list[Raw] = []
    experiment_update: Raw = NULL
    experiments_ready: bool | None = None
    design: list[Raw] = []
    design_ready: bool | None = None
    design_patch: Raw = NULL
    iterations: Raw = NULL


class ResponseRefused(ValueError):
    """The server sent a line that is no Response of this wire."""


_encoder = msgspec.json.Encoder()
_responses = msgspec.json.Decoder(Response)


def encode_response(response: Response) -> bytes:
    """The Response as one frame, without the Unix newline."""
    return _encoder.encode(response)


def decode_response(line: bytes) -> Response:
    """A server's Response; unknown keys pass. Raises ResponseRefused."""
    try:
        response = _responses.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ResponseRefused(f"not a Response of protocol version 1: {error}") from error
    if response.protocol_version != 1:
        raise ResponseRefused(f"the server speaks protocol version {response.protocol_version}, this client 1")
    return response


def failed(request_id: str, client_id: str, timestamp: str, diagnostic: Diagnostic) -> Response:
    """The failed Response: every section at its default."""
    return Response(
        request_id=request_id,
        client_id=client_id,
        timestamp=timestamp,
        ok=False,
        error=diagnostic.summary,
        diagnostic=diagnostic,
    )


def diagnosed(diagnostic_id: str, code: str, summary: str, **fields: Any) -> Diagnostic:
    """A diagnostic whose summary, detail and hint carry no secret and no lone surrogate."""
    for name in ("detail", "hint"):
        if fields.get(name) is not None:
            fields[name] = redact(fields[name])
    return Diagnostic(id=diagnostic_id, code=code, summary=redact(summary), **fields)


_SECRET = re.compile(
    r"""(?ix)
    ( \b [\w-]* (?: key | token | password | passwd | secret ) [\w-]* ["']? \s* [=:] \s* ["']? | \b bearer \s+ )
    [^\s"',;&}\])]+ """
)


def redact(text: str) -> str:
    """`text` with the values after names such as KEY, TOKEN, PASSWORD or SECRET, and bearer tokens, replaced."""
    return _SECRET.sub(r"\1[REDACTED]", plain(text))


def plain(text: str) -> str:
    """`text` with each lone surrogate as U+FFFD, so that it can go on the wire."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


_PATH = re.compile(r"- at `\$(.*)`\Z", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")


def validation_paths(message: str) -> list[list[str | int]] | None:
    """Where a refused value is, from the decoder's message: [["tail"]]; None when it names no place."""
    found = _PATH.search(message)
    if found is None:
        unknown = re.search(r"unknown field `(.+)`\Z", message, re.DOTALL)
        return [[unknown[1]]] if unknown else None
    return [[name or int(index) for name, index in _STEP.findall(found[1])]]
