"""Messages that came already, pure: one window for all peers, the oldest id leaves first."""

from collections import deque

from hopline.wire.peer.limits import DEDUP_IDS


class Seen:
    """Remembers (peer, id): what one peer sent cannot make another's message vanish."""

    def __init__(self) -> None:
        self._ids: set[tuple[str, str]] = set()
        self._order: deque[tuple[str, str]] = deque()

    def again(self, peer: str, message_id: str) -> bool:
        """Whether it came already; from now on it has."""
        key = (peer, message_id)
        if key in self._ids:
            return True
        self._ids.add(key)
        self._order.append(key)
        if len(self._order) > DEDUP_IDS:
            self._ids.discard(self._order.popleft())
        return False
