"""Sends conversations to other machines, and comes back to a transfer that was cut."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import UNSET

from hopline.clock import rfc3339
from hopline.errors import HoplineError, Refused, Unavailable, UsageError
from hopline.fleet.ledger import Ledger, Sent
from hopline.fleet.placement import is_session_id, why_not_cwd
from hopline.fleet.ports import Inbound, Links, OneShot
from hopline.fleet.transfer_packing import packed
from hopline.fleet.transfer_plan import span
from hopline.fleet.transfer_source import Source, TranscriptLost
from hopline.rendering import plain
from hopline.wire.hub.sessions import SendProgress, SendSession, SessionSent
from hopline.wire.peer.envelope import Envelope
from hopline.wire.peer.limits import CHUNK_BYTES
from hopline.wire.peer.messages import decode_payload
from hopline.wire.peer.negotiation import FEATURES, SESSION_LZ4, SESSION_OFFER
from hopline.wire.peer.transfer import SessionAnswer, SessionOffer, SessionReceived, SessionTransfer

ANSWER_SECONDS = 30.0
"""How long the receiver may take to answer an offer, or the last chunk."""

RETRY_SECONDS = (1.0, 2.0, 5.0, 10.0, 20.0)
"""Waits before a cut transfer is taken up again, with a receiver that keeps what it has."""

LAST_WORD_SECONDS = 1.0
"""When sending fails, how long to look for the reason that the receiver gave before."""

PROGRESS_SECONDS = 0.1
MAX_SHOWN = 8192
"""Characters that are kept of what a peer says about a session."""

Tell = Callable[[msgspec.Struct], None]


@dataclass(slots=True)
class _Errand:
    """One transfer, over all its attempts."""

    asked: SendSession
    cwd: str
    source: Source
    tell: Tell
    met: bool = False
    """Whether a receiver that keeps what it has was reached."""
    acknowledged: int = 0
    """Bytes that need not be sent again, as far as is known."""
    bytes_sent: int = 0
    told_at: float = 0.0
    sent_at: str = ""
    """When the last chunk was on its way first."""

    def progress(self, state: str, done: int, *, now: bool = True) -> None:
        """Tell the asker; at most ten times a second unless `now`."""
        moment = time.monotonic()
        if now or moment - self.told_at >= PROGRESS_SECONDS:
            self.told_at = moment
            self.tell(SendProgress(state=state, done=done, size=self.source.size))


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
        began = time.monotonic()
        tell(SendProgress(state="hashing", done=0, size=0))
        source = await asyncio.to_thread(Source, Path(asked.transcript), asked.max_bytes)
        try:
            errand = _Errand(asked, cwd, source, tell)
            answer = await self._persist(errand)
            entry = await self._record(errand, answer)
        finally:
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

    async def _persist(self, errand: _Errand) -> SessionReceived | None:
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

    async def _attempt(self, errand: _Errand) -> SessionReceived | None:
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

    async def _exchange(self, errand: _Errand, shot: OneShot, begin: int) -> SessionReceived | None:
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

    async def _offer(self, errand: _Errand, shot: OneShot) -> int | SessionReceived:
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
    def _begin(errand: _Errand, answer: SessionAnswer) -> int:
        if isinstance(answer.refused, str):
            raise _refusal(errand, answer.refused)
        begin = min(answer.next_seq, errand.source.total - 1)
        errand.acknowledged = begin * CHUNK_BYTES
        return begin

    @staticmethod
    async def _stream(errand: _Errand, shot: OneShot, begin: int) -> None:
        """Send every chunk from `begin` on, reading one ahead."""
        total, packing = errand.source.total, SESSION_LZ4 in shot.features
        chunk = await asyncio.to_thread(_chunk, errand, begin, packing)
        for seq in range(begin, total):
            if seq + 1 < total:
                ahead = asyncio.to_thread(_chunk, errand, seq + 1, packing)
                _, chunk = await asyncio.gather(shot.send("session_transfer", chunk), ahead)
            else:
                await shot.send("session_transfer", chunk)
            length = span(seq, errand.source.size).length
            errand.bytes_sent += length
            errand.progress("sending", seq * CHUNK_BYTES + length, now=False)

    async def _answer(self, errand: _Errand, shot: OneShot) -> SessionReceived:
        """Wait for what the receiver says of this session. Raises Refused with its reason, Unavailable."""
        while True:
            message = decode_payload(await shot.receive())
            match message:
                case SessionReceived() if message.session_id == errand.asked.session_id:
                    return message
                case SessionAnswer(refused=str() as reason) if message.digest == errand.source.digest:
                    raise _refusal(errand, reason)

    async def _record(self, errand: _Errand, answer: SessionReceived | None) -> Sent:
        """Write the ledger: `sent` until the receiver has answered."""
        errand.sent_at = errand.sent_at or rfc3339()
        entry = Sent(
            session_id=errand.asked.session_id,
            peer=errand.asked.peer,
            cwd=errand.cwd,
            bytes=errand.source.size,
            digest=errand.source.digest,
            state="sent",
            sent_at=errand.sent_at,
        )
        entry = entry if answer is None else _settled(entry, answer)
        await asyncio.to_thread(self._ledger.record_sent, entry)
        return entry

    def _record_late(self, peer: str, message: SessionReceived) -> None:
        entry = self._ledger.sent(message.session_id)
        if entry is not None and entry.peer == peer and entry.state == "sent":
            self._ledger.record_sent(_settled(entry, message))


def _settled(entry: Sent, answer: SessionReceived) -> Sent:
    return msgspec.structs.replace(
        entry,
        state="received",
        received_at=rfc3339(),
        remote_path=plain(answer.path[:MAX_SHOWN]),
        resume=plain(answer.resume[:MAX_SHOWN]),
    )


def _refusal(errand: _Errand, reason: str) -> HoplineError:
    return Refused(f"{errand.asked.peer} refused the session: {plain(reason[:MAX_SHOWN])}", code="transfer_refused")


def _chunk(errand: _Errand, seq: int, packing: bool) -> SessionTransfer:
    """The frame of one chunk. Blocking. Raises TranscriptLost."""
    source = errand.source
    data = source.read(seq)
    block = packed(data) if packing else None
    return SessionTransfer(
        session_id=errand.asked.session_id,
        cwd=errand.cwd,
        seq=seq,
        total=source.total,
        digest=source.digest,
        data=data if block is None else block,
        packed=UNSET if block is None else True,
    )
