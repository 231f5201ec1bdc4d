"""A run's journal: append-only JSON Lines of the exact bytes that go on the wire, with an index that can be rebuilt.

docs/journal.md is the format for other readers.
"""

from hopline.journal.journal import Journal
from hopline.journal.port import (
    MAX_EVENT_BYTES,
    NOTHING,
    SPINE_KINDS,
    CloseReport,
    Damage,
    EventStore,
    JournalOptions,
    OpenReport,
    Slice,
)
from hopline.journal.view import JournalView

__all__ = [
    "MAX_EVENT_BYTES",
    "NOTHING",
    "SPINE_KINDS",
    "CloseReport",
    "Damage",
    "EventStore",
    "Journal",
    "JournalOptions",
    "JournalView",
    "OpenReport",
    "Slice",
]
