"""Where one subscription stands in the run's events, and the frames that take it on. No clock, no socket.

Source: docs/wire/client.md, "Bootstrap" and "Live". One committed sequence, read once, is the atomic watermark
that the wire asks for: floor, spine and events are all taken at it.
"""

from hopline.journal.port import EventStore
from hopline.wire.client.events import sequence_of
from hopline.wire.client.streams import BatchEnvelope

Frames = dict[tuple[int, int, int], tuple[bytes, int]]
"""Frames made in this flush by (cursor, target, floor): with them, the cursor after. Shared by all subscribers."""


class StreamCursor:
    """Makes the frames of one subscription, in order; each is at most 1 MiB.

    Args:
        store: the run's events.
        latest: the watermark: its committed sequence, read once for this and for `subscribed`.
        after: the request's cursor.
        store_id: the store that `after` counts in, "" for the live one.
        tail: the request's bound on replay, None for none.
    """

    def __init__(
        self, store: EventStore, latest: int, *, after: int, store_id: str = "", tail: int | None = None
    ) -> None:
        self._store = store
        self._tail = tail
        self.sent = 0
        """The cursor after the frames made so far."""
        self._target: int | None = None
        self._spine: list[bytes] = []
        self._marked = False
        if store_id and store_id != store.store_id:
            after = 0
        self._bootstrap(after, latest)

    @property
    def inside_batch(self) -> bool:
        """Whether more frames of the batch that was begun are due."""
        return self._target is not None

    @property
    def behind(self) -> bool:
        """Whether another frame is due."""
        return self._target is not None or self._store.committed_sequence > self.sent

    def next_frame(self, shared: Frames | None = None) -> bytes | None:
        """The next frame, or None when the subscription has everything. Raises what reading the store raises."""
        if self._target is None:
            latest = self._store.committed_sequence
            if latest <= self.sent:
                return None
            if self._lost() or (self._tail is not None and latest - self.sent > self._tail):
                self._rebootstrap()
            else:
                self._target = latest
        elif self.sent < self._target and self._lost():
            self._rebootstrap()
        assert self._target is not None
        if shared is None or self._spine or self._marked:
            return self._frame(self._target)
        key = (self.sent, self._target, self._floor)
        if (found := shared.get(key)) is not None:
            frame, self.sent = found
            if self.sent >= self._target:
                self._target = None
            return frame
        frame = self._frame(self._target)
        shared[key] = frame, self.sent
        return frame

    def _lost(self) -> bool:
        """Whether drop-oldest took away what this subscription has not seen."""
        return self._store.first_sequence > self.sent + 1

    def _rebootstrap(self) -> None:
        self._bootstrap(self.sent, self._store.committed_sequence)
        self._marked = True

    def _bootstrap(self, after: int, latest: int) -> None:
        store = self._store
        floor = after if self._tail is None else max(after, latest - self._tail)
        dropped = store.first_sequence - 1
        shortened = dropped > floor
        floor = max(floor, dropped)
        partial = self._tail is not None or shortened
        self._spine = [line + b"\n" for line in store.spine(floor)] if partial and floor > 0 else []
        self._floor = floor if partial else 0
        self._envelope = BatchEnvelope(store.store_id, self._floor)
        self._target = latest
        self.sent = min(floor, latest)

    def _frame(self, target: int) -> bytes:
        room = self._envelope.max_events_bytes
        lines, through = self._take_spine(room)
        if not self._spine:
            found = self._store.read(self.sent, before=target + 1, max_bytes=max(room - len(lines), 1))
            if not lines or len(lines) + len(found.data) <= room:
                lines += found.data
                through = self.sent = found.last if found.count else target
                if self.sent >= target:
                    self.sent = through = target
                    self._target = None
        marked, self._marked = self._marked, False
        return self._envelope.frame(lines, through, marked)

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
