"""Leases in the simulation: the real table with a disk of the test's, and requesters that follow the reference's rules.

A requester believes in a lease up to a moment of its own monotonic clock. No two believers may ever overlap.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sim_hub import HEARTBEAT_SECONDS, SimHub, Violation

from hopline.fleet.leases import rules as lease_rules
from hopline.fleet.leases.answers import error, spelled
from hopline.fleet.leases.holding import good_until
from hopline.fleet.leases.records import Change, Ended, Forgotten, Granted, Lease, Renewed, Saved, Spent, owner_of
from hopline.fleet.leases.rules import Unsound, check_claim, check_list, check_release
from hopline.fleet.leases.table import LeaseTable, Moment
from hopline.wire.peer.leases import LeaseClaim, LeaseRelease, LeaseResult

RESOURCES = ("src/**", "src/a.py", "src/app/**", "lib/**", "lib/x/y.py", "docs", "web/**", "api/one.py", "api/two.py")
FILES = ("src/a.py", "src/app/b.py", "src/c.py", "lib/x/y.py", "lib/z", "docs", "web/w", "api/one.py", "api/two.py")
"""What is guarded by fences, each by itself."""
RENEW_SECONDS = 5.0
SESSION_AGE_SECONDS = 3 * HEARTBEAT_SECONDS
ANSWER_SECONDS = 12.0


def covers(one: str, other: str) -> bool:
    """Whether two of RESOURCES overlap, by the plain reading of what they say."""
    a, b = one.removesuffix("**"), other.removesuffix("**")
    return a == b or (one != a and b.startswith(a)) or (other != b and a.startswith(b))


class Disk:
    """What is durable of a table: rows that changes are applied to."""

    def __init__(self, first_fence: int) -> None:
        self.leases: dict[int, Lease] = {}
        self.spent: dict[tuple[str, str], Spent] = {}
        self.last_fence = first_fence

    def write(self, changes: list[Change]) -> None:
        """One transaction."""
        for change in changes:
            match change:
                case Granted(lease):
                    if lease.fence <= self.last_fence:
                        raise Violation(f"fence {lease.fence} after {self.last_fence}")
                    self.leases[lease.fence] = lease
                    self.last_fence = lease.fence
                case Renewed(fence, expires_at):
                    self.leases[fence] = replace(self.leases[fence], expires_at=expires_at)
                case Ended(fence, status, ended_at):
                    self.leases[fence] = replace(self.leases[fence], status=status, ended_at=ended_at)
                case Spent():
                    self.spent[change.lease_id, change.owner] = change
                case Forgotten():
                    self.spent.pop((change.lease_id, change.owner), None)
                    self.leases.pop(change.fence or -1, None)

    def saved(self) -> Saved:
        return Saved(tuple(self.leases.values()), tuple(self.spent.values()), self.last_fence)


class Authority:
    """The desk of one hub: reads requests, decides, writes, and only then answers."""

    def __init__(self, hub: SimHub) -> None:
        self.hub = hub
        self.disk = Disk(int(hub.wall_millis))
        self.table = self._open()
        hub.answers = self.answer
        self._life = -1

    def _open(self) -> LeaseTable:
        return LeaseTable(self.disk.saved(), self.hub.network.random.randbytes)

    def _moment(self) -> Moment:
        return Moment(self.hub.wall_millis, self.hub.now)

    def restarted(self) -> None:
        """The hub is up again: what was not written is gone, and renewals go on."""
        self.table = self._open()
        life = self.hub.life

        def renew() -> None:
            if self.hub.up and self.hub.life == life:
                self._renew()
                self.hub.network.at(RENEW_SECONDS, renew)

        self.hub.network.at(RENEW_SECONDS, renew)

    def _renew(self) -> None:
        owners = []
        for peer in [*self.hub.keys.shared, self.hub.name]:
            told = self.hub.core.neighbours.of(peer).sessions
            if told is not None and self.hub.now - told.received_at <= SESSION_AGE_SECONDS:
                owners += [owner_of(name, peer) for name in sorted(told.session_ids)]
        self.table.renew(owners, self._moment())
        self.disk.write(self.table.take_changes())

    def answer(self, peer: str, frame: Any, payload: Any) -> tuple[str, Any, float] | None:
        """The result of a request, and how long the disk takes. A crash meanwhile: written or not, but not answered."""
        if frame.msg_type not in lease_rules.REQUESTS:
            return None
        result = self._decide(lease_rules.read(frame.msg_type, frame.payload), peer)
        self.disk.write(self.table.take_changes())
        return "lease_result", result, self.hub.network.random.uniform(0.0005, 0.02)

    def _decide(self, asked: Any, peer: str) -> LeaseResult:
        at = self._moment()
        if isinstance(asked, Unsound):
            return error(asked.request_id, asked.message)
        match asked:
            case LeaseClaim():
                checked = check_claim(asked, peer)
                decide: Callable[[Any], Any] = lambda sound: self.table.claim(sound, at)  # noqa: E731  # one of three
            case LeaseRelease():
                checked = check_release(asked, peer)
                decide = lambda sound: self.table.release(sound.owner, sound.lease_id, at)  # noqa: E731  # one of three
            case _:
                checked = check_list(asked)
                decide = lambda sound: self.table.list(at)  # noqa: E731  # one of three
        if isinstance(checked, Unsound):
            return error(checked.request_id, checked.message)
        return spelled(asked.request_id, decide(checked), at)


@dataclass
class Belief:
    """What a session takes for its own."""

    owner: str
    value: str
    fence: int
    until: float
    """True time of the simulation."""


class Beliefs:
    """Everybody's, and the promise about them."""

    def __init__(self) -> None:
        self.held: dict[str, Belief] = {}
        self.granted = 0
        self.renewed = 0
        self._highest: dict[str, int] = {}
        """The highest fence that each resource has seen."""

    def believe(self, lease_id: str, belief: Belief, now: float) -> None:
        """Somebody was granted a lease, or learnt that it lasts longer. Raises Violation."""
        if belief.until <= now:
            self.held.pop(lease_id, None)
            return
        for other_id, other in self.held.items():
            others = other_id != lease_id and other.until > now and other.owner != belief.owner
            if others and covers(other.value, belief.value):
                raise Violation(f"{belief} and {other} both hold at {now:.3f}")
        if (known := self.held.get(lease_id)) is not None:
            if known.fence != belief.fence:
                raise Violation(f"{lease_id} had fence {known.fence} and has {belief.fence}")
            self.renewed += 1
        else:
            self.granted += 1
            self._write(belief)
        self.held[lease_id] = belief

    def _write(self, belief: Belief) -> None:
        """A guarded resource takes no lower fence than it has seen: a holder that is safe is never refused."""
        for file in FILES:
            if covers(file, belief.value):
                if belief.fence < self._highest.get(file, 0):
                    raise Violation(f"{belief} would be refused by {file}, which has seen {self._highest[file]}")
                self._highest[file] = belief.fence

    def drop(self, lease_id: str) -> None:
        """It is given back, or its holder is gone."""
        self.held.pop(lease_id, None)


