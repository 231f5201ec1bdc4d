"""Tells the journal's owner, from the writer thread, what happened to its events."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Listeners:
    """The owner's call-backs. An owner whose loop is closed already (RuntimeError) is past caring."""

    on_commit: Callable[[], None]
    on_state: Callable[[str | None], None]
    on_dropped: Callable[[int, int, int], None]

    def committed(self) -> None:
        """There are more events to read."""
        _tell(self.on_commit)

    def state(self, reason: str | None) -> None:
        """Output is to be held back for this reason, or may go on."""
        _tell(self.on_state, reason)

    def dropped(self, first: int, last: int, size: int) -> None:
        """These events, and so many bytes, are gone for good."""
        _tell(self.on_dropped, first, last, size)


def _tell(listener: Callable[..., None], *arguments: object) -> None:
    try:
        listener(*arguments)
    except RuntimeError:
        _log.debug("nobody listens any more", exc_info=True)
