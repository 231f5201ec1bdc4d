"""Gives back what runs of this machine hold once they have ended; what is not given back runs out."""

import asyncio
import contextlib
import logging
import re
from collections.abc import Awaitable, Callable, Iterable

from hopline.errors import HoplineError
from hopline.fleet.leases.records import owner_of
from hopline.records import ENDED, read_record
from hopline.wire.peer.leases import Lease

log = logging.getLogger("hopline.hub.leases")

_RUN_ID = re.compile(r"[0-9a-f]{12}")

LOOK_SECONDS = 5.0
"""Between two looks at the runs that hold something."""
LEARN_SECONDS = 60.0
"""Until a list that could not be had is asked for again."""


def has_ended(run_id: str) -> bool | None:
    """Whether the run is over and nothing of it is left that could still write; None when there is no such run.

    A run whose server was lost counts as going on: its worker may.
    """
    try:
        record = read_record(run_id)
    except HoplineError:
        return None
    return record.status in ENDED and record.descendants != "remaining"


class RunLeases:
    """The leases that this hub claimed for runs, and those that a hub before it did, as far as a list tells.

    Args:
        leases: lists the active leases; None when there is nobody to ask.
        release: gives one back, by its id and session. Both may raise HoplineError; that is tried again.
        ended: as `has_ended`; called in a thread.
    """

    def __init__(
        self,
        leases: Callable[[], Awaitable[Iterable[Lease] | None]],
        release: Callable[[str, str], Awaitable[object]],
        ended: Callable[[str], bool | None] = has_ended,
    ) -> None:
        self._leases = leases
        self._release = release
        self._ended = ended
        self._sessions: dict[str, str] = {}

    def note(self, lease_id: str, session: str) -> None:
        """It was granted to this session of this machine."""
        if _RUN_ID.fullmatch(session):
            self._sessions[lease_id] = session

    def forget(self, lease_id: str) -> None:
        """It is held no more."""
        self._sessions.pop(lease_id, None)

    async def run(self, identity: str) -> None:
        """Until cancelled.

        Args:
            identity: this machine's id, which its leases' owners end with.
        """
        learn_at = asyncio.get_running_loop().time()
        learnt = False
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if not learnt and asyncio.get_running_loop().time() >= learn_at:
                learnt = await self.learn(identity)
                learn_at = asyncio.get_running_loop().time() + LEARN_SECONDS
            await self.give_back()

    async def learn(self, identity: str) -> bool:
        """Note what this machine's runs hold already. False when that cannot be told now."""
        with contextlib.suppress(HoplineError):
            leases = await self._leases()
            for lease in leases or ():
                session = lease.owner_session_id.rpartition("@")[0]
                if lease.owner_session_id == owner_of(session, identity):
                    self.note(lease.id, session)
            return leases is not None
        return False

    async def give_back(self) -> None:
        """Release what belongs to runs that have ended, and take no further notice of what is no run's."""
        sessions = set(self._sessions.values())
        if not sessions:
            return
        ended = await asyncio.to_thread(lambda: {session: self._ended(session) for session in sessions})
        for lease_id, session in list(self._sessions.items()):
            if session not in ended or ended[session] is False:
                continue
            if ended[session]:
                try:
                    await self._release(lease_id, session)
                except HoplineError as error:
                    log.info("the lease %s of the ended run %s was not released: %s", lease_id, session, error)
                    return
                log.info("released %s, since the run %s has ended", lease_id, session)
            self.forget(lease_id)
