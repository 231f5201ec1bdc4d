"""Every code point cut at every byte offset through the relay's chunking."""

import itertools

from hopline.wire.worker.chunks import frames_for
from hopline.wire.worker.codec import decode_event
from hopline.wire.worker.messages import RawOutput


def decoded(frame: bytes) -> bytes:
    event = decode_event(frame[:-1])
    assert isinstance(event, RawOutput)
    return event.data.encode() if isinstance(event.data, str) else event.data


def test_every_code_point_cut_at_every_byte_offset_is_kept() -> None:
    """WW-CHUNKS"""
    for point in itertools.chain(range(0xD800), range(0xE000, 0x110000)):
        scalar = chr(point).encode()
        for offset in range(1, len(scalar)):
            frames = [*frames_for("stdout", scalar[:offset]), *frames_for("stdout", scalar[offset:])]
            assert b"".join(map(decoded, frames)) == scalar
