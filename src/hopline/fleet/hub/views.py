"""What the command line may ask about peers and the hub itself: lists, the fleet, the local network."""

import time
from collections.abc import Callable

from hopline.clock import rfc3339
from hopline.errors import UsageError
from hopline.fleet.hub import discovery
from hopline.fleet.hub.hub import Hub
from hopline.fleet.hub.links import HubLinks
from hopline.fleet.ports import Operation, Progress
from hopline.wire.hub.peers import (
    Asked,
    DiscoverAsked,
    Discovered,
    Fleet,
    FleetMachine,
    FleetSession,
    HubRecord,
    HubStatus,
    HubStopping,
    Identity,
    PeerList,
    PeerRow,
)
from hopline.wire.peer.heartbeat import SessionRow
from hopline.wire.peer.limits import MAX_SHOWN_CHARACTERS
from hopline.wire.peer.texts import shown

MAX_SCAN_SECONDS = 60.0
MAX_LISTED_SESSIONS = 200
"""Of one machine, in one answer."""


class Views:
    """The operations.

    Args:
        record: of this hub.
        stop: ends it.
        announces: whether the local network is told.
    """

    def __init__(
        self, hub: Hub, links: HubLinks, record: HubRecord, stop: Callable[[], None], *, announces: bool
    ) -> None:
        self._hub = hub
        self._links = links
        self._record = record
        self._stop = stop
        self._announces = announces

    def operations(self) -> dict[str, Operation]:
        """By name."""
        return {
            "hub.status": Operation(Asked, self._status),
            "hub.stop": Operation(Asked, self._end),
            "peer.id": Operation(Asked, self._id),
            "peer.list": Operation(Asked, self._list),
            "peer.fleet": Operation(Asked, self._fleet),
            "peer.discover": Operation(DiscoverAsked, self._discover),
        }

    async def _status(self, _asked: Asked, _progress: Progress) -> HubStatus:
        core = self._hub.core
        return HubStatus(
            record=self._record,
            paired=len(self._links.peers()),
            connected=len(core.linked),
            handshakes=core.handshakes,
            announces=self._announces,
        )

    async def _end(self, _asked: Asked, _progress: Progress) -> HubStopping:
        self._stop()
        return HubStopping(pid=self._record.pid)

    async def _id(self, _asked: Asked, _progress: Progress) -> Identity:
        return Identity(identity=self._record.identity, listen=self._record.listen)

    async def _list(self, _asked: Asked, _progress: Progress) -> PeerList:
        return PeerList(
            identity=self._record.identity,
            listen=self._record.listen,
            peers=[self._row(peer) for peer in sorted(self._links.peers())],
            pending=self._hub.keys.pending() is not None,
        )

    def _row(self, peer: str) -> PeerRow:
        core, now = self._hub.core, time.monotonic()
        link, course, told = core.link(peer), core.plan.course(peer), core.neighbours.of(peer)
        meta = self._hub.keys.meta(peer)
        addresses = self._hub.keys.addresses(peer)
        if link is not None:
            return PeerRow(
                peer=peer,
                state="connected",
                proto=link.machine.proto,
                framing=str(link.machine.framing),
                features=sorted(link.machine.features),
                version=told.version or None,
                address=link.address or link.source,
                addresses=addresses,
                direction="in" if link.inbound else "out",
                heard_seconds_ago=round(now - link.heard_at, 1),
                last_seen=rfc3339(),
                sessions=None if told.sessions is None else len(told.rows),
                clock_seconds=told.clock_seconds,
            )
        dialling = course is not None and course.dial is not None
        return PeerRow(
            peer=peer,
            state="connecting" if dialling else "waiting" if addresses else "disconnected",
            address=addresses[0] if addresses else None,
            addresses=addresses,
            version=told.version or None,
            last_seen=None if meta.last_seen is None else rfc3339(meta.last_seen),
            next_try_seconds=round(max(0.0, course.next_at - now), 1)
            if course and addresses and not dialling
            else None,
            problem=(course.problem or None) if course else None,
        )

    async def _fleet(self, _asked: Asked, _progress: Progress) -> Fleet:
        core, now = self._hub.core, time.monotonic()
        machines = [self._machine(core.identity, "here", None)]
        for peer in sorted(self._links.peers()):
            link = core.link(peer)
            heard = None if link is None else round(now - link.heard_at, 1)
            machines.append(self._machine(peer, "disconnected" if link is None else "connected", heard))
        return Fleet(machines=machines)

    def _machine(self, peer: str, state: str, heard: float | None) -> FleetMachine:
        told = self._hub.core.neighbours.of(peer)
        tools = told.capabilities.tools if told.capabilities else {}
        current = state != "disconnected"
        return FleetMachine(
            peer=peer,
            here=peer == self._hub.core.identity,
            state=state,
            os=told.capabilities.os or None if told.capabilities else None,
            arch=told.capabilities.arch or None if told.capabilities else None,
            version=told.version or None,
            tools=[_tool(name, tool.version or "") for name, tool in tools.items() if tool.state == "present"],
            sessions=[_session(row) for row in told.rows[:MAX_LISTED_SESSIONS]] if current else [],
            heard_seconds_ago=heard,
        )

    async def _discover(self, asked: DiscoverAsked, _progress: Progress) -> Discovered:
        if not 0 < asked.seconds <= MAX_SCAN_SECONDS:
            raise UsageError(f"a scan takes more than 0 and at most {MAX_SCAN_SECONDS:g} seconds.")
        found = await discovery.scan(self._hub.core.identity, self._links.peers(), asked.seconds)
        return Discovered(found=found)


def _tool(name: str, version: str) -> str:
    """Most versions begin with the name of what they are of."""
    return version if version.lower().startswith(name.lower()) else f"{name} {version}".strip()


def _session(row: SessionRow) -> FleetSession:
    return FleetSession(
        session_id=shown(row.session_id or "", 2 * MAX_SHOWN_CHARACTERS),
        project=shown(row.project),
        status=shown(row.status),
        elapsed_secs=row.elapsed_secs,
        cost_usd=row.cost_usd,
    )
