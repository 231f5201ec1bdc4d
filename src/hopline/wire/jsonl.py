"""Reassembles lines from byte chunks. The newline is a delimiter, never part of a line."""


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
        if b"\n" not in data:
            lines: list[bytes | None] = []
            self._hold(data, lines)
            return lines
        head, *rest = data.split(b"\n")
        lines = []
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
