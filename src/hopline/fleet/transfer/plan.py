"""How a transcript of a given size is cut into chunks. Pure (docs/wire/peer.md, "Conversation transfer")."""

from dataclasses import dataclass

from hopline.wire.peer.limits import CHUNK_BYTES

MAX_RECEIVE_BYTES = 4 << 30
"""The longest transcript that is taken."""


def chunk_count(size: int) -> int:
    """How many chunks `size` bytes make; an empty transcript is one empty chunk (PL-TRANSFER-CHUNKS)."""
    return max(1, -(-size // CHUNK_BYTES))


@dataclass(frozen=True, slots=True)
class Span:
    """One chunk: `length` bytes at `offset` of the transcript."""

    seq: int
    offset: int
    length: int


def span(seq: int, size: int) -> Span:
    """The chunk `seq` of a transcript of `size` bytes."""
    offset = seq * CHUNK_BYTES
    return Span(seq, offset, min(CHUNK_BYTES, size - offset))


def kept_chunks(part_bytes: int, total: int) -> int:
    """How many chunks a part file of `part_bytes` spares the sender: whole ones, and never the last.

    The last chunk is always sent again, because it is the one that is answered.
    """
    return min(part_bytes // CHUNK_BYTES, total - 1)
