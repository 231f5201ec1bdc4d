"""The hub's log: one readable line an entry, in colour on a terminal, and no more than a disk can bear."""

import logging
import os
import sys

MAX_ENTRIES = 300
"""Entries a minute: whoever can make the hub complain must not be able to fill its disk."""
SECONDS = 60.0

_COLOURS = {logging.DEBUG: "2", logging.WARNING: "33", logging.ERROR: "31"}


class Lines(logging.Formatter):
    """Time and message; what is more than information says so.

    Args:
        brief: the time without the day.
    """

    def __init__(self, *, colour: bool, brief: bool) -> None:
        super().__init__("%(asctime)s %(message)s", "%H:%M:%S" if brief else "%Y-%m-%d %H:%M:%S")
        self._colour = colour

    def format(self, record: logging.LogRecord) -> str:
        """One entry; an error's trace follows it."""
        line = super().format(record)
        code = _COLOURS.get(record.levelno)
        if self._colour and code:
            return f"\x1b[{code}m{line}\x1b[0m"
        if record.levelno >= logging.WARNING:
            return line.replace(record.message, f"{record.levelname.lower()}: {record.message}", 1)
        return line


class Throttle(logging.Filter):
    """Lets MAX_ENTRIES a minute through, and then says with the next one how many were left out."""

    def __init__(self) -> None:
        super().__init__()
        self._began = 0.0
        self._count = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the entry is written."""
        if record.created - self._began >= SECONDS or record.created < self._began:
            if (left_out := self._count - MAX_ENTRIES) > 0:
                record.msg = f"{record.getMessage()} ({left_out} entries before this were left out)"
                record.args = ()
            self._began, self._count = record.created, 0
        self._count += 1
        return self._count <= MAX_ENTRIES


def log_to_stderr(*, colour: bool, brief: bool) -> None:
    """Write what the hub says to fd 2. HOPLINE_HUB_DEBUG makes it say more."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines(colour=colour, brief=brief))
    handler.addFilter(Throttle())
    root = logging.getLogger("hopline")
    root.handlers[:] = [handler]
    root.setLevel(logging.DEBUG if os.environ.get("HOPLINE_HUB_DEBUG") else logging.INFO)
    root.propagate = False
