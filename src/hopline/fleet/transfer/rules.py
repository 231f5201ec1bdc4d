"""What a receiver does with each chunk of a conversation. Pure (docs/wire/peer.md, "Conversation transfer").

The order of the checks is contract: id, working directory, digest, count, bound, room, length, what is in place, what
came before. All but the last two are known from the claim alone, and all are made before anything is written.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto

from hopline.fleet.transfer.placement import Placement, is_session_id, place, why_not_cwd
from hopline.fleet.transfer.plan import MAX_RECEIVE_BYTES, chunk_count
from hopline.wire.peer.limits import CHUNK_BYTES

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Bound:
    """How much a receiver takes.

    Args:
        transcript_bytes: of one transcript.
        free_bytes: that the volume has, less what stays free; None when it was not looked at.
    """

    transcript_bytes: int = MAX_RECEIVE_BYTES
    free_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A transcript that a peer wants placed, found good so far."""

    session_id: str
    cwd: str
    digest: str
    total: int
    placement: Placement


class InPlace(Enum):
    """What stands where the transcript should go."""

    NOTHING = auto()
    THE_SAME = auto()
    ANOTHER = auto()


@dataclass(frozen=True, slots=True)
class Refuse:
    """Write nothing. `token` names the reason in logs and documents, `reason` is a sentence for both ends."""

    token: str
    reason: str


@dataclass(frozen=True, slots=True)
class AlreadyPresent:
    """The very same transcript is in place: success, nothing to write."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Add the chunk to the part file; begin that anew first when `restart`; place the whole when `last`."""

    restart: bool
    last: bool


Decision = Refuse | AlreadyPresent | Keep


def claim(session_id: str, cwd: str, digest: str, total: int) -> Claim | Refuse:
    """What the keys that all chunks share say, checked."""
    if not is_session_id(session_id):
        return Refuse(
            "PL-TRANSFER-ID",
            f"{session_id[:40]!r} is no session id: 1 to 128 of letters, digits, _ and -, not beginning with -.",
        )
    if (wrong := why_not_cwd(cwd)) is not None:
        return Refuse("PL-TRANSFER-CWD", f"the working directory {cwd[:200]!r} {wrong}; give another --remote-cwd.")
    if _DIGEST.fullmatch(digest.lower()) is None:
        return Refuse("PL-TRANSFER-DIGEST", f"{digest[:80]!r} is no SHA-256 of 64 hexadecimal digits.")
    if total < 1:
        return Refuse("PL-TRANSFER-COUNT", f"a transcript of {total} chunks; at least 1 is taken.")
    return Claim(session_id, cwd, digest.lower(), total, place(cwd, session_id))


def admit(total: int, held_bytes: int, bound: Bound) -> Refuse | None:
    """Whether a transcript of `total` chunks fits, `held_bytes` of which are here already. None when it does."""
    least = (total - 1) * CHUNK_BYTES
    if total > chunk_count(bound.transcript_bytes):
        return Refuse(
            "PL-TRANSFER-BOUND",
            f"a transcript of {total} chunks, at least {least} bytes; at most {bound.transcript_bytes} are taken.",
        )
    if bound.free_bytes is not None and least - held_bytes > bound.free_bytes:
        return Refuse(
            "PL-TRANSFER-ROOM",
            f"no room for {least - held_bytes} bytes, {max(0, bound.free_bytes)} are free; make room on the receiver.",
        )
    return None


def decide(claimed: Claim, seq: int, length: int, in_place: InPlace, part_bytes: int) -> Decision:
    """What to do with chunk `seq` of `length` bytes, when the part file has `part_bytes`."""
    if not 0 <= seq < claimed.total:
        return Refuse("PL-TRANSFER-COUNT", f"chunk {seq} of {claimed.total}.")
    last = seq == claimed.total - 1
    if length > CHUNK_BYTES or (length != CHUNK_BYTES and not last):
        return Refuse("PL-TRANSFER-LENGTH", f"chunk {seq} of {claimed.total} has {length} bytes, not {CHUNK_BYTES}.")
    if (settled := standing(claimed, in_place)) is not None:
        return settled
    if seq and part_bytes != seq * CHUNK_BYTES:
        return Refuse(
            "PL-TRANSFER-ORDER",
            f"chunk {seq} came when {part_bytes} bytes were here, not {seq * CHUNK_BYTES}; begin anew.",
        )
    return Keep(restart=seq == 0, last=last)


def standing(claimed: Claim, in_place: InPlace) -> Refuse | AlreadyPresent | None:
    """What is decided by what stands where the transcript should go; None when nothing does."""
    if in_place is InPlace.THE_SAME:
        return AlreadyPresent()
    if in_place is InPlace.ANOTHER:
        return Refuse(
            "PL-TRANSFER-KEEPS",
            f"another file is at ~/{claimed.placement.path}, and is never overwritten; "
            "move it away, or give another --remote-cwd.",
        )
    return None
