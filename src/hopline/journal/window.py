"""The newest committed bytes, in memory, for watchers who are nearly up to date; bounded and shared."""

import bisect
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from hopline.journal import lines
from hopline.journal.port import NOTHING, Slice

WINDOW_BYTES = 8 * 1024 * 1024
_MOST_CHUNKS = 8192


@dataclass(frozen=True, slots=True)
class Chunk:
    """Events that are written together."""

    first: int
    last: int
    data: bytes
    """Whole lines."""
    spine: tuple[tuple[int, str], ...] = ()
    """Sequence and kind of the spine lines among them."""


class Window:
    """Chunks in order, without holes. The writer thread adds; any thread reads.

    Args:
        committed: sequence committed before anything was added here.
        max_bytes: how much is kept; the newest chunk always is.
    """

    def __init__(self, committed: int, max_bytes: int = WINDOW_BYTES) -> None:
        self._lock = threading.Lock()
        self._firsts: list[int] = []
        self._chunks: list[Chunk] = []
        self._dropped = 0
        self._size = 0
        self._max_bytes = max_bytes
        self._committed = committed
        self._cached: tuple[tuple[int, int | None, int, int], Slice] | None = None

    @property
    def committed(self) -> int:
        """The newest sequence there is."""
        return self._committed

    def add(self, chunks: Sequence[Chunk]) -> None:
        """Publish chunks that are committed."""
        with self._lock:
            for chunk in chunks:
                self._firsts.append(chunk.first)
                self._chunks.append(chunk)
                self._size += len(chunk.data)
            self._committed = chunks[-1].last
            while len(self._chunks) - self._dropped > 1 and (
                self._size > self._max_bytes or len(self._chunks) - self._dropped > _MOST_CHUNKS
            ):
                self._size -= len(self._chunks[self._dropped].data)
                self._chunks[self._dropped] = _GONE
                self._dropped += 1
            if self._dropped > _MOST_CHUNKS:
                del self._firsts[: self._dropped], self._chunks[: self._dropped]
                self._dropped = 0

    def read(self, after: int, before: int | None, max_bytes: int) -> Slice | None:
        """As EventStore.read, or None when the window does not reach back to `after`."""
        with self._lock:
            committed = self._committed
            stop = committed + 1 if before is None else min(before, committed + 1)
            if after + 1 >= stop:
                return NOTHING
            key = (after, before, max_bytes, committed)
            if self._cached is not None and self._cached[0] == key:
                return self._cached[1]
            place = bisect.bisect_right(self._firsts, after + 1, lo=self._dropped) - 1
            if place < self._dropped:
                return None
            chunks = self._gather(place, max_bytes)
        found = _cut(chunks, after + 1, stop, max_bytes)
        with self._lock:
            self._cached = (key, found)
        return found

    def _gather(self, place: int, max_bytes: int) -> list[Chunk]:
        # One chunk more than the bytes asked for, since the first may be entered near its end.
        size, end = 0, place + 1
        while end < len(self._chunks) and size < max_bytes:
            size += len(self._chunks[end].data)
            end += 1
        return self._chunks[place:end]


_GONE = Chunk(0, 0, b"")


def _cut(chunks: list[Chunk], first: int, stop: int, max_bytes: int) -> Slice:
    """The events first <= sequence < stop of adjoining chunks, at least one, else at most `max_bytes`."""
    parts: list[bytes] = []
    size, last = 0, first - 1
    for chunk in chunks:
        data = chunk.data
        start = 0 if chunk.first > last else lines.seek(data, first)
        end, chunk_last = len(data), chunk.last
        if stop <= chunk_last:
            end, chunk_last = lines.seek(data, stop, start), stop - 1
        if size + end - start > max_bytes:
            end = data.rfind(b"\n", start, start + max_bytes - size) + 1
            if end <= start:
                if parts:
                    break
                end = data.find(b"\n", start) + 1
            begin = data.rfind(b"\n", start, end - 1) + 1
            chunk_last = lines.sequence_at(data, max(begin, start)) or last
        parts.append(data if end - start == len(data) else data[start:end])
        size += end - start
        last = chunk_last
        if last + 1 >= stop or size >= max_bytes or chunk_last < chunk.last:
            break
    return Slice(first, last, last - first + 1, parts[0] if len(parts) == 1 else b"".join(parts))
