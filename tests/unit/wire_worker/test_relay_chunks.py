"""WW-CHUNKS: text if and only if a chunk is valid UTF-8, and joined chunks are the exact bytes."""

import itertools

import pytest

from hopline.wire.worker.chunks import CHUNK_BYTES, RawStream, frames_for
from hopline.wire.worker.codec import decode_event
from hopline.wire.worker.messages import Stderr, StderrBytes, Stdout, StdoutBytes


def chunks(data: bytes, stream: RawStream = "stdout") -> list[str | bytes]:
    """The chunks of one read: str for text frames, bytes for base64 frames."""
    out: list[str | bytes] = []
    for frame in frames_for(stream, data):
        assert frame.endswith(b"\n")
        assert frame.count(b"\n") == 1
        event = decode_event(frame[:-1])
        assert isinstance(event, Stdout | StdoutBytes if stream == "stdout" else Stderr | StderrBytes)
        out.append(event.data)
    return out


def joined(parts: list[str | bytes]) -> bytes:
    return b"".join(part.encode() if isinstance(part, str) else part for part in parts)


def test_a_read_of_ascii_is_one_text_chunk() -> None:
    assert chunks(b"hello\n") == ["hello\n"]
    assert chunks(b"hello\n", "stderr") == ["hello\n"]


def test_control_bytes_stay_text() -> None:
    assert chunks(b"\0\x1b[0m\r\x7f\xe2\x80\xa8") == ["\0\x1b[0m\r\x7f\u2028"]


def test_a_large_read_is_cut_into_chunks_of_64_kib() -> None:
    parts = chunks(b"a" * (3 * CHUNK_BYTES + 5))
    assert [len(part) for part in parts] == [CHUNK_BYTES] * 3 + [5]


def test_a_chunk_edge_moves_to_the_scalar_edge_before_it() -> None:
    for lead in range(4):
        data = b"a" * (CHUNK_BYTES - lead) + "\U0001f600".encode() * 3
        parts = chunks(data)
        assert all(isinstance(part, str) for part in parts)
        assert joined(parts) == data
        assert len(parts) == 2


def test_a_run_of_continuation_bytes_does_not_move_the_edge() -> None:
    data = b"a" + b"\x80" * (2 * CHUNK_BYTES)
    assert [len(part) for part in chunks(data)] == [CHUNK_BYTES, CHUNK_BYTES, 1]


def test_invalid_bytes_make_their_chunk_base64_and_leave_the_others_text() -> None:
    data = b"a" * CHUNK_BYTES + b"\xff" + b"b" * (CHUNK_BYTES - 1) + b"c" * 10
    assert [type(part) for part in chunks(data)] == [str, bytes, str]


@pytest.mark.parametrize("text", ["é", "€", "\U0001f600"])
def test_a_scalar_cut_by_a_read_stands_alone_on_both_sides(text: str) -> None:
    whole = text.encode()
    for cut in range(1, len(whole)):
        first, second = chunks(b"before" + whole[:cut]), chunks(whole[cut:] + b"after")
        assert first == ["before", whole[:cut]]
        assert second == [whole[cut:], "after"]


@pytest.mark.parametrize("tail", [b"\xc0", b"\xc1", b"\xf5", b"\xff", b"\x80", b"\xf8\x80", b"\xf5\x80\x80"])
def test_bytes_that_begin_no_scalar_are_not_taken_for_one(tail: bytes) -> None:
    assert chunks(b"before" + tail) == [b"before" + tail]


def test_a_view_of_a_reused_buffer_is_not_kept() -> None:
    buffer = bytearray(b"\xff\xfe text")
    frames = frames_for("stdout", memoryview(buffer))
    buffer[:] = b"overwritten"[: len(buffer)]
    assert joined([decode_event(frame[:-1]).data for frame in frames]) == b"\xff\xfe text"  # type: ignore[union-attr]  # raw kinds alone


def test_code_points_cut_at_every_byte_offset_are_kept() -> None:
    """Every 61st here; all of them in tests/soak."""
    for point in itertools.chain(range(0, 0xD800, 61), range(0xE000, 0x110000, 61)):
        scalar = chr(point).encode()
        for offset in range(len(scalar) + 1):
            reads = [part for part in (scalar[:offset], scalar[offset:]) if part]
            assert joined([part for read in reads for part in chunks(read)]) == scalar


def test_every_scalar_length_at_every_offset_of_a_short_read_is_kept() -> None:
    text = "aé€\U0001f600z\x00\u2028".encode()
    for first, second in itertools.combinations(range(len(text) + 1), 2):
        reads = [text[:first], text[first:second], text[second:]]
        assert joined([part for read in reads if read for part in chunks(read)]) == text


def test_every_byte_value_is_kept() -> None:
    data = bytes(range(256)) * 3
    assert joined(chunks(data)) == data
