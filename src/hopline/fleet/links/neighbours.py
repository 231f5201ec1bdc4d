"""What peers told of themselves in heartbeats, bounded and filtered, and what this machine tells. Pure."""

import re
from dataclasses import dataclass, replace

from msgspec import UNSET

from hopline.fleet.links.addresses import is_loopback, offered, place_of
from hopline.fleet.ports import PeerSessions
from hopline.wire.peer.heartbeat import Capabilities, Heartbeat, SessionRow, Tool
from hopline.wire.peer.limits import MAX_CAPABILITY_TOOLS, MAX_LISTEN_ADDRESSES
from hopline.wire.peer.texts import shown

MAX_SESSIONS = 500
"""Sessions kept of one peer, and told of this machine: as many fit one frame."""
MAX_SESSION_ID_CHARACTERS = 128

_TOOL = re.compile(r"[A-Za-z0-9._+-]{1,64}")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One peer as it described itself."""

    version: str = ""
    capabilities: Capabilities | None = None
    rows: tuple[SessionRow, ...] = ()
    sessions: PeerSessions | None = None
    clock_seconds: float | None = None
    """How far its clock is ahead of ours."""


class Neighbours:
    """Every peer that was heard, and this machine under its own id.

    Args:
        identity: this machine's.
    """

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._heard: dict[str, Neighbour] = {}
        self._listen: tuple[str, ...] = ()

    def of(self, peer: str) -> Neighbour:
        """What is known of it; nothing yet when it was never heard."""
        return self._heard.get(peer, Neighbour())

    def greeted(self, peer: str, version: str) -> None:
        """It opened a connection and named its program's version, if it is not empty."""
        if version:
            self._heard[peer] = replace(self.of(peer), version=version)

    def heard(self, peer: str, heartbeat: Heartbeat, source: str, now: float, ahead_millis: int) -> list[str]:
        """Take in a heartbeat. Returns the addresses that it offers, as far as they make sense from `source`.

        Args:
            ahead_millis: by how much the clock that stamped it is ahead of ours.
        """
        known = replace(self.of(peer), clock_seconds=round(ahead_millis / 1000, 1))
        if heartbeat.sessions is not UNSET:
            rows = tuple(heartbeat.sessions[:MAX_SESSIONS])
            ids = frozenset(
                row.session_id for row in rows if row.session_id and len(row.session_id) <= MAX_SESSION_ID_CHARACTERS
            )
            known = replace(known, rows=rows, sessions=PeerSessions(ids, now))
        if heartbeat.capabilities is not UNSET:
            told = heartbeat.capabilities
            known = replace(known, capabilities=_sound(told), version=shown(told.claudectl_version) or known.version)
        self._heard[peer] = known
        told_addresses = [] if heartbeat.listen_addrs is UNSET else heartbeat.listen_addrs
        return offered(told_addresses, source, MAX_LISTEN_ADDRESSES)

    def forget(self, peer: str) -> None:
        """It is no peer any more."""
        self._heard.pop(peer, None)

    def collected(self, rows: list[SessionRow], now: float) -> None:
        """This machine runs these sessions at `now`."""
        ids = frozenset(row.session_id for row in rows if row.session_id)
        own = self.of(self._identity)
        self._heard[self._identity] = replace(own, rows=tuple(rows[:MAX_SESSIONS]), sessions=PeerSessions(ids, now))

    def placed(self, listen: list[str]) -> None:
        """This machine listens here."""
        self._listen = tuple(listen)

    def equipped(self, capabilities: Capabilities) -> None:
        """This machine has these tools."""
        own = self.of(self._identity)
        self._heard[self._identity] = replace(own, capabilities=capabilities, version=capabilities.claudectl_version)

    def heartbeat(self, source: str) -> Heartbeat:
        """This machine's, for the peer at `source`: loopback addresses are told to loopback only."""
        own = self.of(self._identity)
        local = is_loopback(source)
        listen = [text for text in self._listen if local or not _is_local(text)][:MAX_LISTEN_ADDRESSES]
        return Heartbeat(
            sessions=UNSET if own.sessions is None else list(own.rows),
            capabilities=own.capabilities or UNSET,
            listen_addrs=listen or UNSET,
        )


def _is_local(address: str) -> bool:
    found = place_of(address)
    return found is not None and is_loopback(found[0])


def _sound(told: Capabilities) -> Capabilities:
    tools: dict[str, Tool] = {}
    for name, tool in told.tools.items():
        if _TOOL.fullmatch(name):
            present = tool.state == "present"
            version = shown(tool.version) if present and tool.version else None
            tools[name] = Tool("present" if present else "missing", version)
        if len(tools) == MAX_CAPABILITY_TOOLS:
            break
    return Capabilities(shown(told.claudectl_version), shown(told.os), shown(told.arch), tools)
