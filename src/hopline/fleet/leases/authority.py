"""The lease authority: one table, one clock, and nothing told before it is on the disk."""

import secrets
import time
from collections.abc import Callable, Iterable

from hopline.errors import HoplineError
from hopline.fleet.leases import answers
from hopline.fleet.leases.records import Decision, Outcome
from hopline.fleet.leases.rules import Request, Unsound, check_claim, check_list, check_release
from hopline.fleet.leases.table import LeaseTable, Moment
from hopline.fleet.leases.writer import LeaseWriter
from hopline.wire.peer.leases import LeaseClaim, LeaseRelease, LeaseResult


def this_moment() -> Moment:
    """Both clocks of this machine."""
    return Moment(time.time_ns() // 1_000_000, time.monotonic())


class Authority:
    """Answers lease requests of any peer, this machine's own included. Lives on the hub's loop.

    Args:
        writer: keeps what is decided.
        clock: this machine's clocks.
    """

    def __init__(self, writer: LeaseWriter, clock: Callable[[], Moment] = this_moment) -> None:
        self._writer = writer
        self._clock = clock
        self._table: LeaseTable | None = None
        self._unwritten = 0
        writer.settled = self._settled

    async def answer(self, peer: str, asked: Request | Unsound) -> LeaseResult:
        """The answer to a request of `peer`, the id that its connection proved. What it tells is on the disk.

        (PL-LEASE-DURABLE)
        """
        if isinstance(asked, Unsound):
            return answers.error(asked.request_id, asked.message)
        act = _checked(asked, peer)
        if isinstance(act, Unsound):
            return answers.error(act.request_id, act.message)
        try:
            decision, at = await self._step(act)
        except HoplineError as error:
            return answers.error(asked.request_id, str(error))
        return answers.spelled(asked.request_id, decision, at)

    async def renew(self, owners: Iterable[str]) -> None:
        """Let the leases of these owners last on. Raises Unavailable when that cannot be written."""
        await self._step(lambda table, at: _renewed(table, owners, at))

    async def _step(self, act: Callable[[LeaseTable, Moment], Decision]) -> tuple[Decision, Moment]:
        table = self._table
        if table is None:
            saved = await self._writer.load()
            table = self._table = self._table or LeaseTable(saved, secrets.token_bytes)
        at = self._clock()
        decision = act(table, at)
        changes = table.take_changes()
        if changes or self._unwritten:  # what others are about to be told may be part of this decision
            self._unwritten += 1
            await self._writer.commit(changes)
        return decision, at

    def _settled(self, count: int, failure: HoplineError | None) -> None:
        self._unwritten -= count
        if failure is not None:
            self._table = None  # it is ahead of the disk: read again before anything else is decided


def _checked(asked: Request, peer: str) -> Callable[[LeaseTable, Moment], Decision] | Unsound:
    if isinstance(asked, LeaseClaim):
        claim = check_claim(asked, peer)
        return claim if isinstance(claim, Unsound) else lambda table, at: table.claim(claim, at)
    if isinstance(asked, LeaseRelease):
        release = check_release(asked, peer)
        if isinstance(release, Unsound):
            return release
        return lambda table, at: table.release(release.owner, release.lease_id, at)
    return check_list(asked) or (lambda table, at: table.list(at))


def _renewed(table: LeaseTable, owners: Iterable[str], at: Moment) -> Decision:
    table.renew(owners, at)
    return Decision(Outcome.LIST)
