"""The receiver's side of the disk: looks, writes and places as the rules decide. Blocking; one thread at a time."""

from pathlib import Path

from hopline.clock import rfc3339
from hopline.fleet.transfer.ledger import Ledger, Received
from hopline.fleet.transfer.packing import unpacked
from hopline.fleet.transfer.parts import Parts
from hopline.fleet.transfer.placement import reading
from hopline.fleet.transfer.plan import MAX_RECEIVE_BYTES, kept_chunks
from hopline.fleet.transfer.rules import AlreadyPresent, Bound, Claim, InPlace, Refuse, admit, standing
from hopline.fleet.transfer.transcript_files import Standing, is_journal
from hopline.wire.peer.limits import CHUNK_BYTES
from hopline.wire.peer.transfer import SessionReceived


class Intake:
    """What arrives, on the disk.

    Args:
        folder: private and made; holds the parts.
        ledger: of what was received.
        home: under which transcripts are placed.
        bound: on one transcript, in bytes.
    """

    def __init__(self, folder: Path, ledger: Ledger, home: Path, bound: int = MAX_RECEIVE_BYTES) -> None:
        self._parts = Parts(folder)
        self._ledger = ledger
        self._home = home
        self._bound = bound
        self._standing = Standing()

    def close(self) -> None:
        """Let go of the parts; they stay for a sender that comes back."""
        self._parts.close()

    def in_place(self, claimed: Claim) -> InPlace:
        """What stands where the transcript should go. Raises OSError."""
        return self._standing.look(self._target(claimed), claimed.digest, claimed.total)

    def admit(self, claimed: Claim, *, anew: bool) -> tuple[int, Refuse | None]:
        """Bytes of the part that is here, and why the rest cannot come; `anew` when those will be sent again."""
        held = self._parts.held(claimed.digest)
        bound = Bound(self._bound, self._parts.spare() + (held if anew else 0))
        return held, admit(claimed.total, 0 if anew else held, bound)

    def resume(self, claimed: Claim) -> int | Refuse | AlreadyPresent:
        """With which chunk an offered transcript shall begin. Raises OSError."""
        if (settled := standing(claimed, self.in_place(claimed))) is not None:
            return settled
        held, refused = self.admit(claimed, anew=False)
        if refused is not None:
            return refused
        kept = kept_chunks(held, claimed.total)
        if kept:
            self._parts.cut(claimed.digest, kept * CHUNK_BYTES)
        return kept

    def write(self, claimed: Claim, data: bytes, *, packed: bool, restart: bool) -> Refuse | None:
        """Add a chunk to the part, which begins with it when `restart`. Returns why not. Raises OSError."""
        whole = unpacked(data) if packed else data
        if whole is None:
            self._parts.forget(claimed.digest)
            return Refuse("PL-TRANSFER-PACKED", "a compressed chunk that does not hold what it claims.")
        if restart:
            self._parts.restart(claimed.digest)
        self._parts.append(claimed.digest, whole)
        return None

    def finish(self, claimed: Claim, peer: str) -> Refuse | None:
        """Check the whole and give it its place, durably. Returns why not. Raises OSError."""
        size = self._parts.held(claimed.digest)
        if not self._parts.is_whole(claimed.digest):
            return Refuse("PL-TRANSFER-WHOLE", "what arrived is not what its SHA-256 says; send it again.")
        target = self._target(claimed)
        try:
            self._parts.place(claimed.digest, target)
        except FileExistsError:
            settled = standing(claimed, self.in_place(claimed))
            return settled if isinstance(settled, Refuse) else None
        answer = self.answer(claimed)
        self._ledger.record_received(
            Received(
                session_id=claimed.session_id,
                peer=peer,
                cwd=claimed.cwd,
                bytes=size,
                digest=claimed.digest,
                received_at=rfc3339(),
                path=answer.path,
                resume=answer.resume,
            )
        )
        return None

    def answer(self, claimed: Claim) -> SessionReceived:
        """What tells the sender that the transcript is in place. Raises OSError."""
        path = self._target(claimed)
        resume = reading(str(path)) if is_journal(path) else claimed.placement.resume
        return SessionReceived(session_id=claimed.session_id, path=str(path), resume=resume, cwd=claimed.cwd)

    def _target(self, claimed: Claim) -> Path:
        return self._home / claimed.placement.path
