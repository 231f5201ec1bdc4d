"""The hub's room for leases: the authority, when this machine is it, and what its commands ask of any authority."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from hopline.errors import HoplineError, Refused, UsageError
from hopline.fleet.leases import answers
from hopline.fleet.leases.authority import Authority
from hopline.fleet.leases.claiming import Claiming
from hopline.fleet.leases.overlap import PATH_GLOB, OverlapIndex
from hopline.fleet.leases.place import LeasePlace
from hopline.fleet.leases.records import EXCLUSIVE, Outcome, owner_of
from hopline.fleet.leases.renewal import EVERY_SECONDS, living_owners
from hopline.fleet.leases.requester import AuthorityRefused, Requester, Told
from hopline.fleet.leases.rules import REQUESTS, read
from hopline.fleet.leases.runs import RunLeases
from hopline.fleet.leases.store import FILE, LeaseStore
from hopline.fleet.leases.writer import LeaseWriter
from hopline.fleet.ports import Inbound, Links, Operation, Progress
from hopline.wire.hub import leases as asks
from hopline.wire.peer.envelope import Envelope
from hopline.wire.peer.leases import Lease, LeaseList, LeaseRelease
from hopline.wire.peer.negotiation import LEASE_FLEET
from hopline.wire.peer.texts import shown

log = logging.getLogger("hopline.hub.leases")

_MAX_MESSAGE_CHARACTERS = 300


class LeaseRoom:
    """Leases of this machine and its peers (hopline.fleet.ports.Room).

    Args:
        fleet_folder: private and made.
        place: who is the authority.
    """

    def __init__(self, fleet_folder: Path, place: LeasePlace | None = None) -> None:
        self._file = fleet_folder / FILE
        self._place = place or LeasePlace()
        self._writer = LeaseWriter(lambda: LeaseStore.open(self._file, time.time_ns() // 1_000_000))
        self._authority = Authority(self._writer)
        self._requester = Requester(self._authority, self._place)
        self._claiming = Claiming(self._requester)
        self._runs = RunLeases(self._known, lambda lease_id, session: self._let_go(lease_id, session, pauses=()))

    def attach(self, links: Links) -> None:
        """See Room."""
        self._requester.attach(links)
        for msg_type in REQUESTS:
            links.handle(msg_type, self._asked)

    def operations(self) -> Mapping[str, Operation]:
        """See Room."""
        return {
            "lease.claim": Operation(asks.ClaimLease, self._claim),
            "lease.release": Operation(asks.ReleaseLease, self._release),
            "lease.ls": Operation(asks.ListLeases, self._list),
            "lease.check": Operation(asks.CheckPaths, self._check),
            "lease.authority": Operation(asks.AskAuthority, self._tell_authority),
        }

    async def run(self) -> None:
        """See Room."""
        trouble = ""
        giving_back = asyncio.create_task(self._runs.run(self._requester.links.identity))
        try:
            while True:
                await asyncio.sleep(EVERY_SECONDS)
                try:
                    await self._renew()
                    trouble = ""
                except HoplineError as error:
                    if str(error) != trouble:
                        log.warning("leases are not renewed: %s", error)
                    trouble = str(error)
        finally:
            giving_back.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._claiming.close()
            self._writer.close()

    async def _renew(self) -> None:
        links = self._requester.links
        if not self._file.exists() or self._requester.place() != links.identity:
            return
        machines = {links.identity, *links.peers()}
        owners = list(living_owners([(peer, links.sessions(peer)) for peer in machines], time.monotonic()))
        if owners:
            await self._authority.renew(owners)

    async def _asked(self, connection: Inbound, envelope: Envelope) -> None:
        """A peer asks this machine (PL-LEASE-PLACE)."""
        if LEASE_FLEET not in connection.features:
            return
        asked = read(envelope.msg_type, envelope.payload)
        identity = self._requester.links.identity
        try:
            authority = self._requester.place()
        except UsageError as error:
            log.warning("a lease request of %s is refused: %s", connection.peer, error)
            authority = None
        if authority == identity:
            result = await self._authority.answer(connection.peer, asked)
        else:
            result = answers.error(asked.request_id, f"{identity} is not the lease authority by its own settings")
        await connection.send("lease_result", result)

    async def _claim(self, asked: asks.ClaimLease, progress: Progress) -> asks.LeaseClaimed:
        claimed = await self._claiming.claim(asked, progress)
        if claimed.lease is not None:
            self._runs.note(claimed.lease.id, asked.session)
        return claimed

    async def _release(self, asked: asks.ReleaseLease, _progress: Progress) -> asks.LeaseReleased:
        if asked.lease_id is not None:
            told = await self._let_go(asked.lease_id, asked.session)
            if told.result.outcome != Outcome.RELEASED:
                raise Refused(_why_not_released(asked.lease_id, asked.session, told))
            return asks.LeaseReleased(authority=told.authority, released=[asked.lease_id])
        leases, told = await self._leases()
        owner = owner_of(asked.session, self._requester.links.identity)
        same = [one for one in leases if (one.resource_kind, one.resource_value) == (asked.kind, asked.value)]
        mine = sorted((one for one in same if one.owner_session_id == owner), key=lambda one: one.fence or 0)
        while mine:
            lease = mine.pop()
            if (await self._let_go(lease.id, asked.session)).result.outcome == Outcome.RELEASED:
                return asks.LeaseReleased(authority=told.authority, released=[lease.id], left=len(mine))
        holder = f"; {shown(same[0].owner_session_id, 300)} holds it" if same else ""
        raise Refused(
            f"{owner} holds no lease of {asked.kind}:{asked.value}{holder}. See all: hopline lease ls",
            code="not_found",
        )

    async def _let_go(self, lease_id: str, session: str, pauses: tuple[float, ...] | None = None) -> Told:
        attempts = 0

        def make(request_id: str) -> LeaseRelease:
            nonlocal attempts
            attempts += 1
            return LeaseRelease(request_id, lease_id, session)

        told = await self._requester.ask(make, pauses=pauses)
        if told.result.outcome != Outcome.ERROR:
            self._runs.forget(lease_id)
        if attempts > 1 and told.result.outcome == Outcome.NOT_ACTIVE:  # the answer to an earlier attempt was lost
            told = replace(told, result=msgspec.structs.replace(told.result, outcome=Outcome.RELEASED.value))
        return told

    async def _list(self, _asked: asks.ListLeases, _progress: Progress) -> asks.LeaseListing:
        leases, told = await self._leases()
        return asks.LeaseListing(
            authority=told.authority,
            identity=self._requester.links.identity,
            leases=leases,
            truncated=bool(told.result.truncated),
        )

    async def _check(self, asked: asks.CheckPaths, _progress: Progress) -> asks.PathsChecked:
        leases, told = await self._leases()
        if told.result.truncated:
            raise Refused(f"{told.authority} keeps more leases than one answer holds; paths cannot be checked.")
        owner = owner_of(asked.session, self._requester.links.identity)
        held = list(_held(asked.paths, leases, owner))
        return asks.PathsChecked(
            authority=told.authority,
            owner=owner,
            held=held[: asks.MAX_HELD_PATHS],
            more=max(0, len(held) - asks.MAX_HELD_PATHS),
        )

    async def _known(self) -> list[Lease] | None:
        """What is held, unless this machine would have to make its database to tell."""
        here = self._requester.place() == self._requester.links.identity
        return [] if here and not self._file.exists() else (await self._leases())[0]

    async def _leases(self) -> tuple[list[Lease], Told]:
        told = await self._requester.ask(LeaseList)
        if told.result.outcome != Outcome.LIST:
            message = shown(told.result.message or told.result.outcome, _MAX_MESSAGE_CHARACTERS)
            raise AuthorityRefused(f"the lease authority {told.authority} refuses: {message}")
        return told.result.leases or [], told

    async def _tell_authority(self, _asked: asks.AskAuthority, _progress: Progress) -> asks.LeaseAuthority:
        links = self._requester.links
        authority: str | None = None
        with contextlib.suppress(UsageError):
            named = self._requester.place()
            authority = named if named == links.identity or named in links.peers() else None
        return asks.LeaseAuthority(
            identity=links.identity,
            configured=self._place.configured(),
            authority=authority,
            peers=sorted(links.peers()),
        )


def _held(paths: Iterable[str], leases: Iterable[Lease], owner: str) -> Iterable[asks.HeldPath]:
    """The paths that an exclusive lease of somebody else overlaps, each with the one that lasts longest."""
    others = {
        one.id: one
        for one in leases
        if one.mode == EXCLUSIVE and one.resource_kind == PATH_GLOB and one.owner_session_id != owner
    }
    index = OverlapIndex()
    for lease in others.values():
        index.add(lease.id, PATH_GLOB, lease.resource_value)
    for path in paths:
        found = [others[lease_id] for lease_id in index.overlapping(PATH_GLOB, path)]
        if found:
            yield asks.HeldPath(path=path, lease=max(found, key=lambda one: one.expires_at or "9"))


def _why_not_released(lease_id: str, session: str, told: Told) -> str:
    name = shown(lease_id, 96)
    match told.result.outcome:
        case Outcome.NOT_OWNER:
            return f"lease {name} belongs to somebody else, not to session {session} here; see: hopline lease ls"
        case Outcome.NOT_ACTIVE:
            return f"lease {name} has ended already."
        case Outcome.NOT_FOUND:
            return f"{told.authority} knows no lease {name}; see: hopline lease ls"
        case _:
            message = shown(told.result.message or told.result.outcome, _MAX_MESSAGE_CHARACTERS)
            return f"the lease authority {told.authority} refuses: {message}"
