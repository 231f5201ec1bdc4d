"""Random bytes of the system for ids and nonces, drawn many at a time: asking it for each message costs as much as
compressing one."""

import os

DRAWN_BYTES = 4096


class SystemEntropy:
    """Gives each byte that the system drew once. For one thread of one process."""

    def __init__(self) -> None:
        self._drawn = b""
        self._at = 0

    def __call__(self, count: int) -> bytes:
        """So many bytes, at most DRAWN_BYTES, as good as `os.urandom`."""
        end = self._at + count
        if end > len(self._drawn):
            self._drawn, self._at, end = os.urandom(DRAWN_BYTES), 0, count
        found = self._drawn[self._at : end]
        self._at = end
        return found
