"""Chunks as LZ4 blocks, where both ends agreed to `session-lz4`. Pure (docs/wire/peer.md, "Beyond the seed").

Base64 hides from a frame's own compression what repeats in a transcript; so the chunk is compressed before it.
"""

import struct

import lz4.block  # type: ignore[import-untyped]  # the package ships no types

from hopline.wire.peer.negotiation import FRAME_BIN, SESSION_LZ4, SESSION_RAW

FAST_PATH = 150e6
"""Bytes of transcript a second, from which on compressing takes longer than the bytes that it spares."""
WINDOW_BYTES = 4 << 20
"""How much is sent between two looks at that: more than what waits at this end to be sent."""

_LENGTH = struct.Struct("<I")
_WORTH = 0.9
"""A block that is hardly smaller is not worth undoing."""


def packed(data: bytes) -> bytes | None:
    """The chunk's length (u32, little endian) and its LZ4 block; None where that is hardly smaller."""
    block: bytes = lz4.block.compress(data, store_size=True)
    return block if len(block) < len(data) * _WORTH else None


def claimed_length(block: bytes) -> int:
    """How long the chunk is said to be; -1 for what cannot be a block. Nothing is decompressed."""
    if len(block) <= _LENGTH.size:
        return -1
    length: int
    (length,) = _LENGTH.unpack_from(block)
    return length


def unpacked(block: bytes) -> bytes | None:
    """The chunk, whose claimed length was found good; None when the block does not hold exactly that."""
    try:
        data: bytes = lz4.block.decompress(block)
    except lz4.block.LZ4BlockError:
        return None
    return data if len(data) == claimed_length(block) else None


class Pacing:
    """Whether the next chunks are compressed: where they may stay as they are, only while the path is not fast.

    Args:
        features: that both ends agreed to.
        now: monotonic seconds, as in every call.
    """

    def __init__(self, features: frozenset[str], now: float) -> None:
        self.packing = SESSION_LZ4 in features
        self._fixed = not {FRAME_BIN, SESSION_RAW, SESSION_LZ4} <= features
        self._began = now
        self._length = self._sent = 0

    def sent(self, length: int, sent: int, now: float) -> None:
        """A chunk of `length` bytes is on its way, as `sent` of them."""
        self._length += length
        self._sent += sent
        if self._fixed or self._sent < WINDOW_BYTES:
            return
        fast = self._length >= FAST_PATH * (now - self._began)
        self._fixed = not (fast or self.packing)  # it was tried, and was slow
        self.packing = not fast
        self._began, self._length, self._sent = now, 0, 0
