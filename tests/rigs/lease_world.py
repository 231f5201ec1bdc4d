"""Requesters with clocks of their own, a network that loses and repeats, and an authority that crashes.

Every step of the real table is held against `lease_model`, and at every moment no two owners may both believe that
they hold overlapping exclusive leases.
"""

import random
from dataclasses import dataclass, field, replace

from lease_model import ModelTable, touching
from lease_tables import START

from hopline.fleet.leases.holding import good_until
from hopline.fleet.leases.records import Claim, Ended, Forgotten, Granted, Outcome, Renewed, Saved, Spent
from hopline.fleet.leases.table import LeaseTable, Moment

VALUES = (
    "src/**",
    "src/a.py",
    "src/a/b",
    "src/ab",
    "./src//a/",
    "docs",
    "docs/*.md",
    "doc",
    "web/x",
    "web",
    "**",
    "../x",
)
WEIGHTS = (4, 9, 9, 9, 6, 9, 6, 4, 9, 4, 0.5, 0.3)
TTLS = (1, 2, 5, 20, 60)
PAUSES = (0.05, 0.2, 0.5, 1, 2, 5, 31)
PAUSE_WEIGHTS = (6, 6, 6, 4, 2, 1, 0.6)
OWNERS = tuple(f"s{session}@peer{peer}-00000000" for peer in range(4) for session in range(2))
STALE_IDS = 150
"""Requests about ids that were made up so many ids ago are lost, so that the slow table may forget them."""


@dataclass
class Disk:
    """What was committed."""

    last_fence: int
    leases: dict = field(default_factory=dict)
    spent: dict = field(default_factory=dict)

    def commit(self, changes):
        for change in changes:
            match change:
                case Granted(lease):
                    assert lease.fence > self.last_fence, "a fence was given that does not grow"
                    self.leases[lease.fence], self.last_fence = lease, lease.fence
                case Renewed(fence, expires_at):
                    self.leases[fence] = replace(self.leases[fence], expires_at=expires_at)
                case Ended(fence, status, ended_at):
                    self.leases[fence] = replace(self.leases[fence], status=status, ended_at=ended_at)
                case Spent():
                    self.spent[change.lease_id, change.owner] = change
                case Forgotten(lease_id, owner, fence, _):
                    del (self.spent if fence is None else self.leases)[(lease_id, owner) if fence is None else fence]

    def saved(self):
        return Saved(tuple(self.leases.values()), tuple(self.spent.values()), self.last_fence)


@dataclass
class Requester:
    """One session; `origin` is where its monotonic clock started, `skew` how wrong its wall clock is."""

    owner: str
    origin: float
    skew: float
    asks: dict = field(default_factory=dict)
    waiting: dict = field(default_factory=dict)
    believed: dict = field(default_factory=dict)
    done: set = field(default_factory=set)


