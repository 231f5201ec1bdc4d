"""Raw frames to chunks: what is spliced, what is joined, what is split, what carries its bytes besides."""

import base64
import json

import pytest

from hopline.wire.worker.codec import decode_event, encode
from hopline.wire.worker.messages import Stderr, Stdout
from hopline.wire.worker.output import MAX_CHUNK_BYTES, MERGED_CHUNK_BYTES, OutputChunk, OutputJoiner


def text(chunk: OutputChunk) -> str:
    return str(json.loads(b'"' + chunk.content_json + b'"'))


def octets(chunk: OutputChunk) -> bytes:
    return text(chunk).encode() if chunk.raw is None else base64.b64decode(chunk.raw, validate=True)


def hear(joiner: OutputJoiner, line: bytes) -> None:
    event = decode_event(line)
    assert isinstance(event, Stdout | Stderr)
    joiner.text("stdout" if isinstance(event, Stdout) else "stderr", line, event.data)


def test_a_text_frame_of_our_relay_is_spliced_as_it_stands() -> None:
    joiner = OutputJoiner()
    line = b'{"kind":"stdout","data":"\\u001b[1mb\xc3\xa9\\n"}'
    hear(joiner, line)
    assert joiner.take() == [OutputChunk("stdout", 0, 8, b"\\u001b[1mb\xc3\xa9\\n")]


@pytest.mark.parametrize(
    "line",
    [
        b'{"kind":"stdout","data":"say \\"hi\\""}',
        b'{"data":"say \\"hi\\"","kind":"stdout"}',
        b'{"kind":"stdout", "data":"say \\"hi\\""}',
        b'{"kind":"stdout","data":"say \\u0022hi\\u0022" }',
        b'{"kind":"stdout","data":"say \\"hi\\""}\r',
        b'  {"kind":"stdout","data":"say \\"hi\\""}',
    ],
)
def test_a_frame_that_cannot_be_spliced_is_encoded_again(line: bytes) -> None:
    joiner = OutputJoiner()
    hear(joiner, line)
    assert joiner.take() == [OutputChunk("stdout", 0, 8, b'say \\"hi\\"')]


def test_a_duplicate_data_field_is_never_spliced() -> None:
    joiner = OutputJoiner()
    hear(joiner, b'{"kind":"stdout","data":"shown","data":"decoded"}')
    [chunk] = joiner.take()
    assert chunk.content_json == b"decoded" and chunk.size == len("decoded")


def test_a_scalar_split_over_frames_is_joined() -> None:
    joiner = OutputJoiner()
    joiner.octets("stdout", b"a\xe2")
    joiner.octets("stdout", b"\x82")
    joiner.octets("stdout", b"\xacb")
    assert [(text(chunk), chunk.raw) for chunk in joiner.take()] == [("a€b", None)]


def test_the_streams_are_joined_apart_from_each_other() -> None:
    joiner = OutputJoiner()
    joiner.octets("stdout", b"\xc3")
    joiner.octets("stderr", b"\xc3")
    joiner.octets("stdout", b"\xa9")
    joiner.octets("stderr", b"\xa8")
    assert [(chunk.stream, text(chunk)) for chunk in joiner.take()] == [("stdout", "é"), ("stderr", "è")]


def test_half_a_scalar_before_a_text_frame_keeps_its_bytes() -> None:
    joiner = OutputJoiner()
    joiner.octets("stdout", b"\xe2\x82")
    hear(joiner, encode(Stdout(data="x"))[:-1])
    half, rest = joiner.take()
    assert (half.offset, half.size, octets(half)) == (0, 2, b"\xe2\x82")
    assert text(half) == "\N{REPLACEMENT CHARACTER}"
    assert (rest.offset, rest.size, text(rest)) == (2, 1, "x")


def test_half_a_scalar_at_the_closure_keeps_its_bytes() -> None:
    joiner = OutputJoiner()
    joiner.octets("stderr", b"\xf0\x9f\x98")
    assert joiner.take() == []
    joiner.close("stderr")
    joiner.close("stderr")
    [chunk] = joiner.take()
    assert octets(chunk) == b"\xf0\x9f\x98"


def test_bad_bytes_come_as_text_with_their_bytes_besides() -> None:
    joiner = OutputJoiner()
    joiner.octets("stdout", b"caf\xe9 is latin-1 here, and everything else on this line is plain text")
    [chunk] = joiner.take()
    assert text(chunk).startswith("caf\N{REPLACEMENT CHARACTER} is latin-1")
    assert octets(chunk).startswith(b"caf\xe9 is")


def test_dense_binary_is_shown_as_a_hex_dump_shows_it() -> None:
    joiner = OutputJoiner()
    joiner.octets("stdout", b"\x7fELF\x00\xff\xfe\xfd\x80\t\n")
    [chunk] = joiner.take()
    assert text(chunk) == ".ELF.....\t\n"
    assert octets(chunk) == b"\x7fELF\x00\xff\xfe\xfd\x80\t\n"


def test_small_text_frames_of_one_stream_are_merged_up_to_a_bound() -> None:
    joiner = OutputJoiner()
    line = encode(Stdout(data="x" * 1000))[:-1]
    for _ in range(100):
        hear(joiner, line)
    first, second = joiner.take()
    assert first.size == MERGED_CHUNK_BYTES // 1000 * 1000
    assert (second.offset, first.size + second.size) == (first.size, 100_000)


def test_output_of_another_stream_ends_a_merge() -> None:
    joiner = OutputJoiner()
    for frame in (Stdout(data="a"), Stdout(data="b"), Stderr(data="c"), Stdout(data="d")):
        hear(joiner, encode(frame)[:-1])
    assert [(chunk.stream, chunk.offset, text(chunk)) for chunk in joiner.take()] == [
        ("stdout", 0, "ab"),
        ("stderr", 0, "c"),
        ("stdout", 2, "d"),
    ]


def test_an_empty_frame_gives_no_chunk() -> None:
    joiner = OutputJoiner()
    hear(joiner, encode(Stdout(data=""))[:-1])
    joiner.octets("stdout", b"")
    assert joiner.take() == []


@pytest.mark.parametrize("character", ["\0", "é", "€", "😀"])
def test_a_long_text_frame_is_split_so_that_an_event_stays_in_bounds(character: str) -> None:
    joiner = OutputJoiner()
    data = character * (MAX_CHUNK_BYTES * 3 // len(character.encode()) + 1)
    hear(joiner, encode(Stdout(data=data))[:-1])
    chunks = joiner.take()
    assert "".join(text(chunk) for chunk in chunks) == data
    assert all(chunk.size <= MAX_CHUNK_BYTES and len(chunk.content_json) < 700_000 for chunk in chunks)


def test_a_long_byte_frame_is_split_so_that_an_event_stays_in_bounds() -> None:
    joiner = OutputJoiner()
    data = (b"\0" * 7 + b"\xff" + b"\0" * 20_000) * 20
    joiner.octets("stdout", data)
    chunks = joiner.take()
    assert b"".join(octets(chunk) for chunk in chunks) == data
    assert len(chunks) > 1
    assert all(len(chunk.content_json) + len(chunk.raw or b"") < 900_000 for chunk in chunks)


def test_a_scalar_over_the_split_of_a_long_byte_frame_stays_whole() -> None:
    joiner = OutputJoiner()
    joiner.octets("stdout", b"x" * (MAX_CHUNK_BYTES - 1) + "é".encode() + b"y")
    joiner.close("stdout")
    assert "".join(text(chunk) for chunk in joiner.take()).endswith("xéy")
