"""Connections that are no WebSocket yet: bounded, and when one too many comes the oldest makes room.

An honest client needs milliseconds here, so whoever holds thousands of connections open only ends its own (WG-ROOM).
"""

from collections.abc import Callable, Hashable


class WaitingRoom:
    """Holds connections in the order they came.

    Args:
        places: how many may wait.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._waiting: dict[Hashable, Callable[[], None]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def enter(self, connection: Hashable, abort: Callable[[], None]) -> None:
        """`connection` has come; `abort` ends it. The oldest is ended when there is no place left."""
        self._waiting[connection] = abort
        while len(self._waiting) > self._places:
            oldest = next(iter(self._waiting))
            self._waiting.pop(oldest)()

    def leave(self, connection: Hashable) -> None:
        """`connection` has become a WebSocket, or is gone. Safe to call at any time."""
        self._waiting.pop(connection, None)
