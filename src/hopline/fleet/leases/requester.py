"""Asks the lease authority, this machine or another, and knows what an answer that did not come means: nothing.

docs/wire/peer.md, "Fleet leases".
"""

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from hopline.errors import Refused, Unavailable
from hopline.fleet.errors import FeatureMissing, NotPaired, PeerUnreachable
from hopline.fleet.leases.authority import Authority
from hopline.fleet.leases.place import LeasePlace
from hopline.fleet.leases.rules import REQUESTS, Request
from hopline.fleet.ports import Links, OneShot
from hopline.wire.peer.envelope import Envelope
from hopline.wire.peer.leases import LeaseResult
from hopline.wire.peer.messages import decode_payload
from hopline.wire.peer.negotiation import LEASE_FLEET

ANSWER_SECONDS = 12.0
RETRY_PAUSES = (1.0, 2.0, 4.0)
"""Seconds before each attempt after the first."""

_MSG_TYPES = {payload: msg_type for msg_type, payload in REQUESTS.items()}


class LeaseUnknown(Unavailable):
    """The authority did not answer, so nobody here knows whether it granted anything (PL-LEASE-UNKNOWN)."""

    exit_status = 6


class AuthorityRefused(Refused):
    """The authority answered, and decided nothing."""

    exit_status = 6


class _Lost(Exception):
    """The connection ended, or nothing came, after the request was sent."""


@dataclass(frozen=True, slots=True)
class Told:
    """An answer, with what is needed to know how long it may be believed."""

    authority: str
    result: LeaseResult
    asked_at: float
    """Monotonic seconds when the request was sent."""
    answered_at_millis: int
    """The authority's wall clock when it answered."""
    here: bool
    """This machine is the authority."""


class Requester:
    """Sends lease requests.

    Args:
        authority: this machine's own.
        place: who is the authority.
        pauses: before each further attempt.
    """

    def __init__(self, authority: Authority, place: LeasePlace, pauses: tuple[float, ...] = RETRY_PAUSES) -> None:
        self._authority = authority
        self._place = place
        self._pauses = pauses
        self._links: Links | None = None

    def attach(self, links: Links) -> None:
        """Use these links from now on."""
        self._links = links

    @property
    def links(self) -> Links:
        """The hub's links."""
        assert self._links is not None
        return self._links

    def place(self) -> str:
        """The authority's id. Raises UsageError when there is none."""
        return self._place.authority(self.links)

    async def ask(self, make: Callable[[str], Request], *, pauses: tuple[float, ...] | None = None) -> Told:
        """Send a request until it is answered.

        Args:
            make: the request with this `request_id`; each attempt has its own.
            pauses: seconds before each further attempt, in place of the usual.

        Raises LeaseUnknown when no attempt was answered, UsageError without an authority, and when it cannot be asked
        at all PeerUnreachable, PeerDenied or FeatureMissing: nothing was sent then.
        """
        authority = self.place()
        if authority == self.links.identity:
            asked_at = time.monotonic()
            result = await self._authority.answer(authority, make(_new_id()))
            return Told(authority, result, asked_at, time.time_ns() // 1_000_000, here=True)
        problem = ""
        for pause in (0.0, *(self._pauses if pauses is None else pauses)):
            if pause:
                await asyncio.sleep(pause)
            try:
                return await self._once(authority, make(_new_id()))
            except NotPaired:
                raise self._place.stranger(authority, self.links) from None
            except _Lost as error:
                problem = str(error)
            except PeerUnreachable as error:
                if not problem:
                    raise
                problem = str(error)
        raise LeaseUnknown(f"the lease authority {authority} did not answer ({problem}); nothing is held: try again.")

    async def _once(self, authority: str, request: Request) -> Told:
        async with self.links.one_shot(authority) as connection:
            if LEASE_FLEET not in connection.features:
                raise FeatureMissing(
                    f"{authority} cannot keep fleet leases (it did not agree to {LEASE_FLEET}); update it there, or "
                    "name another machine: hopline lease authority ID"
                )
            asked_at = time.monotonic()
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    await connection.send(_MSG_TYPES[type(request)], request)
                    envelope, result = await _answer(connection, request.request_id)
            except TimeoutError:
                raise _Lost(f"nothing within {ANSWER_SECONDS:.0f} s") from None
            except Unavailable as error:
                raise _Lost(str(error).rstrip(".")) from error
            return Told(authority, result, asked_at, envelope.timestamp, here=False)


async def _answer(connection: OneShot, request_id: str) -> tuple[Envelope, LeaseResult]:
    """The result that echoes our request; others are answers to attempts that were given up."""
    while True:
        envelope = await connection.receive()
        if envelope.msg_type == "lease_result":
            result = decode_payload(envelope)
            if isinstance(result, LeaseResult) and result.request_id == request_id:
                return envelope, result


def _new_id() -> str:
    return f"rq_{secrets.token_hex(12)}"
