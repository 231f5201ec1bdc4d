"""Any bytes in any pieces: the chunks give exactly those bytes back, contiguous, each one a valid JSON string."""

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopline.wire.worker.codec import FrameRefused, decode_event, encode
from hopline.wire.worker.messages import Stderr, StderrBytes, Stdout, StdoutBytes
from hopline.wire.worker.output import OutputChunk, OutputJoiner, Stream


def octets(chunk: OutputChunk) -> bytes:
    text = json.loads(b'"' + chunk.content_json + b'"')
    return text.encode() if chunk.raw is None else base64.b64decode(chunk.raw, validate=True)


def hear(joiner: OutputJoiner, line: bytes) -> tuple[Stream, bytes] | None:
    """Give a line to the joiner as a controller does; what the line says by the strict decoder's word."""
    event = decode_event(line)
    match event:
        case Stdout(data=text):
            joiner.text("stdout", line, text)
            return "stdout", text.encode()
        case Stderr(data=text):
            joiner.text("stderr", line, text)
            return "stderr", text.encode()
        case StdoutBytes(data=data):
            joiner.octets("stdout", data)
            return "stdout", data
        case StderrBytes(data=data):
            joiner.octets("stderr", data)
            return "stderr", data
        case _:
            return None


def frame(stream: Stream, data: bytes, *, as_bytes: bool) -> bytes:
    try:
        text = None if as_bytes else data.decode()
    except UnicodeDecodeError:
        text = None
    if stream == "stdout":
        return encode(StdoutBytes(data=data) if text is None else Stdout(data=text))[:-1]
    return encode(StderrBytes(data=data) if text is None else Stderr(data=text))[:-1]


def check(chunks: list[OutputChunk], written: dict[Stream, bytes]) -> None:
    given_back: dict[Stream, bytes] = {"stdout": b"", "stderr": b""}
    for chunk in chunks:
        data = octets(chunk)
        assert chunk.size == len(data) > 0
        assert chunk.offset == len(given_back[chunk.stream])
        given_back[chunk.stream] += data
    assert given_back == written


text_like = st.text(st.characters(exclude_categories=["Cs"])).map(str.encode)
mixed = st.lists(st.one_of(st.binary(max_size=40), text_like, st.just(b'"\\\n\x00'))).map(b"".join)


@given(mixed, st.data())
def test_any_chunking_of_any_bytes_gives_the_bytes_back(data: bytes, draw: st.DataObject) -> None:
    joiner = OutputJoiner()
    written: dict[Stream, bytes] = {"stdout": b"", "stderr": b""}
    chunks: list[OutputChunk] = []
    rest = data
    while rest:
        size = draw.draw(st.integers(1, len(rest)))
        stream: Stream = draw.draw(st.sampled_from(["stdout", "stderr"]))
        piece, rest = rest[:size], rest[size:]
        hear(joiner, frame(stream, piece, as_bytes=draw.draw(st.booleans())))
        written[stream] += piece
        if draw.draw(st.booleans()):
            chunks += joiner.take()
    joiner.close("stdout")
    joiner.close("stderr")
    check(chunks + joiner.take(), written)


json_pieces = st.sampled_from(
    [
        b'"',
        b"\\",
        b"\\u0022",
        b"\\u005c",
        b"\\ud83d",
        b"\\ude00",
        b",",
        b'"data":"',
        b'","data":"',
        b"}",
        b"a",
        b"\xc3\xa9",
    ]
)


@settings(max_examples=500)
@given(st.lists(json_pieces, max_size=12).map(b"".join))
def test_a_line_is_spliced_only_when_that_says_what_the_decoder_said(body: bytes) -> None:
    joiner = OutputJoiner()
    line = b'{"kind":"stdout","data":"' + body + b'"}'
    try:
        said = hear(joiner, line)
    except FrameRefused:
        return
    assert said is not None
    check(joiner.take(), {"stdout": said[1], "stderr": b""})


@pytest.mark.parametrize(
    ("first", "last", "cut"),
    [
        (0x80, 0x7FF, 1),
        (0x800, 0xFFFF, 1),
        (0x800, 0xFFFF, 2),
        (0x10000, 0x10FFFF, 1),
        (0x10000, 0x10FFFF, 2),
        (0x10000, 0x10FFFF, 3),
    ],
)
def test_every_code_point_split_at_every_byte_comes_out_whole(first: int, last: int, cut: int) -> None:
    """WW-UTF8-JOIN: each frame holds the end of one scalar and the beginning of the next."""
    joiner = OutputJoiner()
    every = "".join(chr(code) for code in range(first, last + 1) if not 0xD800 <= code < 0xE000)
    before = b""
    for character in every:
        scalar = character.encode()
        joiner.octets("stdout", before + scalar[:cut])
        before = scalar[cut:]
    joiner.octets("stdout", before)
    joiner.close("stdout")
    assert b"".join(chunk.content_json for chunk in joiner.take()) == every.encode()
