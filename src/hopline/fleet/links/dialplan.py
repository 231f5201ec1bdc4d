"""Which peer to dial next, where and when, pure: at once, then after 5, 10, 20, 40 and every 60 s."""

from collections.abc import Callable
from dataclasses import dataclass

FIRST_WAIT_SECONDS = 5.0
MAX_WAIT_SECONDS = 60.0
LOST_SECONDS = 1.0
"""How long after it was lost a link that we had dialled is dialled again."""
LOST_INBOUND_SECONDS = 3.0
"""The same for one that the peer had dialled: it is given the first try."""
MAX_DIALS = 8
"""Dials under way at once."""


@dataclass(slots=True)
class Course:
    """Where one peer's dialling stands."""

    next_at: float
    failed_rounds: int = 0
    addresses: tuple[str, ...] = ()
    """Still to be tried in this round."""
    dial: int | None = None
    """Under way."""
    address: str = ""
    """Of the dial that is under way."""
    problem: str = ""
    """Why the last one failed."""


class DialPlan:
    """The courses of every peer without a link.

    Args:
        addresses: the known ones of a peer, the most promising first.
    """

    def __init__(self, addresses: Callable[[str], list[str]]) -> None:
        self._addresses = addresses
        self._courses: dict[str, Course] = {}
        self._by_dial: dict[int, str] = {}
        self._last_dial = 0

    def course(self, peer: str) -> Course | None:
        """Where the dialling of that peer stands; None while it is linked or not paired."""
        return self._courses.get(peer)

    def set_peers(self, peers: frozenset[str], linked: frozenset[str], now: float) -> None:
        """Plan for these: new ones are dialled at once, others are forgotten."""
        for peer in self._courses.keys() - peers:
            self.drop(peer)
        for peer in sorted(peers - linked - self._courses.keys()):
            self._courses[peer] = Course(now)

    def due(self, now: float, room: int = MAX_DIALS) -> list[tuple[int, str, str]]:
        """Dials to begin: (dial, peer, address). Each must be answered by `failed` or `linked`.

        Args:
            room: how many links more there may be.
        """
        found = []
        for peer, course in self._courses.items():
            if course.dial is not None or now < course.next_at or len(self._by_dial) >= min(room, MAX_DIALS):
                continue
            if not course.addresses:
                course.addresses = tuple(self._addresses(peer))
                if not course.addresses:
                    course.next_at = now + FIRST_WAIT_SECONDS  # one may be learnt meanwhile
                    continue
            course.address, *rest = course.addresses
            course.addresses = tuple(rest)
            self._last_dial += 1
            course.dial = self._last_dial
            self._by_dial[course.dial] = peer
            found.append((course.dial, peer, course.address))
        return found

    def peer_of(self, dial: int) -> str | None:
        """Whom a dial is for; None when that is no longer wanted."""
        return self._by_dial.get(dial)

    def failed(self, dial: int, problem: str, now: float, *, hopeless: bool = False) -> None:
        """A dial came to nothing: the next address at once, or the next round after a wait.

        Args:
            hopeless: the peer itself refused: no other address of it will do better, and asking often would make it
                shut us out.
        """
        peer = self._by_dial.pop(dial, None)
        if peer is None:
            return
        course = self._courses[peer]
        course.dial = None
        course.problem = problem
        if course.addresses and not hopeless:
            course.next_at = now
            return
        course.addresses = ()
        wait = MAX_WAIT_SECONDS if hopeless else FIRST_WAIT_SECONDS * 2**course.failed_rounds
        course.failed_rounds = min(course.failed_rounds + 1, 8)
        course.next_at = now + min(wait, MAX_WAIT_SECONDS)

    def linked(self, peer: str) -> None:
        """It has a link: nothing to dial. A dial that is under way is no longer ours to answer."""
        self.drop(peer)

    def lost(self, peer: str, now: float, *, dialled: bool, problem: str) -> None:
        """Its link ended."""
        self._courses[peer] = Course(now + (LOST_SECONDS if dialled else LOST_INBOUND_SECONDS), problem=problem)

    def hurry(self, peer: str, now: float) -> None:
        """Something new is known of it: try again now."""
        course = self._courses.get(peer)
        if course is not None and course.dial is None:
            course.next_at, course.addresses = now, ()

    def drop(self, peer: str) -> None:
        """Dial it no more."""
        course = self._courses.pop(peer, None)
        if course is not None and course.dial is not None:
            self._by_dial.pop(course.dial, None)
