"""Chunks as LZ4 blocks, where both ends agreed to `session-lz4`. Pure (docs/wire/peer.md, "Beyond the seed").

Base64 hides from a frame's own compression what repeats in a transcript; so the chunk is compressed before it.
"""

import struct

import lz4.block  # type: ignore[import-untyped]  # the package ships no types

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
