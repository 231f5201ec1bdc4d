"""What is assigned but not yet taken by the writer thread: lines put by one thread, taken in chunks by another."""

import threading
from collections import deque

from hopline.journal.port import SPINE_KINDS
from hopline.journal.window import Chunk

CHUNK_BYTES = 1 << 20
_MOST_TAKEN = 8


class Backlog:
    """A queue of events that joins them into chunks. `put` never waits."""

    def __init__(self, chunk_bytes: int = CHUNK_BYTES) -> None:
        self._ready = threading.Condition(threading.Lock())
        self._chunk_bytes = chunk_bytes
        self._full: deque[tuple[int, list[bytes], list[tuple[int, str]]]] = deque()
        self._first = 0
        self._lines: list[bytes] = []
        self._spine: list[tuple[int, str]] = []
        self._size = 0
        self._waiting = False
        self._closed = False

    def put(self, sequence: int, line: bytes, kind: str) -> None:
        """Queue one event, without its newline, behind all others."""
        with self._ready:
            if not self._lines:
                self._first = sequence
            elif self._size + len(line) > self._chunk_bytes:
                self._turn()
                self._first = sequence
            self._lines.append(line)
            self._size += len(line) + 1
            if kind in SPINE_KINDS:
                self._spine.append((sequence, kind))
            if self._waiting:
                self._waiting = False
                self._ready.notify()

    def take(self, timeout: float | None = None) -> list[Chunk] | None:
        """Everything queued, at most 8 chunks; empty after `timeout` seconds; None once closed and empty."""
        with self._ready:
            if not self._lines and not self._full:
                if self._closed:
                    return None
                self._waiting = True
                self._ready.wait(timeout)
                self._waiting = False
            if self._lines and len(self._full) < _MOST_TAKEN:
                self._turn()
            taken = [self._full.popleft() for _ in range(min(len(self._full), _MOST_TAKEN))]
        # The empty line at the end gives the last event its newline; joined once, then never copied.
        return [
            Chunk(first, first + len(lines) - 1, b"\n".join((*lines, b"")), tuple(spine))
            for first, lines, spine in taken
        ]

    def close(self) -> None:
        """No more will come; wakes the writer."""
        with self._ready:
            self._closed = True
            self._ready.notify()

    def _turn(self) -> None:
        self._full.append((self._first, self._lines, self._spine))
        self._lines, self._spine, self._size = [], [], 0
