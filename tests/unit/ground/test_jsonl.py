from hypothesis import given
from hypothesis import strategies as st

from hopline.wire.jsonl import LineSplitter


def test_lines_are_cut_at_the_newline_byte_only() -> None:
    assert LineSplitter().receive("a\u2028b\r\n\x0b\n".encode()) == ["a\u2028b\r".encode(), b"\x0b"]


def test_a_partial_line_waits_and_is_seen() -> None:
    splitter = LineSplitter()
    assert splitter.receive(b"ab") == []
    assert splitter.partial()
    assert splitter.receive(b"c\n") == [b"abc"]
    assert not splitter.partial()


def test_a_line_over_the_bound_is_refused_before_it_ends_and_the_next_is_read() -> None:
    splitter = LineSplitter(4)
    assert splitter.receive(b"abcd\nabcde") == [b"abcd", None]
    assert splitter.partial()
    assert splitter.receive(b"fghijkl") == []
    assert splitter.receive(b"mn\nok\n") == [b"ok"]


def test_whole_lines_over_the_bound_are_refused_in_their_place() -> None:
    assert LineSplitter(2).receive(b"a\nbbb\ncc\n") == [b"a", None, b"cc"]


def test_long_lines_are_cut_like_short_ones() -> None:
    line = b"x" * 5000
    splitter = LineSplitter()
    assert splitter.receive(line + b"\n\nab\n" + line + b"\ncd") == [line, b"", b"ab", line]
    assert splitter.receive(b"e\n") == [b"cde"]


def test_a_bounded_splitter_holds_no_more_than_its_bound() -> None:
    splitter = LineSplitter(10)
    for _ in range(1000):
        splitter.receive(b"x" * 9)
    assert len(b"".join(splitter._parts)) <= 10


@given(
    lines=st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b""))),
    size=st.integers(1, 9),
    bound=st.none() | st.integers(0, 8),
)
def test_chunking_never_matters(lines: list[bytes], size: int, bound: int | None) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    splitter = LineSplitter(bound)
    got = [line for start in range(0, len(stream), size) for line in splitter.receive(stream[start : start + size])]
    assert got == [line if bound is None or len(line) <= bound else None for line in lines]
    assert not splitter.partial()
