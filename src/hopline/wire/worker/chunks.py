"""One read of a raw stream in, ready frames out: text where a chunk is valid UTF-8 as a whole, base64 otherwise.

Source: docs/wire/worker.md, "Output" (WW-CHUNKS). Nothing is held back between reads: joining a scalar that was cut
is the controller's work.
"""

from typing import Literal

import msgspec

from hopline.wire.worker.messages import Stderr, StderrBytes, Stdout, StdoutBytes

CHUNK_BYTES = 64 * 1024
"""Largest chunk; frames of this size cost the least (larger ones pay for page faults)."""

RawStream = Literal["stdout", "stderr"]

_KINDS = {"stdout": (Stdout, StdoutBytes), "stderr": (Stderr, StderrBytes)}
_encode_lines = msgspec.json.Encoder().encode_lines


def frames_for(stream: RawStream, data: bytes | bytearray | memoryview) -> list[bytes]:
    """The frames, newline included, whose decoded data joined is exactly `data`.

    Args:
        stream: which of the worker's two.
        data: what one read returned, at most 256 KiB; may be a view of a buffer that is reused afterwards.
    """
    text_kind, bytes_kind = _KINDS[stream]
    view = memoryview(data)
    frames = []
    start = 0
    for end in _cuts(view):
        chunk = view[start:end]
        start = end
        try:
            frames.append(_encode_lines((text_kind(str(chunk, "utf-8")),)))
        except UnicodeDecodeError:
            frames.append(_encode_lines((bytes_kind(bytes(chunk)),)))
    return frames


def _cuts(view: memoryview) -> list[int]:
    """Where chunks end: scalars at both ends of the read that it holds only in part stand alone, so that they do not
    turn their neighbours into base64."""
    size = len(view)
    head = 0
    while head < min(3, size) and view[head] & 0xC0 == 0x80:
        head += 1
    cuts = [head] if head else []
    tail = size - _incomplete(view, head)
    at = head
    while tail - at > CHUNK_BYTES:
        at += CHUNK_BYTES
        back = at
        while at - back < 4 and view[back] & 0xC0 == 0x80:
            back -= 1
        if at - back < 4:
            at = back
        cuts.append(at)
    if tail > at:
        cuts.append(tail)
    if size > tail:
        cuts.append(size)
    return cuts


def _incomplete(view: memoryview, start: int) -> int:
    """How many bytes at the end begin a scalar whose rest is not there."""
    for back in range(1, min(3, len(view) - start) + 1):
        byte = view[-back]
        if byte & 0xC0 != 0x80:
            needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC2 else 1
            return back if needed > back and byte < 0xF5 else 0
    return 0