class Requester:
    """One session that wants leases over and over: claims, waits, holds, watches its renewals, releases."""

    def __init__(self, hub: SimHub, authority: SimHub, session: str, beliefs: Beliefs) -> None:
        self.hub, self.authority, self.session, self.beliefs = hub, authority, session, beliefs
        self._lease_id = ""
        self._wish: dict[str, Any] = {}
        self._numbers = 0
        self._until = 0.0
        """When it gives up waiting."""

    def start(self) -> None:
        """Its machine is up, with a new session."""
        self._later(self._random.uniform(0.1, 10), self._want)

    def crashed(self) -> None:
        """Whatever it held it has forgotten."""
        self.beliefs.drop(self._lease_id)

    @property
    def _random(self) -> Any:
        return self.hub.network.random

    def _later(self, seconds: float, step: Callable[[], None]) -> None:
        life = self.hub.life
        self.hub.network.at(seconds, lambda: step() if self.hub.up and self.hub.life == life else None)

    def _ask(
        self, msg_type: str, payload: dict[str, Any], then: Callable[[LeaseResult | None, int, float], None]
    ) -> None:
        self._numbers += 1
        body = {"request_id": f"{self.session}-{self.hub.life}-{self._numbers}", **payload}
        asked_at = self.hub.network.now

        def done(answer: Any) -> None:
            result, envelope = answer if answer is not None else (None, None)
            if isinstance(result, LeaseResult) and result.request_id == body["request_id"]:
                then(result, envelope.timestamp, asked_at)
            else:
                then(None, 0, asked_at)

        self.hub.ask(self.authority, msg_type, body, done, ANSWER_SECONDS)

    def _want(self) -> None:
        self._numbers += 1
        self._lease_id = f"L-{self.hub.name}-{self.session}-{self.hub.life}-{self._numbers}"
        mode = "exclusive" if self._random.random() < 0.9 else "advisory"
        self._wish = {
            "lease_id": self._lease_id,
            "session": self.session,
            "kind": "path_glob",
            "value": self._random.choice(RESOURCES),
            "mode": mode,
            "ttl_secs": self._random.choice((15, 30, 60)),
            "wait": self._random.random() < 0.6,
        }
        self._until = self.hub.network.now + self._random.uniform(5, 60)
        self._claim({}, 0)

    def _claim(self, place: dict[str, Any], tries: int) -> None:
        def answered(result: LeaseResult | None, stamp: int, asked_at: float) -> None:
            if result is None:
                if tries < 3:
                    self._later(2.0**tries, lambda: self._claim(place, tries + 1))
                else:
                    self._release(best_effort=True)
            elif result.outcome == "granted":
                self._granted(result, stamp, asked_at)
            elif result.outcome == "queued" and self.hub.network.now < self._until:
                self._later(result.poll_secs or 2, lambda: self._claim({"waiter_id": result.waiter_id}, 0))
            elif result.outcome == "waiter_gone":
                self._later(0.1, lambda: self._claim({}, 0))
            elif result.outcome == "error":
                raise Violation(f"{self._wish} was answered {result}")
            else:
                self._release(best_effort=result.outcome == "queued")

        self._ask("lease_claim", self._wish | place, answered)

    def _granted(self, result: LeaseResult, stamp: int, asked_at: float) -> None:
        if self._wish["mode"] == "exclusive":
            self._believe(result.lease, stamp, asked_at)
        self._later(self._random.choice((1, 5, 25, 60, 150)), self._release)
        self._later(RENEW_SECONDS, lambda: self._watch(self._lease_id))

    def _believe(self, lease: Any, stamp: int, asked_at: float) -> None:
        ends = int(_seconds(lease.expires_at))
        until = good_until(asked_at, ends, stamp, None)
        owner = owner_of(self.session, self.hub.name)
        if lease.owner_session_id != owner:
            raise Violation(f"{owner} was given {lease}")
        self.beliefs.believe(lease.id, Belief(owner, lease.resource_value, lease.fence, until), self.hub.network.now)

    def _watch(self, lease_id: str) -> None:
        if lease_id != self._lease_id or lease_id not in self.beliefs.held:
            return

        def answered(result: LeaseResult | None, stamp: int, asked_at: float) -> None:
            if lease_id == self._lease_id and lease_id in self.beliefs.held:
                mine = [one for one in (result.leases if result else None) or [] if one.id == lease_id]
                if mine:
                    self._believe(mine[0], stamp, asked_at)
                self._later(RENEW_SECONDS, lambda: self._watch(lease_id))

        self._ask("lease_list", {}, answered)

    def _release(self, *, best_effort: bool = False, tries: int = 0) -> None:
        self.beliefs.drop(self._lease_id)
        lease_id = self._lease_id

        def answered(result: LeaseResult | None, stamp: int, asked_at: float) -> None:
            if result is None and not best_effort and tries < 3:
                self._later(2.0**tries, lambda: self._release(tries=tries + 1) if lease_id == self._lease_id else None)
            else:
                self._later(self._random.uniform(0.1, 8), self._want)

        self._ask("lease_release", {"lease_id": lease_id, "session": self.session}, answered)


def _seconds(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp()
