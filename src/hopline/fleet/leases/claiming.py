"""One claim from asking to an end. Nothing is left held that nobody heard of."""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable

import msgspec

from hopline.errors import HoplineError, Refused, Unavailable
from hopline.fleet.errors import PeerUnreachable
from hopline.fleet.leases.holding import good_until
from hopline.fleet.leases.overlap import overlap
from hopline.fleet.leases.records import Outcome, seconds_of
from hopline.fleet.leases.requester import AuthorityRefused, LeaseUnknown, Requester, Told
from hopline.fleet.ports import Progress
from hopline.wire.hub.leases import ClaimLease, InTheWay, LeaseClaimed, LeaseQueued
from hopline.wire.peer.leases import LeaseClaim, LeaseList, LeaseRelease, LeaseResult
from hopline.wire.peer.texts import shown

log = logging.getLogger("hopline.hub.leases")

POLL_SECONDS = 2.0
"""Between two polls, when the authority names no other time."""
SLOWEST_POLL_SECONDS = 10.0
QUICKEST_POLL_SECONDS = 0.1
POLL_HERE_SECONDS = 0.2
"""Between two polls of this machine's own authority; they cost no message and no write."""

MAX_OVERLAPS = 100
"""Overlapping leases that one answer names."""

PLACE_LOST = "the place in the queue was lost, as the authority was started anew; claiming again"

CLOSING_SECONDS = 2.0
"""How long leases that are given up may still take to be released when the hub leaves."""


class Claiming:
    """Carries out claims.

    Args:
        requester: how the authority is asked.
    """

    def __init__(self, requester: Requester) -> None:
        self._requester = requester
        self._releases: set[asyncio.Task[None]] = set()

    async def claim(self, asked: ClaimLease, progress: Progress) -> LeaseClaimed:
        """Claim, and wait in the queue as far as that is asked.

        Raises Refused when the claim makes no sense, and whatever Requester.ask raises. When it raises, or is
        cancelled, the authority is told that the lease is not wanted.
        """
        lease_id = f"ls_{secrets.token_hex(16)}"
        try:
            claimed = await self._claim(lease_id, asked, progress)
        except Refused:
            raise
        except BaseException:
            self._let_go(lease_id, asked.session)
            raise
        if claimed.outcome == Outcome.CONFLICT and asked.wait:
            self._let_go(lease_id, asked.session)
        return claimed

    async def close(self) -> None:
        """Let what is being released be released, for a moment."""
        if self._releases:
            await asyncio.wait(self._releases, timeout=CLOSING_SECONDS)
        for task in self._releases:
            task.cancel()

    async def _claim(self, lease_id: str, asked: ClaimLease, progress: Progress) -> LeaseClaimed:
        began = time.monotonic()
        until = None if asked.wait_secs is None else began + asked.wait_secs
        waiter_id: str | None = None
        queued = False
        while True:
            try:
                told = await self._requester.ask(_claim_of(lease_id, asked, waiter_id))
            except (LeaseUnknown, PeerUnreachable) as error:
                if not queued or (until is not None and time.monotonic() >= until):
                    raise
                waited = time.monotonic() - began
                progress(LeaseQueued(waited_secs=waited, way=InTheWay(), trouble=f"{error} Asking again."))
                await asyncio.sleep(_until(until, POLL_SECONDS))
                continue
            result, waited = told.result, time.monotonic() - began
            if result.outcome == Outcome.GRANTED:
                return await self._with_overlaps(_granted(told, waited), asked)
            if result.outcome == Outcome.CONFLICT:
                return _conflict(told, waited)
            if result.outcome not in (Outcome.QUEUED, Outcome.WAITER_GONE):
                message = shown(result.message or result.outcome, 300)
                raise AuthorityRefused(f"the lease authority {told.authority} refuses the claim: {message}")
            waiter_id = result.waiter_id if result.outcome == Outcome.QUEUED else None
            if waiter_id is None and result.outcome == Outcome.QUEUED:
                raise Unavailable(f"the lease authority {told.authority} queues without naming a place; update it.")
            if result.outcome == Outcome.QUEUED:
                queued = True
                progress(LeaseQueued(waited_secs=waited, way=_way(result)))
            else:
                progress(LeaseQueued(waited_secs=waited, way=InTheWay(), trouble=PLACE_LOST))
            pause = _pause(told)
            if until is not None and time.monotonic() + pause > until:
                pause = until - time.monotonic()
                if pause <= 0:
                    return _conflict(told, waited)
            await asyncio.sleep(pause)

    async def _with_overlaps(self, claimed: LeaseClaimed, asked: ClaimLease) -> LeaseClaimed:
        if not asked.overlaps or claimed.lease is None:
            return claimed
        try:
            told = await self._requester.ask(LeaseList, pauses=())
        except HoplineError as error:
            log.info("what overlaps a lease was not told: %s", error)
            return claimed
        mine = claimed.lease.owner_session_id
        found = [
            one
            for one in told.result.leases or []
            if one.owner_session_id != mine
            and one.resource_kind == asked.kind
            and overlap(asked.kind, one.resource_value, asked.value)
        ]
        return msgspec.structs.replace(claimed, overlaps=found[:MAX_OVERLAPS])

    def _let_go(self, lease_id: str, session: str) -> None:
        """Tell the authority, without waiting for it."""
        task = asyncio.get_running_loop().create_task(self._release(lease_id, session))
        self._releases.add(task)
        task.add_done_callback(self._releases.discard)

    async def _release(self, lease_id: str, session: str) -> None:
        try:
            await self._requester.ask(lambda request_id: LeaseRelease(request_id, lease_id, session), pauses=())
        except HoplineError as error:
            log.info("a lease that is not wanted was not released, it runs out: %s", error)


