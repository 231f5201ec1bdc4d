"""Five hubs and what befalls them, all out of one seed: `SimFleet(seed).play()` does exactly the same again."""

import itertools
from collections.abc import Callable

from sim_hub import HEARTBEAT_SECONDS, SimHub, Violation
from sim_leases import Authority, Beliefs, Requester
from sim_network import End, Network

from hopline.fleet.links.channels import DEAD_INTERVALS, Role

HUBS = 5
STORM_SECONDS = 300.0
CALM_SECONDS = 120.0
"""Longer than any back-off and than the dead rule."""
MAX_SKEW_SECONDS = 600.0


class SimFleet:
    """The whole play."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.network = Network(seed)
        self._random = self.network.random
        self.hubs = [SimHub(self.network, number, self._skew()) for number in range(HUBS)]
        self._pair()
        self.beliefs = Beliefs()
        self.authority = Authority(self.hubs[0])
        sessions = [(hub, name) for hub in self.hubs[1:] for name in ("s1", "s2")]
        self.requesters = [Requester(hub, self.hubs[0], name, self.beliefs) for hub, name in sessions]
        self.faults: dict[str, int] = {}

    def _skew(self) -> float:
        return self._random.uniform(-MAX_SKEW_SECONDS, MAX_SKEW_SECONDS)

    def _pair(self) -> None:
        for one, other in itertools.combinations(self.hubs, 2):
            one.keys.shared[other.name] = other.keys.shared[one.name] = self._random.randbytes(32)
        for hub in self.hubs:
            for other in self.hubs:
                hub.others[f"{other.address}:9847"] = other
                if other is not hub:
                    hub.keys.places[other.name] = [f"{other.address}:9847"]

    def meet(self, seconds: float) -> None:
        """Everybody is started at once, dials everybody, and nothing goes wrong."""
        self.requesters = []
        for hub in self.hubs:
            hub.start(first_tick=1.0)
        self.network.run(seconds, self._each_step)
        self._settled()

    def play(self) -> None:
        """The storm, then the calm. Raises Violation with the seed."""
        try:
            for hub in self.hubs:
                hub.repeats = 0.1
                hub.session_ids = ("s1", "s2")
                self._up(hub)
            self.network.at(5, self._fault)
            self.network.at(1, self._chatter)
            self.network.run(STORM_SECONDS, self._each_step)
            self._calm()
            self.network.run(STORM_SECONDS + CALM_SECONDS, self._each_step)
            self._settled()
        except Violation as broken:
            raise Violation(f"{broken}; play it again: SimFleet({self.seed}).play()") from broken

    def _up(self, hub: SimHub) -> None:
        if hub.up:
            return
        hub.start()
        if hub is self.hubs[0]:
            self.authority.restarted()
        for requester in self.requesters:
            if requester.hub is hub:
                requester.start()

    def _down(self, hub: SimHub, *, silently: bool) -> None:
        if hub.up:
            hub.crash(silently=silently)
            for requester in self.requesters:
                if requester.hub is hub:
                    requester.crashed()

    def _chatter(self) -> None:
        for hub in self.hubs:
            if hub.up:
                hub.tell(self._random.choice([other for other in self.hubs if other is not hub]))
        self.network.at(self._random.uniform(0.1, 1.5), self._chatter)

    # Faults.

    def _fault(self) -> None:
        if self.network.now >= STORM_SECONDS:
            return
        name, fault = self._random.choice(list(self._faults().items()))
        self.faults[name] = self.faults.get(name, 0) + 1
        fault()
        self.network.at(self._random.expovariate(1 / 6), self._fault)

    def _faults(self) -> dict[str, Callable[[], None]]:
        return {
            "partition": self._partition,
            "isolation": self._isolate,
            "kill": lambda: self._kill(silently=False),
            "power": lambda: self._kill(silently=True),
            "reset": self._break_one,
            "slowness": self._slow_down,
            "an authority out of reach": self._lose_the_authority,
            "restart at once": lambda: self._kill(silently=True, seconds=0.01),
        }

    def _for(self, seconds: float, undo: Callable[[], None]) -> None:
        self.network.at(min(seconds, max(0.0, STORM_SECONDS - self.network.now)), undo)

    def _partition(self) -> None:
        one, other = self._random.sample(self.hubs, 2)
        self.network.cut(one, other)
        self._for(self._random.choice((1, 5, 35, 100)), lambda: self.network.heal(one, other))

    def _lose_the_authority(self) -> None:
        """For longer than it renews and a lease lasts."""
        other = self._random.choice(self.hubs[1:])
        self.network.cut(self.hubs[0], other)
        self._for(110, lambda: self.network.heal(self.hubs[0], other))

    def _isolate(self) -> None:
        hub = self._random.choice(self.hubs)
        others = [other for other in self.hubs if other is not hub]
        for other in others:
            self.network.cut(hub, other)
        seconds = self._random.choice((2, 20, 60))
        for other in others:
            self._for(seconds, lambda other=other: self.network.heal(hub, other))  # type: ignore[misc]  # bound now

    def _kill(self, *, silently: bool, seconds: float | None = None) -> None:
        hub = self._random.choice(self.hubs)
        if hub.up:
            self._down(hub, silently=silently)
            self._for(seconds or self._random.choice((0.5, 3, 15, 60)), lambda: self._up(hub))

    def _break_one(self) -> None:
        ends: list[End] = [end for end in self.network.ends if end.open]
        if ends:
            self.network.break_off(self._random.choice(ends))

    def _slow_down(self) -> None:
        self.network.slow = self._random.choice((0.3, 2.0, 6.0))
        self._for(self._random.uniform(2, 15), self._fast)

    def _fast(self) -> None:
        self.network.slow = 0.0

    def _calm(self) -> None:
        self._fast()
        for one, other in itertools.combinations(self.hubs, 2):
            self.network.heal(one, other)
        for hub in self.hubs:
            hub.repeats = 0.0
            self._up(hub)

    # Promises.

    def _each_step(self) -> None:
        """One link a peer in every hub: nothing else calls itself one, and none outlives its heartbeats."""
        for hub in self.hubs:
            if not hub.up:
                continue
            for peer in hub.core.linked:
                link = hub.core.link(peer)
                if link is None or link.role is not Role.LINK or link.peer != peer:
                    raise Violation(f"{hub.name}: what it calls its link to {peer} is none")
                if hub.now - link.heard_at > DEAD_INTERVALS * HEARTBEAT_SECONDS + 1.1:
                    raise Violation(f"{hub.name}: its link to {peer} is dead and stays")

    def _settled(self) -> None:
        """Every pair has exactly one link, and both ends mean the same connection."""
        self.network.ends = [end for end in self.network.ends if end.open and end.other.open]
        for one, other in itertools.combinations(self.hubs, 2):
            near, far = one.core.link(other.name), other.core.link(one.name)
            if near is None or far is None:
                raise Violation(f"{one.name} and {other.name} have no link {CALM_SECONDS:g} s after the storm")
            end = next((end for end in self.network.ends if end.number == near.conn), None)
            if end is None or end.other.number != far.conn:
                raise Violation(f"{one.name} and {other.name} mean different connections")
            lasting = [
                end
                for end in self.network.ends
                if end.host is one and end.other.host is other and self._is_link(one, end.number)
            ]
            if len(lasting) != 1:
                raise Violation(f"{one.name} and {other.name} have {len(lasting)} lasting connections")

    @staticmethod
    def _is_link(hub: SimHub, conn: int) -> bool:
        channel = hub.core.channel(conn)
        return channel is not None and channel.role is Role.LINK
