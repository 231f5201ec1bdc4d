"""The one thread that writes: takes all that is queued, commits it together, then publishes it."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from hopline.journal.backlog import Backlog
from hopline.journal.bound import Bound
from hopline.journal.catalogue import Catalogue
from hopline.journal.ledger import Ledger
from hopline.journal.listeners import Listeners
from hopline.journal.log import SegmentLog, split
from hopline.journal.space import Space
from hopline.journal.window import Chunk, Window

_RETRY_SECONDS = 0.25
_IDLE_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Parts:
    """What a writer works with."""

    backlog: Backlog
    catalogue: Catalogue
    log: SegmentLog
    ledger: Ledger
    window: Window
    space: Space
    bound: Bound
    segment_bytes: int
    pausing_bytes: int | None
    listeners: Listeners


class Writer:
    """Runs in its own thread until closed. Other threads read its attributes; only it sets them.

    Args:
        parts: what it works with; it is the only user of log, ledger and space.
        size_bytes: what the segments hold already.
    """

    def __init__(self, parts: Parts, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        """What all segments hold."""
        self.committed_bytes = 0
        """What was committed since the start."""
        self.failure: str | None = None
        """Why nothing can be committed just now."""
        self._parts = parts
        self._give_up_at = float("inf")
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="journal-writer", daemon=True)
        self.reason = self._why_not()
        """Why the caller is to take no more output; None when it may."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self, timeout: float) -> bool:
        """Write what is queued and end within `timeout` seconds; whether the thread has ended."""
        self._give_up_at = time.monotonic() + timeout
        self._stopping.set()
        self._parts.backlog.close()
        self._thread.join(timeout + 2 * _RETRY_SECONDS)
        return not self._thread.is_alive()

    def _run(self) -> None:
        parts = self._parts
        try:
            if self.reason is not None:
                parts.listeners.state(self.reason)
            while (chunks := parts.backlog.take(self._patience())) is not None:
                if not chunks:
                    parts.space.look()
                    parts.ledger.flush_when_behind()
                elif not self._write(chunks):
                    break
                parts.ledger.flush_when_due()
                self._say()
            parts.ledger.close()
        except BaseException as error:
            # Nothing is committed any more, so the owner is to stop taking output; close() says what is missing.
            self.failure = f"its writer ended: {error!r}"
            self._say()
            raise
        finally:
            parts.log.close()

    def _patience(self) -> float | None:
        """How long to wait for events before looking at the volume and the index; None for as long as it takes."""
        return None if self.reason is None and self._parts.ledger.current else _IDLE_SECONDS

    def _write(self, chunks: list[Chunk]) -> bool:
        """Commit and publish every chunk, however long the volume has no room; False when closing gave up on it."""
        while chunks:
            group = self._group(chunks)
            try:
                self._turn_when_due(group)
                coming = sum(len(chunk.data) for chunk in group)
                for gone in self._parts.bound.make_room(lambda: self.size_bytes, coming):
                    self.size_bytes -= gone
                done = self._parts.log.append(group)
            except OSError as error:
                self.failure = error.strerror or str(error)
                self._say()
                if not self._wait():
                    return False
                continue
            written, rest = split(group, done)
            self._publish(written, done)
            chunks = [*rest, *chunks[len(group) :]]
        self.failure = None
        return True

    def _group(self, chunks: Sequence[Chunk]) -> Sequence[Chunk]:
        """The first chunks, as many as go into one segment."""
        size = self._parts.log.segment.size
        count = 0
        for chunk in chunks:
            size += len(chunk.data)
            if count and size > self._parts.segment_bytes:
                break
            count += 1
        return chunks[:count]

    def _turn_when_due(self, group: Sequence[Chunk]) -> None:
        log = self._parts.log
        if log.segment.size and log.segment.size + len(group[0].data) > self._parts.segment_bytes:
            segment = log.turn(group[0].first)
            self._parts.catalogue.add(segment)
            self._parts.ledger.turned(segment.first)

    def _publish(self, chunks: Sequence[Chunk], size: int) -> None:
        parts = self._parts
        for chunk in chunks:
            parts.ledger.wrote(chunk)
        parts.log.segment.size += size
        self.size_bytes += size
        self.committed_bytes += size
        parts.window.add(chunks)
        parts.space.wrote(size)
        parts.listeners.committed()

    def _wait(self) -> bool:
        """Wait before trying again; False when closing has given up."""
        left = self._give_up_at - time.monotonic()
        if left <= 0:
            return False
        if self._stopping.is_set():
            time.sleep(min(_RETRY_SECONDS, left))
        else:
            self._stopping.wait(_RETRY_SECONDS)
        return True

    def _say(self) -> None:
        reason = self._why_not()
        if reason != self.reason:
            self.reason = reason
            self._parts.listeners.state(reason)

    def _why_not(self) -> str | None:
        if self.failure is not None:
            return f"the journal cannot be written ({self.failure}); it goes on when there is room"
        bound = self._parts.pausing_bytes
        if bound is not None and self.size_bytes >= bound:
            return "the journal has reached its bound (--max-journal)"
        if self._parts.space.low:
            return f"less than the reserve of {self._parts.space.reserve_bytes} bytes is free on the journal's volume"
        return None
