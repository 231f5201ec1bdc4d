"""One transfer as its sender sees it: what is sent, how far it is, what is said of it."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from msgspec import UNSET

from hopline.clock import rfc3339
from hopline.errors import HoplineError, Refused
from hopline.fleet.transfer.ledger import Sent
from hopline.fleet.transfer.packing import packed
from hopline.fleet.transfer.source import Source
from hopline.rendering import plain
from hopline.wire.hub.sessions import SendProgress, SendSession
from hopline.wire.peer.transfer import SessionReceived, SessionTransfer

PROGRESS_SECONDS = 0.1
"""Between two words on how far it is."""
MAX_SHOWN = 8192
"""Characters that are kept of what a peer says about a session."""

Tell = Callable[[msgspec.Struct], None]


@dataclass(slots=True)
class Errand:
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

    def entry(self, state: str) -> Sent:
        """For the ledger."""
        return Sent(
            session_id=self.asked.session_id,
            peer=self.asked.peer,
            cwd=self.cwd,
            bytes=self.source.size,
            digest=self.source.digest,
            state=state,
            sent_at=self.sent_at or rfc3339(),
        )

    def progress(self, state: str, done: int, *, now: bool = True) -> None:
        """Tell the asker; at most ten times a second unless `now`."""
        moment = time.monotonic()
        if now or moment - self.told_at >= PROGRESS_SECONDS:
            self.told_at = moment
            self.tell(SendProgress(state=state, done=done, size=self.source.size))


def same(one: Sent, other: Sent) -> bool:
    """Whether both are of one transcript for one place."""
    return (one.peer, one.cwd, one.digest) == (other.peer, other.cwd, other.digest)


def settled(entry: Sent, answer: SessionReceived) -> Sent:
    """The ledger's record once the receiver has said that it has it. What it says is cut and made printable."""
    return msgspec.structs.replace(
        entry,
        state="received",
        received_at=rfc3339(),
        remote_path=plain(answer.path[:MAX_SHOWN]),
        resume=plain(answer.resume[:MAX_SHOWN]),
    )


def refusal(errand: Errand, reason: str) -> HoplineError:
    """The receiver's refusal, for the person who sends."""
    return Refused(f"{errand.asked.peer} refused the session: {plain(reason[:MAX_SHOWN])}", code="transfer_refused")


def frame_of(errand: Errand, seq: int, packing: bool) -> SessionTransfer:
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
