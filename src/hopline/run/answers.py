"""Turns one request into its one Response, on a live run and on one that only serves its record.

A new request type is one more case here (docs/wire/client.md, "Requests").
"""

from typing import Any, Protocol

from msgspec import Raw

from hopline.clock import rfc3339
from hopline.errors import HoplineError, Refused
from hopline.ids import new_store_id
from hopline.journal.port import EventStore
from hopline.run.commits import Commits
from hopline.run.fold import RunFold
from hopline.wire.client.requests import (
    CommandInput,
    CommandInterrupt,
    CommandRestart,
    CommandStop,
    QueryEvents,
    QuerySnapshot,
)
from hopline.wire.client.responses import Ack, Code, Diagnostic, Response, diagnosed, encode_response, failed
from hopline.wire.client.session import Received, Rejected

MAX_RESPONSE_EVENTS_BYTES = 4 << 20
"""How many bytes of events one Response holds; the client asks again after the last one it got."""


class Controls(Protocol):
    """What commands need of a live run. Each raises Refused when it is not possible now."""

    def stop(self, grace_seconds: float | None) -> Ack: ...
    async def interrupt(self) -> Ack: ...
    async def input(self, data: bytes, close: bool) -> Ack: ...
    def restart(self, grace_seconds: float | None) -> Ack: ...


class Answers:
    """Answers the requests of every connection.

    Args:
        store: the run's events.
        fold: their snapshot.
        commits: tells of new events; None when there will be none.
        controls: the live run; None refuses every command with `run_read_only`.
    """

    def __init__(self, store: EventStore, fold: RunFold, commits: Commits | None, controls: Controls | None) -> None:
        self._store = store
        self._fold = fold
        self._commits = commits
        self._controls = controls

    def reject(self, rejected: Rejected) -> bytes:
        """The Response to what was no request."""
        return encode_response(failed(rejected.request_id, rejected.client_id, rfc3339(), rejected.diagnostic))

    async def answer(self, received: Received) -> bytes:
        """The Response to a request other than subscribe; it may wait as long as the request says."""
        try:
            sections = await self._sections(received)
        except (HoplineError, OSError) as error:
            return encode_response(failed(received.request_id, received.client_id, rfc3339(), _told(error)))
        return encode_response(
            Response(request_id=received.request_id, client_id=received.client_id, timestamp=rfc3339(), **sections)
        )

    async def _sections(self, received: Received) -> dict[str, Any]:
        match received.request:
            case QuerySnapshot():
                return {"snapshot": self._fold.snapshot(self._store.committed_sequence)}
            case QueryEvents() as query:
                return {"events": await self._events(query)}
            case CommandStop(grace_ms=grace):
                return {"ack": self._live().stop(None if grace is None else grace / 1000)}
            case CommandInterrupt():
                return {"ack": await self._live().interrupt()}
            case CommandInput() as command:
                return {"ack": await self._live().input(command.data(), command.close)}
            case CommandRestart(grace_ms=grace):
                return {"ack": self._live().restart(None if grace is None else grace / 1000)}
            case _:
                raise Refused("subscribe has no Response", code=Code.OPERATION_FAILED)

    def _live(self) -> Controls:
        if self._controls is None:
            raise Refused("The run has ended; only its record is served.", code=Code.RUN_READ_ONLY)
        return self._controls

    async def _events(self, query: QueryEvents) -> Raw:
        after, before = query.after_sequence, query.before_sequence
        open_ended = before is None or before > after + 1
        if query.timeout_ms and open_ended and self._commits is not None:
            await self._commits.past(after, query.timeout_ms / 1000)
        parts: list[bytes] = []
        room = MAX_RESPONSE_EVENTS_BYTES
        while room > 0:
            found = self._store.read(after, before=before, max_bytes=min(room, 1 << 20))
            if not found.count or (parts and len(found.data) > room):
                break
            parts.append(found.data)
            room -= len(found.data)
            after = found.last
        return Raw(b"[%b]" % b"".join(parts)[:-1].replace(b"\n", b","))


def _told(error: HoplineError | OSError) -> Diagnostic:
    code = error.code if isinstance(error, Refused) else Code.OPERATION_FAILED
    if isinstance(error, OSError):
        return diagnosed(new_store_id(), code, "Request failed", detail=str(error), scope="run")
    retryability = "never" if code in (Code.RUN_READ_ONLY, Code.WORKER_ENDED, Code.INPUT_CLOSED) else "unknown"
    return diagnosed(new_store_id(), code, str(error), scope="run", retryability=retryability)
