"""A network of machines in simulated time: TCP with delays, pieces, lost segments, resets, partitions and dead ends.

Nothing here waits: time is a number that jumps from one event to the next. All chance comes from one seed.
"""

import heapq
import itertools
import random
import zlib
from collections.abc import Callable
from typing import Protocol

CONNECT_SECONDS = 10.0
"""When a dial into nothing is given up."""


class Host(Protocol):
    """What is plugged in."""

    name: str
    up: bool

    def accepted(self, end: "End") -> None: ...

    def received(self, end: "End", data: bytes) -> None: ...

    def ended(self, end: "End") -> None: ...

    def reset(self, end: "End", reason: str) -> None: ...


class End:
    """One end of a connection."""

    def __init__(self, number: int, host: Host) -> None:
        self.number = number
        self.host = host
        self.open = True
        self.other: End = self
        self.due = 0.0
        """When the last thing that was sent to it arrives; nothing overtakes."""


class Network:
    """Time, the events in it, and the cables.

    Args:
        seed: where every chance comes from.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = 0.0
        self.slow = 0.0
        """Seconds added to every delay."""
        self.trace = 0
        """A digest of everything that arrived, to compare two plays of one seed."""
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._counter = itertools.count()
        self._numbers = itertools.count(1)
        self._cut: set[frozenset[str]] = set()
        self._held: list[tuple[frozenset[str], Callable[[], None]]] = []
        self.ends: list[End] = []

    def at(self, seconds: float, event: Callable[[], None]) -> None:
        """Let `event` happen so many seconds from now."""
        heapq.heappush(self._events, (self.now + seconds, next(self._counter), event))

    def run(self, until: float, after_each: Callable[[], None]) -> None:
        """Play every event up to that time."""
        while self._events and self._events[0][0] <= until:
            self.now, _, event = heapq.heappop(self._events)
            event()
            after_each()
        self.now = until

    # Cables.

    def is_cut(self, one: Host, other: Host) -> bool:
        return frozenset((one.name, other.name)) in self._cut

    def cut(self, one: Host, other: Host) -> None:
        """From now on nothing passes between these two, and nobody is told."""
        self._cut.add(frozenset((one.name, other.name)))

    def heal(self, one: Host, other: Host) -> None:
        """What was sent meanwhile is sent again, as TCP does."""
        pair = frozenset((one.name, other.name))
        self._cut.discard(pair)
        waiting = [event for cable, event in self._held if cable == pair]
        self._held = [each for each in self._held if each[0] != pair]
        for event in waiting:
            event()

    # Connections.

    def dial(self, caller: Host, host: Host, made: Callable[[End], None], failed: Callable[[str], None]) -> None:
        """Connect; one of the two is called later."""

        def arrive() -> None:
            if self.is_cut(caller, host) or not host.up:
                reachable = host.up is False and not self.is_cut(caller, host)
                wait = self.delay() if reachable and self.random.random() < 0.5 else CONNECT_SECONDS
                self.at(wait, lambda: failed("connection refused" if wait < CONNECT_SECONDS else "timed out"))
                return
            near, far = End(next(self._numbers), caller), End(next(self._numbers), host)
            near.other, far.other = far, near
            self.ends += [near, far]
            near.due = self.now + self.delay()
            self.at(near.due - self.now, lambda: made(near) if near.open else None)
            far.due = self.now
            host.accepted(far)

        self.at(self.delay(), arrive)

    def send(self, end: End, data: bytes) -> None:
        """Bytes from `end` to the other one, in as many pieces as chance wants."""
        if not end.open:
            return
        while data:
            size = len(data) if self.random.random() < 0.7 else self.random.randint(1, len(data))
            piece, data = data[:size], data[size:]
            self._carry(end, lambda piece=piece: self._deliver(end, piece))  # type: ignore[misc]  # bound now

    def shut(self, end: End, *, abort: bool) -> None:
        """Close: what was sent still arrives, then the end of the stream; `abort` drops all of it."""
        if not end.open:
            return
        end.open = False
        if abort:
            # One segment that nobody sends again.
            self.at(self.delay(), lambda: None if self._lost(end) else self._reset(end.other, "reset by the peer"))
        else:
            self._carry(end, lambda: self._finish(end.other))

    def break_off(self, end: End) -> None:
        """Something in between forgets the connection: both ends hear of it, each in its own time."""
        for each in (end, end.other):
            self.at(self.delay() * 3, lambda each=each: self._reset(each, "broken off"))  # type: ignore[misc]  # bound now

    def vanish(self, host: Host, *, silently: bool) -> None:
        """Every connection of a host that dies goes; `silently`: as when its power fails."""
        for end in [end for end in self.ends if end.host is host and end.open]:
            if silently:
                end.open = False
            else:
                self.shut(end, abort=True)
        self._prune()

    def delay(self) -> float:
        """Of one segment; now and then it is lost and sent again."""
        lost = self.random.choice((0.2, 0.4, 0.8, 3.0)) if self.random.random() < 0.03 else 0.0
        return self.random.uniform(0.001, 0.05) + lost + self.slow * self.random.random()

    def _lost(self, end: End) -> bool:
        return self.is_cut(end.host, end.other.host)

    def _carry(self, end: End, event: Callable[[], None]) -> None:
        """In order to the other end; while the cable is cut it waits."""
        other = end.other
        other.due = max(other.due + 1e-6, self.now + self.delay())

        def arrive() -> None:
            if self._lost(end):
                self._held.append((frozenset((end.host.name, other.host.name)), lambda: self._carry(end, event)))
            else:
                event()

        self.at(other.due - self.now, arrive)

    def _deliver(self, end: End, piece: bytes) -> None:
        other = end.other
        if other.open and other.host.up:
            self.trace = zlib.crc32(piece, zlib.crc32(f"{self.now:.6f} {other.number}".encode(), self.trace))
            other.host.received(other, piece)
        elif end.open:
            self.at(self.delay(), lambda: self._reset(end, "reset: nobody is there"))

    def _finish(self, other: End) -> None:
        if other.open:
            other.host.ended(other)

    def _reset(self, end: End, reason: str) -> None:
        if end.open:
            end.open = False
            end.host.reset(end, reason)

    def _prune(self) -> None:
        self.ends = [end for end in self.ends if end.open or end.other.open]
