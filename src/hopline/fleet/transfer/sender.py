"""Sends conversations to other machines, and comes back to a transfer that was cut."""

import asyncio
import time
from collections import deque
from pathlib import Path

import msgspec

from hopline.clock import rfc3339
from hopline.errors import Refused, Unavailable, UsageError
from hopline.fleet.hub.peer_names import named_peer
from hopline.fleet.ports import Inbound, Links, OneShot
from hopline.fleet.transfer.errand import Errand, Tell, frame_of, refusal, same, settled
from hopline.fleet.transfer.ledger import Ledger, Sent
from hopline.fleet.transfer.packing import Pacing
from hopline.fleet.transfer.placement import is_session_id, why_not_cwd
from hopline.fleet.transfer.plan import span
from hopline.fleet.transfer.source import Source, TranscriptLost
from hopline.wire.hub.sessions import SendProgress, SendSession, SessionSent
from hopline.wire.peer.envelope import Envelope
from hopline.wire.peer.limits import CHUNK_BYTES
from hopline.wire.peer.messages import decode_payload
from hopline.wire.peer.negotiation import FEATURES, SESSION_OFFER
from hopline.wire.peer.transfer import SessionAnswer, SessionOffer, SessionReceived, SessionTransfer

ANSWER_SECONDS = 30.0
"""How long the receiver may take to answer an offer, or the last chunk."""

RETRY_SECONDS = (1.0, 2.0, 4.0, 8.0)
"""Waits before a cut transfer is taken up again, with a receiver that keeps what it has."""

AHEAD = 3
"""Chunks that are read and compressed while one is sent."""

LAST_WORD_SECONDS = 1.0
"""When sending fails, how long to look for the reason that the receiver gave before."""


