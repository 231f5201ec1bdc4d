"""Events for Responses: one page, one event, or all of them, as readers get them."""

import asyncio

from msgspec import Raw

from hopline.errors import Refused
from hopline.journal.port import EventStore
from hopline.run.commits import Commits
from hopline.run.fold import RunFold
from hopline.wire.client.canonical import canonical
from hopline.wire.client.diagnostics import Code
from hopline.wire.client.queries import QueryEvents
from hopline.wire.client.responses import MAX_RESPONSE_BYTES, NO_EVENTS

MAX_RESPONSE_EVENTS_BYTES = 4 << 20
"""How many bytes of events a page holds; the client asks again after the last one it got."""

MAX_HISTORY_BYTES = MAX_RESPONSE_BYTES - (1 << 20)
"""How many a whole history may have: what fits the Response that a client takes."""

READ_BYTES = 1 << 20
COMMIT_SECONDS = 5.0
"""How long an answer waits for its own event to be in the journal; a journal without room may take longer."""


class History:
    """Reads a run's events for its answers.

    Args:
        store: where they are.
        fold: knows which legacy events are doubles.
        commits: tells of new events; None when there will be none.
    """

    def __init__(self, store: EventStore, fold: RunFold, commits: Commits | None) -> None:
        self._store = store
        self._fold = fold
        self._commits = commits

    async def page(self, query: QueryEvents) -> Raw:
        """What `query` asks for, oldest first, as much as one page holds; it may wait for the first."""
        after, before = query.after_sequence, query.before_sequence
        open_ended = before is None or before > after + 1
        if query.timeout_ms and open_ended and self._commits is not None:
            await self._commits.past(after, query.timeout_ms / 1000)
        parts: list[bytes] = []
        room = MAX_RESPONSE_EVENTS_BYTES
        while room > 0:
            found = self._store.read(after, before=before, max_bytes=min(room, READ_BYTES))
            if not found.count or (parts and len(found.data) > room):
                break
            if data := self._canonical(found.data):
                parts.append(data)
                room -= len(data)
            after = found.last
        return _listed(parts)

    async def one(self, sequence: int) -> Raw:
        """The event that was just recorded, once it is committed; none when the journal has no room for it yet."""
        if self._commits is None or not await self._commits.past(sequence - 1, COMMIT_SECONDS):
            return NO_EVENTS
        return _listed([self._store.read(sequence - 1, before=sequence + 1).data])

    async def whole(self) -> Raw:
        """Every event. Raises Refused when one Response cannot hold them."""
        if self._store.size_bytes > MAX_HISTORY_BYTES:
            raise Refused(
                f"The history has {self._store.size_bytes} bytes and a Response holds {MAX_HISTORY_BYTES}; "
                "read it in pages with query.events.",
                code=Code.OPERATION_FAILED,
            )
        parts: list[bytes] = []
        after, end = self._store.first_sequence - 1, self._store.committed_sequence + 1
        while (found := self._store.read(after, before=end, max_bytes=READ_BYTES)).count:
            parts.append(self._canonical(found.data))
            after = found.last
            await asyncio.sleep(0)
        return _listed(parts)

    def _canonical(self, lines: bytes) -> bytes:
        self._fold.executions_at(self._store.committed_sequence)  # or it may not have seen the executions yet
        return canonical(lines, self._fold.has_executed)


def _listed(parts: list[bytes]) -> Raw:
    return Raw(b"[%b]" % b"".join(parts)[:-1].replace(b"\n", b","))
