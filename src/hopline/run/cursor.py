"""Where one subscription stands in the run's events, and the frames that take it on. No clock, no socket.

Source: docs/wire/client.md, "Bootstrap" and "Live". One committed sequence, read once, is the atomic watermark
that the wire asks for: floor, spine, events and executions are all taken at it.
"""

from collections.abc import Iterator
from typing import Protocol

from hopline.journal.port import EventStore
from hopline.run.batching import Batching, read_canonical
from hopline.wire.client.checkpoint import NO_EXECUTIONS, ExecutionList
from hopline.wire.client.events import sequence_of

Frames = dict[tuple[str, int, int, int], tuple[bytes, int]]
"""Frames made in this flush by (store, cursor, target, floor): with them, the cursor after. Shared by subscribers."""


class Folded(Protocol):
    """What a stream needs of the run's fold (`hopline.run.fold.RunFold`)."""

    def executions_at(self, sequence: int) -> ExecutionList: ...
    def has_executed(self, execution_id: str) -> bool: ...


class Unfolded:
    """A run without agents."""

    def executions_at(self, sequence: int) -> ExecutionList:
        """None at work."""
        return NO_EXECUTIONS

    def has_executed(self, execution_id: str) -> bool:
        """None ever was."""
        return False


class StreamCursor:
    """Makes the frames of one subscription, in order; each is at most 1 MiB.

    Args:
        store: the run's events.
        latest: the watermark: its committed sequence, read once for this and for `subscribed`.
        after: the request's cursor.
        store_id: the store that `after` counts in, "" for the live one.
        tail: the request's bound on replay, None for none.
        fold: tells the executions at a watermark.

    Raises CheckpointTooLarge when the list of executions cannot be sent, and what reading the store raises.
    """

    def __init__(
        self,
        store: EventStore,
        latest: int,
        *,
        after: int,
        store_id: str = "",
        tail: int | None = None,
        fold: Folded | None = None,
    ) -> None:
        self._store = store
        self._fold = fold or Unfolded()
        self._tail = tail
        self.sent = 0
        """The cursor after the frames made so far."""
        self._target: int | None = None
        self._spine: list[bytes] = []
        self._parts: Iterator[bytes] = iter(())
        self._part: bytes | None = None
        self._marked = False
        if store_id and store_id != store.store_id:
            after = 0
        self._bootstrap(after, latest)

    @property
    def inside_batch(self) -> bool:
        """Whether more frames of the batch that was begun are due."""
        return self._target is not None or self._part is not None

    @property
    def behind(self) -> bool:
        """Whether another frame is due."""
        return self.inside_batch or self._swapped() or self._store.committed_sequence > self.sent

    def next_frame(self, shared: Frames | None = None) -> bytes | None:
        """The next frame, or None when the subscription has everything.

        Raises CheckpointTooLarge and what reading the store raises; the cursor has not moved then.
        """
        if self._part is not None:
            part, self._part = self._part, next(self._parts, None)
            return part
        if self._swapped():
            self._rebootstrap(0)
        elif self._target is None:
            latest = self._store.committed_sequence
            if latest <= self.sent:
                return None
            if self._lost() or (self._tail is not None and latest - self.sent > self._tail):
                self._rebootstrap(self.sent)
            else:
                self._begin(self.sent, latest)
        elif self.sent < self._target and self._lost():
            self._rebootstrap(self.sent)
        assert self._target is not None
        return self._next_of_batch(self._target, shared)

    def _next_of_batch(self, target: int, shared: Frames | None) -> bytes:
        if shared is None or self._spine or self._marked:
            frame = self._frame(target)
        else:
            key = (self._store_id, self.sent, target, self._floor)
            if (found := shared.get(key)) is not None:
                frame, self.sent = found
            else:
                frame = self._frame(target)
                shared[key] = frame, self.sent
        if self.sent >= target and not self._spine:
            self._target = None
            self._parts = self._batching.parts(target)
            self._part = next(self._parts, None)
        return frame

    def _lost(self) -> bool:
        """Whether drop-oldest took away what this subscription has not seen."""
        return self._store.first_sequence > self.sent + 1

    def _swapped(self) -> bool:
        """Whether the run has another store than the one whose events were given."""
        return self._store.store_id != self._store_id

    def _rebootstrap(self, after: int) -> None:
        self._bootstrap(after, self._store.committed_sequence)
        self._marked = True

    def _bootstrap(self, after: int, latest: int) -> None:
        store = self._store
        floor = after if self._tail is None else max(after, latest - self._tail)
        dropped = store.first_sequence - 1
        shortened = dropped > floor
        floor = max(floor, dropped)
        partial = self._tail is not None or shortened
        spine = [line + b"\n" for line in store.spine(floor)] if partial and floor > 0 else []
        self._floor = floor if partial else 0
        self._store_id = store.store_id
        self._batching = Batching(store, self._floor, self._fold)
        self._begin(min(floor, latest), latest, spine)

    def _begin(self, after: int, target: int, spine: list[bytes] | None = None) -> None:
        spine = spine or []
        self._batching.plan(after, target, spine)
        self._spine = spine
        self.sent, self._target = after, target

    def _frame(self, target: int) -> bytes:
        room = self._batching.envelope.max_events_bytes
        lines, through = self._take_spine(room)
        if not self._spine:
            left = room - len(lines)
            found, data = read_canonical(self._store, self._fold.has_executed, self.sent, target + 1, max(left, 1))
            if not lines or len(data) <= left:
                lines += data
                through = self.sent = found.last if found.count else target
        marked, self._marked = self._marked, False
        return self._batching.envelope.frame(lines, through, marked)

    def _take_spine(self, room: int) -> tuple[bytes, int]:
        size = count = 0
        for line in self._spine:
            if size + len(line) > room:
                break
            size += len(line)
            count += 1
        taken = self._spine[:count]
        del self._spine[:count]
        return b"".join(taken), sequence_of(taken[-1]) if taken else self.sent
