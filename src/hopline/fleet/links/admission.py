"""Who may begin a handshake, pure: how many at once, and how often one source may fail (docs/wire/peer.md, "Limits").

A source is an address. On loopback, where all peers share one, failures count against the id that was claimed, so that
one bad neighbour shuts nobody else out; ids that are not paired count as one.
"""

from collections import OrderedDict, deque

from hopline.fleet.links.addresses import is_loopback
from hopline.wire.peer.limits import FAILURE_WINDOW_SECONDS, FAILURES_PER_SOURCE, MAX_HANDSHAKES

MAX_SOURCES = 4096
"""Sources whose failures are remembered; the longest silent one is forgotten first."""

STRANGER = ""
"""Stands for every id that is not paired."""


def bucket(source: str, claimed: str | None) -> str | None:
    """What a failure counts against: None while a loopback connection has claimed no id.

    Args:
        claimed: a paired id, STRANGER, or None before anything was claimed.
    """
    if not is_loopback(source):
        return source
    return None if claimed is None else f"{source} {claimed}"


class Failures:
    """Failed handshakes by bucket: five within 60 s shut it out until 60 s after the first of them."""

    def __init__(self) -> None:
        self._failed: OrderedDict[str, deque[float]] = OrderedDict()

    def count(self, name: str, now: float) -> bool:
        """One more. Returns whether it shuts the bucket out."""
        times = self._recent(name, now)
        times.append(now)
        self._failed[name] = times
        self._failed.move_to_end(name)
        if len(self._failed) > MAX_SOURCES:
            self._failed.popitem(last=False)
        return len(times) == FAILURES_PER_SOURCE

    def locked(self, name: str, now: float) -> bool:
        """Whether it is shut out."""
        return len(self._recent(name, now)) >= FAILURES_PER_SOURCE

    def _recent(self, name: str, now: float) -> deque[float]:
        times = self._failed.get(name)
        if times is None:
            return deque(maxlen=FAILURES_PER_SOURCE)
        if now - times[0] > FAILURE_WINDOW_SECONDS:
            if len(times) == FAILURES_PER_SOURCE:
                times.clear()  # a lock ends as a whole, 60 s after its first failure
            while times and now - times[0] > FAILURE_WINDOW_SECONDS:
                times.popleft()
        if not times:
            del self._failed[name]
        return times


class Handshakes:
    """Inbound handshakes under way, in the order they began."""

    def __init__(self) -> None:
        self._sources: OrderedDict[int, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sources)

    def begin(self, conn: int, source: str) -> int | None:
        """One more. Returns the one that has to make room: the oldest of the source that has most of them."""
        self._sources[conn] = source
        if len(self._sources) <= MAX_HANDSHAKES:
            return None
        counts: dict[str, int] = {}
        for name in self._sources.values():
            counts[name] = counts.get(name, 0) + 1
        most = max(counts.values())
        return next(number for number, name in self._sources.items() if counts[name] == most)

    def end(self, conn: int) -> None:
        """It is over, however."""
        self._sources.pop(conn, None)