class LeaseWorld:
    """`run` takes steps until something is wrong, which it says with the seed and the step."""

    def __init__(self, seed):
        self.seed = seed
        self.dice = random.Random(seed)
        self.time = 0.0
        self.disk = Disk(START * 1000)
        self.table = LeaseTable(self.disk.saved(), self.dice.randbytes)
        self.model = ModelTable(START * 1000)
        self.requesters = [
            Requester(owner, self.dice.uniform(-9000, 9000), self.dice.uniform(-600, 600)) for owner in OWNERS
        ]
        self.requests, self.answers = [], []
        self.made = 0
        self.counts = dict.fromkeys(Outcome, 0)
        self.restarts = 0

    def run(self, steps):
        actions = (self._ask, self._deliver, self._hear, self._pass_time, self._renew, self._crash)
        for step in range(steps):
            try:
                self.dice.choices(actions, weights=(30, 34, 28, 10, 2, 0.4))[0]()
            except Exception as error:
                error.add_note(f"seed {self.seed}, step {step}")
                raise

    @property
    def moment(self):
        return Moment(round((START + self.time) * 1000), self.time + 77.0)

    def _ask(self):
        """A session wants something new, repeats itself, polls, gives up, or looks."""
        dice, who = self.dice, self.dice.choice(self.requesters)
        what = dice.random()
        recent = list(who.asks)[-6:]
        if what < 0.35 or not recent:
            self.made += 1
            lease_id = f"lease{self.made}"
            mode = "advisory" if dice.random() < 0.15 else "exclusive"
            kind = "branch" if dice.random() < 0.1 else "path_glob"
            value = dice.choices(VALUES, WEIGHTS)[0]
            ask = Claim(lease_id, who.owner, kind, value, mode, dice.choice(TTLS), None, dice.random() < 0.5)
            who.asks[lease_id] = ask
            self._send(who, "claim", ask, None)
        elif what < 0.7:
            ask = who.asks[dice.choice(recent)]
            if who.waiting.get(ask.lease_id) and dice.random() < 0.9:
                self._send(who, "claim", ask, who.waiting[ask.lease_id])
            else:
                odd = dice.random()
                other = replace(ask, value="elsewhere") if odd < 0.05 else ask
                self._send(who, "claim", replace(other, wait=odd > 0.5), ("wt_made_up",) * 2 if odd > 0.97 else None)
        elif what < 0.92:
            lease_id = dice.choice(recent)
            if dice.random() < 0.05:  # somebody else's
                lease_id = f"lease{dice.randint(max(1, self.made - 40), self.made + 1)}"
                if lease_id == f"lease{self.made + 1}":
                    self.made += 1
            who.believed.pop(lease_id, None)
            who.done.add(lease_id)
            self._send(who, "release", lease_id, None)
        else:
            self._send(who, "list", None, None)

    def _send(self, who, verb, what, waiter):
        message = (who, verb, what, waiter, self.time + who.origin, self.made)
        copies = self.dice.choices((0, 1, 2), weights=(6, 88, 6))[0]
        self.requests += [message] * copies
        del self.requests[:-30]

    def _deliver(self):
        """A request that is on its way arrives, in any order."""
        if not self.requests:
            return
        who, verb, what, waiter, asked_at, made = self.requests.pop(self.dice.randrange(len(self.requests)))
        if made < self.made - STALE_IDS:
            return
        self.time += self.dice.random() * 0.05
        at = self.moment
        if self.dice.random() < 0.004:  # the authority dies between deciding and committing
            self._decide(who, verb, what, waiter, at)
            self._restart()
            return
        decision = self._decide(who, verb, what, waiter, at)
        self.disk.commit(self.table.take_changes())
        self._judge(decision, who, verb, what, waiter, at)
        self.counts[decision.outcome] += 1
        pair = None
        if decision.outcome is Outcome.QUEUED:
            model = next(one for one in self.model.waiting if one["id"] == what.lease_id)
            pair = (decision.waiter_id, model["waiter"])
        lease = decision.lease.id if decision.lease is not None else None
        answer = (who, verb, what, decision, pair, asked_at, at.wall_millis, lease)
        self.answers += [answer] * self.dice.choices((0, 1, 2), weights=(8, 86, 6))[0]
        del self.answers[:-30]

    def _decide(self, who, verb, what, waiter, at):
        if verb == "claim":
            return self.table.claim(replace(what, waiter_id=waiter and waiter[0]), at)
        return self.table.release(who.owner, what, at) if verb == "release" else self.table.list(at)

    def _judge(self, decision, who, verb, what, waiter, at):
        wall, now, lease = at.seconds, at.now, decision.lease
        if verb == "claim":
            expected = self.model.claim(replace(what, waiter_id=waiter and waiter[1]), wall, now)
            granted = decision.outcome is Outcome.GRANTED
            found = (
                decision.outcome.value,
                lease.fence if granted else None,
                lease.expires_at if granted else None,
                lease.id if lease is not None and not granted else None,
                decision.ahead,
            )
            assert found == expected, (what, waiter)
        elif verb == "release":
            assert decision.outcome.value == self.model.release(who.owner, what, wall, now), what
        else:
            self.model.sweep(wall, now)
            mine = [(one.id, one.owner, one.fence, one.expires_at, one.mode) for one in decision.leases]
            theirs = [
                (one["id"], one["owner"], one["fence"], one["expires"], one["mode"]) for one in self.model.active()
            ]
            assert sorted(mine) == sorted(theirs)
            self._no_two_hold(decision.leases)

    def _no_two_hold(self, leases):
        held = [one for one in leases if one.mode == "exclusive"]
        for at, one in enumerate(held):
            for other in held[:at]:
                if one.owner != other.owner and one.kind == other.kind:
                    assert not touching(one.kind, one.value, other.value), (one, other)

    def _hear(self):
        """An answer that is on its way is heard, in any order."""
        if not self.answers:
            return
        who, verb, what, decision, pair, asked_at, stamp, _ = self.answers.pop(self.dice.randrange(len(self.answers)))
        if verb == "list":
            for lease in decision.leases:
                if lease.owner == who.owner and lease.id in who.believed:
                    self._believe(who, lease, asked_at, stamp)
        elif verb == "claim" and decision.outcome is Outcome.GRANTED:
            self._believe(who, decision.lease, asked_at, stamp)
        elif verb == "claim" and decision.outcome is Outcome.QUEUED:
            who.waiting[what.lease_id] = pair
        elif verb == "claim" and decision.outcome is Outcome.WAITER_GONE:
            who.waiting.pop(what.lease_id, None)

    def _believe(self, who, lease, asked_at, stamp):
        if lease.mode != "exclusive" or lease.id in who.done:
            return
        until = good_until(asked_at, lease.expires_at, stamp, lease.expires_at * 1000 - stamp) - who.origin
        _, before = who.believed.get(lease.id, (lease, until))
        who.believed[lease.id] = (lease, max(before, until))
        for other in self.requesters:
            if other is who or until <= self.time:
                continue
            for theirs, good in other.believed.values():
                if good > self.time and theirs.kind == lease.kind:
                    assert not touching(lease.kind, lease.value, theirs.value), ("two believe", lease, theirs)

    def _pass_time(self):
        self.time += self.dice.choices(PAUSES, PAUSE_WEIGHTS)[0]
        for who in self.requesters:
            who.believed = {key: pair for key, pair in who.believed.items() if pair[1] > self.time}
            for lease_id in list(who.asks)[:-12]:
                del who.asks[lease_id]
        self.model.forget_ended(3 * STALE_IDS)

    def _renew(self):
        owners = self.dice.sample(OWNERS, 5)
        at = self.moment
        self.table.renew(owners, at)
        self.disk.commit(self.table.take_changes())
        self.model.renew(owners, at.seconds, at.now)

    def _crash(self):
        self._restart()

    def _restart(self):
        self.restarts += 1
        self.table = LeaseTable(self.disk.saved(), self.dice.randbytes)
        self.model.restart()
