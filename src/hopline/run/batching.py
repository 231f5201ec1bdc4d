"""How a batch is put into frames: with its list of executions in each, or with the list in parts after the last.

Source: docs/wire/client.md, "Deferred checkpoints" (frontend reference 7.5).
"""

from collections.abc import Callable, Iterator
from typing import Protocol

from hopline.journal.port import MAX_EVENT_BYTES, EventStore, Slice
from hopline.wire.client.canonical import canonical
from hopline.wire.client.checkpoint import NO_EXECUTIONS, ExecutionList
from hopline.wire.client.streams import BatchEnvelope

SCAN_BYTES = 8 << 20
"""How much of a batch is looked through for an event too large to share a frame with the list; of more, it is assumed
to hold one."""

_READ_BYTES = 1 << 20


class Listing(Protocol):
    """Tells the active executions at a watermark."""

    def executions_at(self, sequence: int) -> ExecutionList: ...


class Batching:
    """The envelope of one stream's batches since its last bootstrap.

    Args:
        store: the run's events.
        floor: `history_after_sequence`.
        fold: tells the executions.
    """

    def __init__(self, store: EventStore, floor: int, fold: Listing) -> None:
        self._store = store
        self._store_id = store.store_id
        self._floor = floor
        self._fold = fold
        self._executions = NO_EXECUTIONS
        self._deferred = False
        self.envelope = BatchEnvelope(self._store_id, floor)

    def plan(self, after: int, target: int, spine: list[bytes]) -> None:
        """Decide for the batch of `spine` and the events after `after` up to `target`.

        Raises CheckpointTooLarge when its list cannot be sent; then nothing of the batch may be.
        """
        executions = self._fold.executions_at(target)
        if executions is self._executions and not self._deferred and self._always_fits():
            return
        envelope = BatchEnvelope(self._store_id, self._floor, executions)
        room = envelope.max_events_bytes
        deferred = room <= MAX_EVENT_BYTES and self._needs(room, after, target, spine)
        if deferred:
            envelope = BatchEnvelope(self._store_id, self._floor, executions, deferred=True)
        self._executions, self._deferred, self.envelope = executions, deferred, envelope

    def parts(self, target: int) -> Iterator[bytes]:
        """The frames that follow the last frame of the batch."""
        return self._executions.frames(target, self._store_id, self._floor) if self._deferred else iter(())

    def _always_fits(self) -> bool:
        return self.envelope.max_events_bytes > MAX_EVENT_BYTES

    def _needs(self, room: int, after: int, target: int, spine: list[bytes]) -> bool:
        """Whether one event does not fit beside the list, or the list not even alone."""
        if room < 1 or any(len(line) > room for line in spine):
            return True
        scanned = 0
        while after < target:
            found = self._store.read(after, before=target + 1, max_bytes=_READ_BYTES)
            scanned += len(found.data)
            if scanned > SCAN_BYTES or any(len(line) > room for line in found.data.splitlines(keepends=True)):
                return True
            if not found.count:
                break
            after = found.last
        return False


def read_canonical(
    store: EventStore, executed: Callable[[str], bool], after: int, before: int, room: int
) -> tuple[Slice, bytes]:
    """What was read and what readers get of it, at most `room` bytes when that is more than one event."""
    limit = room
    while True:
        found = store.read(after, before=before, max_bytes=limit)
        data = canonical(found.data, executed)
        if len(data) <= room or found.count <= 1:
            return found, data
        limit = min(limit, len(found.data)) // 2
