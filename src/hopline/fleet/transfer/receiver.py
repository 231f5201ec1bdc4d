"""Takes conversations that other machines send, and answers on the connection they came by.

One thread does all that touches the disk, in the order of arrival; while it writes a chunk, the next is read.
"""

import asyncio
import contextlib
import errno
import logging
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from hopline.fleet.ports import Handler, Inbound, Links
from hopline.fleet.transfer.intake import Intake
from hopline.fleet.transfer.packing import claimed_length
from hopline.fleet.transfer.rules import AlreadyPresent, Claim, Decision, InPlace, Keep, Refuse, claim, decide, standing
from hopline.wire.peer.envelope import Envelope
from hopline.wire.peer.limits import CHUNK_BYTES
from hopline.wire.peer.messages import decode_payload
from hopline.wire.peer.negotiation import SESSION_LZ4, SESSION_OFFER
from hopline.wire.peer.transfer import SessionAnswer, SessionOffer, SessionTransfer

MAX_ARRIVING = 64
"""Transcripts whose state is kept in memory; of the one that moved least lately only the part stays."""

MAX_NOTED = 256
"""Refusals that are remembered, so that one of a transfer is logged and answered once."""

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
T = TypeVar("T")
log = logging.getLogger("hopline.hub.transfer")


@dataclass(slots=True)
class _Arriving:
    """One transcript on its way in."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    size: int = 0
    """Bytes of its part once what is being written is there."""
    writing: "asyncio.Future[Refuse | None] | None" = None
    """The write of the latest chunk; whoever comes next waits for it and learns how it went."""
    offered_by: Inbound | None = None
    """The connection of the latest offer. What an older one of the same peer still delivers is dropped."""

    def is_left_over(self, inbound: Inbound) -> bool:
        """Whether `inbound` is a connection that its sender has left for another one."""
        latest = self.offered_by
        return (
            latest is not None
            and latest is not inbound
            and latest.peer == inbound.peer
            and SESSION_OFFER in inbound.features
        )


class _Ending(Exception):
    """The hub ends: what comes now is left for the next one."""


class Receiver:
    """Handles `session_transfer` and `session_offer`.

    Args:
        intake: the disk.
    """

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._disk = ThreadPoolExecutor(1, "hopline-transfer")
        self._arriving: OrderedDict[str, _Arriving] = OrderedDict()
        self._noted: OrderedDict[tuple[str, str, str], None] = OrderedDict()
        self._links: Links | None = None
        self._ended = False

    def attach(self, links: Links) -> None:
        """Take what comes by `links`."""
        self._links = links
        links.handle("session_transfer", self._while_open(self.take_chunk))
        links.handle("session_offer", self._while_open(self.take_offer))

    def close(self) -> None:
        """Finish the write that is under way; what is unfinished stays for a sender that comes back."""
        self._ended = True
        self._disk.shutdown()
        self._intake.close()

    async def take_offer(self, inbound: Inbound, envelope: Envelope) -> None:
        """Answer with which chunk to begin, that it is here, or why not (PL-TRANSFER-OFFER)."""
        message = decode_payload(envelope)
        if not isinstance(message, SessionOffer) or SESSION_OFFER not in inbound.features:
            log.warning("a session_offer of %s was dropped: it lacks a key, or was not agreed to", inbound.peer)
            return
        claimed = claim(message.session_id, message.cwd, message.digest, message.total)
        if isinstance(claimed, Refuse):
            await self._refuse(inbound, message, claimed)
            return
        arriving = self._arrival(claimed)
        async with arriving.turn:
            begin: int | Refuse | AlreadyPresent | None = await self._written(arriving)
            if begin is None:
                begin = await self._tried(lambda: self._intake.resume(claimed))
            if isinstance(begin, int):
                arriving.size = begin * CHUNK_BYTES
                arriving.offered_by = inbound
        match begin:
            case Refuse():
                await self._refuse(inbound, message, begin)
            case AlreadyPresent():
                await self._confirm(inbound, message, claimed)
            case _:
                answer = SessionAnswer(session_id=claimed.session_id, digest=message.digest, next_seq=begin)
                await inbound.send("session_answer", answer)

    async def take_chunk(self, inbound: Inbound, envelope: Envelope) -> None:
        """Take one chunk. Returns once its write is under way; after the last one, once it was answered."""
        message = decode_payload(envelope)
        if not isinstance(message, SessionTransfer):
            log.warning("a session_transfer of %s was dropped: it lacks a key", inbound.peer)
            return
        claimed = claim(message.session_id, message.cwd, message.digest, message.total)
        if message.packed is True and SESSION_LZ4 not in inbound.features and isinstance(claimed, Claim):
            claimed = Refuse("PL-TRANSFER-PACKED", "a compressed chunk, and compression was not agreed to.")
        if isinstance(claimed, Refuse):
            await self._refuse(inbound, message, claimed)
            return
        arriving = self._arrival(claimed)
        async with arriving.turn:
            if arriving.is_left_over(inbound):
                log.debug("chunk %d of %s came by a connection that was given up", message.seq, inbound.peer)
                return
            decision = await self._kept(arriving, claimed, message, inbound.peer)
        match decision:
            case Refuse():
                arriving.size = 0
                await self._refuse(inbound, message, decision)
            case AlreadyPresent():
                if message.seq in (0, claimed.total - 1):  # once a transfer, not once a chunk
                    await self._confirm(inbound, message, claimed)
            case Keep(last=True):
                self._arriving.pop(claimed.digest, None)
                log.info("session %s of %s is in place", claimed.session_id, inbound.peer)
                await self._confirm(inbound, message, claimed)

    async def _kept(self, arriving: _Arriving, claimed: Claim, message: SessionTransfer, peer: str) -> Decision:
        """Decide, and do it; of a chunk that is not the last, the write is only begun."""
        decision = await self._written(arriving) or await self._decide(arriving, claimed, message)
        if not isinstance(decision, Keep):
            return decision
        arriving.size = _length(message) + (0 if decision.restart else arriving.size)
        arriving.writing = self._in_thread(
            lambda: self._intake.write(claimed, message.data, packed=message.packed is True, restart=decision.restart),
        )
        if not decision.last:
            return decision
        return (
            await self._written(arriving) or await self._tried(lambda: self._intake.finish(claimed, peer)) or decision
        )

    async def _decide(self, arriving: _Arriving, claimed: Claim, message: SessionTransfer) -> Decision:
        in_place = InPlace.NOTHING
        if message.seq == 0 or arriving.size == 0:  # else it was looked at already, and placing looks again
            anew = message.seq == 0
            found = await self._tried(lambda: (self._intake.in_place(claimed), *self._intake.admit(claimed, anew=anew)))
            if isinstance(found, Refuse):
                return found
            in_place, arriving.size, refused = found
            if refused is not None:
                return standing(claimed, in_place) or refused
        return decide(claimed, message.seq, _length(message), in_place, arriving.size)

    def _arrival(self, claimed: Claim) -> _Arriving:
        arriving = self._arriving.setdefault(claimed.digest, _Arriving())
        self._arriving.move_to_end(claimed.digest)
        if len(self._arriving) > MAX_ARRIVING:
            idle = (digest for digest, one in self._arriving.items() if not one.turn.locked() and one is not arriving)
            if (oldest := next(idle, None)) is not None:
                del self._arriving[oldest]
        return arriving

    async def _written(self, arriving: _Arriving) -> Refuse | None:
        """Wait for the write that is under way. Returns why it failed."""
        writing, arriving.writing = arriving.writing, None
        try:
            return None if writing is None else await asyncio.shield(writing)
        except OSError as error:
            return _failed(error)

    @staticmethod
    def _while_open(handler: Handler) -> Handler:
        async def handle(inbound: Inbound, envelope: Envelope) -> None:
            with contextlib.suppress(_Ending):
                await handler(inbound, envelope)

        return handle

    def _in_thread(self, work: Callable[[], T]) -> "asyncio.Future[T]":
        """Begin it in the disk's thread. Raises _Ending."""
        if self._ended:
            raise _Ending
        return asyncio.get_running_loop().run_in_executor(self._disk, work)

    async def _tried(self, work: Callable[[], T]) -> T | Refuse:
        """Do it in the disk's thread."""
        try:
            return await self._in_thread(work)
        except OSError as error:
            return _failed(error)

    async def _confirm(self, inbound: Inbound, message: SessionOffer | SessionTransfer, claimed: Claim) -> None:
        """Say that it is in place, by the link when the connection is gone (PL-TRANSFER-ANSWER)."""
        answer = await self._tried(lambda: self._intake.answer(claimed))
        if isinstance(answer, Refuse):
            await self._refuse(inbound, message, answer)
        elif not await inbound.send("session_received", answer) and self._links is not None:
            await self._links.send(inbound.peer, "session_received", answer)

    async def _refuse(self, inbound: Inbound, message: SessionOffer | SessionTransfer, refused: Refuse) -> None:
        """Say why, once a transfer: to the log, and to a sender that understands it."""
        known = (inbound.peer, message.digest[:64], refused.token)
        again = isinstance(message, SessionTransfer) and known in self._noted
        self._noted[known] = None
        self._noted.move_to_end(known)
        if len(self._noted) > MAX_NOTED:
            self._noted.popitem(last=False)
        if again:
            return
        log.warning(
            "session %.40r of %s was refused (%s): %s", message.session_id, inbound.peer, refused.token, refused.reason
        )
        if SESSION_OFFER in inbound.features:
            answer = SessionAnswer(session_id=message.session_id, digest=message.digest, refused=refused.reason)
            await inbound.send("session_answer", answer)


def _length(message: SessionTransfer) -> int:
    """Raw bytes of the chunk, as it says."""
    return claimed_length(message.data) if message.packed is True else len(message.data)


def _failed(error: OSError) -> Refuse:
    if error.errno in _NO_ROOM:
        return Refuse("PL-TRANSFER-ROOM", "the receiver's disk is full; make room there and send it again.")
    return Refuse("PL-TRANSFER-DISK", f"the receiver cannot keep it: {error.strerror or error}; see its hub's log.")
