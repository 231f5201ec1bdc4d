"""Frames and chunks of the worker wire: what is encoded is decoded, and no bytes ever raise anything but a refusal."""

import types
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopline.wire.worker.chunks import frames_for
from hopline.wire.worker.codec import FrameRefused, decode_command, decode_event, decode_semantic, encode
from hopline.wire.worker.messages import Cells, Command, Event, Frame, RawOutput, SemanticEvent

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
OF_TYPE: dict[object, st.SearchStrategy[object]] = {
    bytes: st.binary(max_size=20),
    str: TEXT,
    bool: st.booleans(),
    int: st.integers(0, 2**64 - 1),
    Cells: st.integers(1, 65_535),
}
DECODERS = {Command: decode_command, SemanticEvent: decode_semantic, Event: decode_event}


def frames(union: types.UnionType) -> st.SearchStrategy[Frame]:
    """Any frame of a union, optional fields there or not."""
    strategies = []
    for kind in get_args(union):
        fields = {name: OF_TYPE.get(given_as) for name, given_as in kind.__annotations__.items()}
        required = {name: strategy for name, strategy in fields.items() if strategy is not None}
        strategies.append(st.builds(kind, **required))
        if "request_id" in fields and "request_id" not in required:
            strategies.append(st.builds(kind, **required, request_id=OF_TYPE[int]))
        if "error" in fields:
            strategies.append(st.builds(kind, **required, error=TEXT))
    return st.one_of(strategies)


@pytest.mark.parametrize("union", DECODERS)
def test_what_is_encoded_is_decoded_to_the_same_frame(union: types.UnionType) -> None:
    """WW-STRICT"""

    @given(frames(union))
    def holds(frame: Frame) -> None:
        line = encode(frame)
        assert line.count(b"\n") == 1
        assert DECODERS[union](line[:-1]) == frame

    holds()


@pytest.mark.parametrize("union", DECODERS)
def test_bytes_that_are_no_frame_are_refused_and_nothing_else_is_raised(union: types.UnionType) -> None:
    """WW-STRICT"""

    @given(st.binary(max_size=200))
    def holds(line: bytes) -> None:
        with pytest.raises(FrameRefused):
            DECODERS[union](line)

    holds()


@pytest.mark.parametrize("union", DECODERS)
def test_a_frame_with_bytes_changed_is_another_frame_or_refused(union: types.UnionType) -> None:
    """WW-STRICT"""

    @given(frames(union), st.data())
    def holds(frame: Frame, data: st.DataObject) -> None:
        line = bytearray(encode(frame)[:-1])
        for _ in range(data.draw(st.integers(1, 3))):
            at = data.draw(st.integers(0, len(line)))
            line[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
        try:
            again = DECODERS[union](bytes(line))
        except FrameRefused:
            return
        assert DECODERS[union](encode(again)[:-1]) == again

    holds()


PIECES = st.one_of(
    st.binary(max_size=12),
    TEXT.map(str.encode),
    st.sampled_from([b"\xf0\x9f", b"\x98\x80", b"\xe2\x82", b"\xac", b"\xc3", b"\xa9", b"\xff", b"\x80\x80\x80\x80"]),
)


@given(st.lists(PIECES, max_size=12))
def test_chunks_joined_are_the_bytes_however_they_were_read(reads: list[bytes]) -> None:
    """WW-CHUNKS"""
    joined = b""
    for read in reads:
        for frame in frames_for("stderr", read):
            event = decode_event(frame[:-1])
            assert isinstance(event, RawOutput)
            assert event.data
            if isinstance(event.data, str):
                joined += event.data.encode()
            else:
                with pytest.raises(UnicodeDecodeError):
                    event.data.decode()
                joined += event.data
    assert joined == b"".join(reads)
