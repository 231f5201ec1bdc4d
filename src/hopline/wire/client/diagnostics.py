"""What explains a refusal or a failure: its code for programs, its sentence for people."""

import re
from enum import StrEnum
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from hopline.wire.client.texts import redact


class Code(StrEnum):
    """Why a request was refused or a stream ended."""

    INVALID_VALUE = "invalid_value"
    PERMISSION_DENIED = "permission_denied"
    NOT_FOUND = "not_found"
    TIMEOUT = "timeout"
    OPERATION_FAILED = "operation_failed"
    RUN_READ_ONLY = "run_read_only"
    REQUEST_TOO_LARGE = "request_too_large"
    INVALID_REQUEST = "invalid_request"
    """Fields that exclude one another."""
    CAPACITY_WAIT_UNAVAILABLE = "capacity_wait_unavailable"
    """The run is not paused on a capacity limit."""
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
    NO_TERMINAL = "no_terminal"
    """Beyond the seed: a size for a worker that has no pseudo-terminal."""
    TOO_MANY_CONNECTIONS = "too_many_connections"
    """Beyond the seed: the server holds as many connections as it takes."""


Scope = Annotated[
    str, Meta(examples=["configuration", "invocation", "phase", "run", "request", "protocol", "transport"])
]
Severity = Annotated[str, Meta(examples=["warning", "error", "fatal"])]
Retryability = Annotated[str, Meta(examples=["automatic", "manual", "never", "unknown"])]


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong, for a person and for a program."""

    id: str
    """Random hex; names this one occurrence."""
    code: Annotated[str, Meta(examples=[str(code) for code in Code])]
    summary: str
    """One sentence."""
    detail: str | None = None
    hint: str | None = None
    """The next step."""
    scope: Scope = "request"
    severity: Severity = "error"
    retryability: Retryability = "unknown"
    cause_id: str | None = None
    debug_ref: str | None = None
    source: str | None = None
    validation_paths: list[list[str | int]] | None = None
    """Where in the request the refused values are."""


def diagnosed(diagnostic_id: str, code: str, summary: str, **fields: Any) -> Diagnostic:
    """A diagnostic whose summary, detail and hint carry no secret and no lone surrogate."""
    for name in ("detail", "hint"):
        if fields.get(name) is not None:
            fields[name] = redact(fields[name])
    return Diagnostic(id=diagnostic_id, code=code, summary=redact(summary), **fields)


_PATH = re.compile(r"- at `\$(.*)`\Z", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")


def validation_paths(message: str) -> list[list[str | int]] | None:
    """Where a refused value is, from the decoder's message: [["tail"]]; None when it names no place."""
    found = _PATH.search(message)
    if found is None:
        unknown = re.search(r"unknown field `(.+)`\Z", message, re.DOTALL)
        return [[unknown[1]]] if unknown else None
    return [[name or int(index) for name, index in _STEP.findall(found[1])]]