def _until(until: float | None, pause: float) -> float:
    return pause if until is None else max(0.0, min(pause, until - time.monotonic()))


def _claim_of(lease_id: str, asked: ClaimLease, waiter_id: str | None) -> Callable[[str], LeaseClaim]:
    return lambda request_id: LeaseClaim(
        request_id,
        lease_id,
        asked.session,
        asked.kind,
        asked.value,
        asked.mode,
        asked.ttl_secs,
        asked.reason,
        asked.wait,
        waiter_id,
    )


def _granted(told: Told, waited: float) -> LeaseClaimed:
    lease = told.result.lease
    if lease is None:
        raise Unavailable(f"the lease authority {told.authority} grants without a lease; update it.")
    try:
        expires_at = seconds_of(lease.expires_at or "")
    except ValueError:
        raise Unavailable(
            f"the lease authority {told.authority} grants without saying until when; update it."
        ) from None
    good = good_until(told.asked_at, expires_at, told.answered_at_millis, lease.ttl_left_millis) - time.monotonic()
    return LeaseClaimed(
        outcome=Outcome.GRANTED.value,
        authority=told.authority,
        lease=lease,
        good_for_millis=max(0, int(good * 1000)),
        waited_secs=waited,
    )


def _conflict(told: Told, waited: float) -> LeaseClaimed:
    way = _way(told.result)
    return LeaseClaimed(outcome=Outcome.CONFLICT.value, authority=told.authority, way=way, waited_secs=waited)


def _way(result: LeaseResult) -> InTheWay:
    return InTheWay(
        holder=result.holder,
        holder_lease=result.holder_lease,
        expires_at=result.expires_at,
        ttl_left_millis=result.ttl_left_millis,
        ahead=result.ahead,
    )


def _pause(told: Told) -> float:
    if told.here:
        return POLL_HERE_SECONDS
    asked = told.result.poll_secs
    return POLL_SECONDS if asked is None else min(max(asked, QUICKEST_POLL_SECONDS), SLOWEST_POLL_SECONDS)