class Sender:
    """Runs `session.send`.

    Args:
        ledger: of what was sent.
        retry_seconds: the waits before a cut transfer is taken up again.
        answer_seconds: how long an answer may take.
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        retry_seconds: tuple[float, ...] = RETRY_SECONDS,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self._ledger = ledger
        self._retry_seconds = retry_seconds
        self._answer_seconds = answer_seconds
        self._links: Links | None = None
        self._under_way: set[tuple[str, str]] = set()

    def state(self, entry: Sent) -> str:
        """Of what the ledger holds, now: `cut` when nobody is sending what was not sent to its end."""
        idle = (entry.peer, entry.session_id) not in self._under_way
        return "cut" if entry.state == "sending" and idle else entry.state

    def attach(self, links: Links) -> None:
        """Send by `links`, and take late answers that come by them."""
        self._links = links
        links.handle("session_received", self.settle)

    async def settle(self, inbound: Inbound, envelope: Envelope) -> None:
        """An answer that comes after its transfer was given up settles the ledger."""
        message = decode_payload(envelope)
        if isinstance(message, SessionReceived) and is_session_id(message.session_id):
            await asyncio.to_thread(self._record_late, inbound.peer, message)

    async def send(self, asked: SendSession, tell: Tell) -> SessionSent:
        """Send one transcript and wait until the receiver says that it has it.

        Raises UsageError for a wrong argument, Refused with the receiver's reason, Unavailable.
        """
        cwd = asked.remote_cwd or asked.cwd
        if not is_session_id(asked.session_id):
            raise UsageError(
                f"{asked.session_id[:80]!r} is no session id: 1 to 128 of letters, digits, _ and -, "
                "not beginning with -."
            )
        if (wrong := why_not_cwd(cwd)) is not None:
            raise UsageError(f"the working directory {cwd[:200]!r} {wrong}; give another --cwd or --remote-cwd.")
        asked = msgspec.structs.replace(asked, peer=self._peer(asked.peer))
        began = time.monotonic()
        tell(SendProgress(state="hashing", done=0, size=0))
        source = await asyncio.to_thread(Source, Path(asked.transcript), asked.max_bytes)
        try:
            errand = Errand(asked, cwd, source, tell)
            self._under_way.add((asked.peer, asked.session_id))
            await self._note(errand, "sending")
            try:
                answer = await self._persist(errand)
            except Refused:
                await self._note(errand, "refused")
                raise
            entry = await self._record(errand, answer)
        finally:
            self._under_way.discard((asked.peer, asked.session_id))
            source.close()
        return SessionSent(
            session_id=entry.session_id,
            peer=entry.peer,
            state=entry.state,
            cwd=cwd,
            bytes=entry.bytes,
            digest=entry.digest,
            bytes_sent=errand.bytes_sent,
            seconds=time.monotonic() - began,
            remote_path=entry.remote_path,
            resume=entry.resume,
        )

    def _peer(self, named: str) -> str:
        """The id that `named` is, or begins alone. What is neither is said by the dial."""
        assert self._links is not None
        return named_peer(named, self._links.peers())

    async def _persist(self, errand: Errand) -> SessionReceived | None:
        """Try until it is there, it is refused, or no attempt is left. None when nobody said that it is there."""
        for wait in self._retry_seconds:
            try:
                return await self._attempt(errand)
            except Unavailable as error:
                if not errand.met or isinstance(error, TranscriptLost):
                    raise
                errand.progress("waiting", errand.acknowledged)
                await asyncio.sleep(wait)
        try:
            return await self._attempt(errand)
        except TranscriptLost:
            raise
        except Unavailable as error:
            raise Unavailable(f"{error} The receiver keeps what came; give the same command again.") from error

    async def _attempt(self, errand: Errand) -> SessionReceived | None:
        assert self._links is not None
        errand.progress("connecting", errand.acknowledged)
        async with self._links.one_shot(errand.asked.peer, offer=FEATURES) as shot:
            begin = 0
            if SESSION_OFFER in shot.features:
                errand.met = True
                offered = await self._offer(errand, shot)
                if isinstance(offered, SessionReceived):
                    return offered
                begin = offered
            return await self._exchange(errand, shot, begin)

    async def _exchange(self, errand: Errand, shot: OneShot, begin: int) -> SessionReceived | None:
        """Send the chunks while listening: what the receiver says ends it, early or after the last chunk."""
        streaming = asyncio.create_task(self._stream(errand, shot, begin))
        answering = asyncio.create_task(self._answer(errand, shot))
        try:
            await asyncio.wait([streaming, answering], return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                return answering.result()
            patience = LAST_WORD_SECONDS
            if isinstance(streaming.exception(), TranscriptLost):
                streaming.result()
            if streaming.exception() is None:
                await self._record(errand, None)
                errand.progress("confirming", errand.source.size)
                patience = self._answer_seconds
            await asyncio.wait([answering], timeout=patience)
            if answering.done() and not isinstance(answering.exception(), Unavailable):
                return answering.result()
            streaming.result()
            if errand.met and answering.done():
                return answering.result()  # cut before it could answer: asked again by the next offer
            return None
        finally:
            for task in (streaming, answering):
                task.cancel()
            await asyncio.wait([streaming, answering])

    async def _offer(self, errand: Errand, shot: OneShot) -> int | SessionReceived:
        """Say what will come. Returns with which chunk to begin, or that it is there already."""
        source = errand.source
        offer = SessionOffer(
            session_id=errand.asked.session_id, cwd=errand.cwd, total=source.total, digest=source.digest
        )
        await shot.send("session_offer", offer)
        try:
            async with asyncio.timeout(self._answer_seconds):
                while True:
                    message = decode_payload(await shot.receive())
                    if isinstance(message, SessionReceived) and message.session_id == offer.session_id:
                        return message
                    if isinstance(message, SessionAnswer) and message.digest == offer.digest:
                        return self._begin(errand, message)
        except TimeoutError:
            raise Unavailable(f"{shot.peer} took the offer and said nothing for {self._answer_seconds:g} s.") from None

    @staticmethod
    def _begin(errand: Errand, answer: SessionAnswer) -> int:
        if isinstance(answer.refused, str):
            raise refusal(errand, answer.refused)
        begin = min(answer.next_seq, errand.source.total - 1)
        errand.acknowledged = begin * CHUNK_BYTES
        return begin

    @staticmethod
    async def _stream(errand: Errand, shot: OneShot, begin: int) -> None:
        """Send every chunk from `begin` on, while threads make the next ones ready."""
        total, pacing = errand.source.total, Pacing(shot.features, time.monotonic())
        ready: deque[asyncio.Task[SessionTransfer]] = deque()
        asked_for = begin
        try:
            for seq in range(begin, total):
                while asked_for < total and len(ready) < AHEAD:
                    ready.append(asyncio.create_task(asyncio.to_thread(frame_of, errand, asked_for, pacing.packing)))
                    asked_for += 1
                chunk = await ready.popleft()
                await shot.send("session_transfer", chunk)
                length = span(seq, errand.source.size).length
                pacing.sent(length, len(chunk.data), time.monotonic())
                errand.bytes_sent += length
                errand.progress("sending", seq * CHUNK_BYTES + length, now=seq + 1 == total)
        finally:
            for one in ready:
                one.cancel()
            await asyncio.gather(*ready, return_exceptions=True)

    async def _answer(self, errand: Errand, shot: OneShot) -> SessionReceived:
        """Wait for what the receiver says of this session. Raises Refused with its reason, Unavailable."""
        while True:
            message = decode_payload(await shot.receive())
            match message:
                case SessionReceived() if message.session_id == errand.asked.session_id:
                    return message
                case SessionAnswer(refused=str() as reason) if message.digest == errand.source.digest:
                    raise refusal(errand, reason)

    async def _note(self, errand: Errand, state: str) -> None:
        """Write to the ledger what is going on, for when this hub is killed. The same that is there stays so."""
        before = await asyncio.to_thread(self._ledger.sent, errand.asked.session_id)
        entry = errand.entry(state)
        if before is None or before.state not in ("sent", "received") or not same(before, entry):
            await asyncio.to_thread(self._ledger.record_sent, entry)

    async def _record(self, errand: Errand, answer: SessionReceived | None) -> Sent:
        """Write the ledger: `sent` until the receiver has answered."""
        errand.sent_at = errand.sent_at or rfc3339()
        entry = errand.entry("sent")
        entry = entry if answer is None else settled(entry, answer)
        await asyncio.to_thread(self._ledger.record_sent, entry)
        return entry

    def _record_late(self, peer: str, message: SessionReceived) -> None:
        entry = self._ledger.sent(message.session_id)
        if entry is not None and entry.peer == peer and entry.state in ("sending", "sent"):
            self._ledger.record_sent(settled(entry, message))
