"""Keeps a journal within `max_bytes` by letting whole oldest segments go, their spine lines kept."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

from hopline.journal.catalogue import Catalogue
from hopline.journal.ledger import Ledger
from hopline.journal.listeners import Listeners
from hopline.journal.port import JournalOptions

_PARTS = 8
"""A bounded journal has at least about this many segments, so that little more goes than must."""

_MARGIN_BYTES = 1 << 20

_log = logging.getLogger(__name__)


def bounded_segment_bytes(options: JournalOptions) -> int:
    """How long a segment may become under these options."""
    if options.max_bytes and options.when_full == "drop-oldest":
        return max(min(options.segment_bytes, options.max_bytes // _PARTS), 1)
    return options.segment_bytes


def pausing_bytes(options: JournalOptions) -> int | None:
    """The size at which no more output is taken, with a margin for the lifecycle events to come; None for no bound."""
    if options.max_bytes and options.when_full == "pause":
        return options.max_bytes - min(_MARGIN_BYTES, options.max_bytes // _PARTS)
    return None


class Bound:
    """Drops oldest segments. Used by the writer thread.

    Args:
        folder: the journal's.
        catalogue: the segments.
        ledger: what is known of them.
        options: whose `max_bytes` is kept when `when_full` is drop-oldest.
        listeners: told of each segment that went.
    """

    def __init__(
        self,
        folder: Path,
        catalogue: Catalogue,
        ledger: Ledger,
        options: JournalOptions,
        listeners: Listeners,
    ) -> None:
        self._folder = folder
        self._catalogue = catalogue
        self._ledger = ledger
        self._max_bytes = options.max_bytes if options.when_full == "drop-oldest" else 0
        self._durable = options.durability == "full"
        self._listeners = listeners

    def make_room(self, size: Callable[[], int], coming: int) -> Iterator[int]:
        """Drop segments until `coming` more bytes fit beside `size()`; the bytes of each. The newest always stays.

        The caller takes what is yielded off what `size` returns. Raises OSError when the spine lines of a segment
        cannot be saved; that segment is still there then.
        """
        while self._max_bytes and len(self._catalogue.segments) > 1:
            if size() + self._ledger.spine.saved_bytes + coming <= self._max_bytes:
                return
            yield self._drop_oldest()

    def _drop_oldest(self) -> int:
        oldest, following = self._catalogue.segments[:2]
        saved = self._ledger.spine.save(oldest.first, durable=self._durable)
        size = self._catalogue.size(oldest)
        self._catalogue.drop_oldest()
        self._ledger.dropped(oldest.first, saved)
        try:
            oldest.path.unlink(missing_ok=True)
        except OSError as error:
            _log.error("%s should go and does not: %s", oldest.path, error)
        _log.info(
            "dropped events %d to %d (%d bytes) to stay within %d bytes",
            oldest.first,
            following.first - 1,
            size,
            self._max_bytes,
        )
        self._listeners.dropped(oldest.first, following.first - 1, size)
        return size
