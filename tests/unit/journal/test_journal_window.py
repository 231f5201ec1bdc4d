from journal_events import line

from hopline.journal.port import NOTHING, Slice
from hopline.journal.window import Chunk, Window


def chunk(first: int, last: int) -> Chunk:
    return Chunk(first, last, data(first, last))


def data(first: int, last: int) -> bytes:
    return b"".join(line(sequence) + b"\n" for sequence in range(first, last + 1))


def full_window(max_bytes: int = 1 << 20) -> Window:
    window = Window(0, max_bytes)
    for first in range(1, 100, 3):
        window.add([chunk(first, first + 2)])
    return window


def test_a_slice_begins_after_any_cursor_and_ends_before_any_bound() -> None:
    window = full_window()
    for after in range(99):
        for before in (None, after + 2, after + 5, 99, 100, 1000):
            last = min(99, 99 if before is None else before - 1)
            found = window.read(after, before, 1 << 20)
            if last <= after:
                assert found == NOTHING
            else:
                assert found == Slice(after + 1, last, last - after, data(after + 1, last))


def test_a_slice_holds_as_many_lines_as_fit_and_at_least_one() -> None:
    window = full_window()
    size = len(line(10)) + 1
    for after in range(9, 90):
        for room, count in ((1, 1), (size, 1), (2 * size - 1, 1), (2 * size, 2), (7 * size + 3, 7)):
            found = window.read(after, None, room)
            assert found is not None
            assert (found.first, found.count) == (after + 1, count)
            assert found.data == data(after + 1, after + count)
            assert found.last == after + count


def test_nothing_is_read_at_or_past_the_newest() -> None:
    window = full_window()
    assert window.read(99, None, 100) == NOTHING
    assert window.read(1000, None, 100) == NOTHING
    assert window.read(50, 51, 100) == NOTHING
    assert Window(7).read(3, None, 100) is None
    assert Window(7).read(7, None, 100) == NOTHING


def test_it_keeps_to_its_bound_and_says_when_it_does_not_reach_back() -> None:
    window = full_window(max_bytes=len(data(91, 99)))
    assert window.read(89, None, 100) is None
    found = window.read(90, None, 1 << 20)
    assert found is not None
    assert found.data == data(91, 99)
    assert window.committed == 99


def test_the_newest_chunk_stays_however_large_it_is() -> None:
    window = Window(0, max_bytes=10)
    window.add([chunk(1, 50)])
    found = window.read(0, None, 1 << 20)
    assert found is not None
    assert found.count == 50


def test_watchers_at_one_cursor_share_one_slice() -> None:
    window = full_window()
    assert window.read(40, None, 1 << 20) is window.read(40, None, 1 << 20)
    before = window.read(40, None, 1 << 20)
    window.add([chunk(100, 102)])
    after = window.read(40, None, 1 << 20)
    assert before is not None
    assert after is not None
    assert (before.last, after.last) == (99, 102)


def test_many_little_chunks_do_not_pile_up() -> None:
    window = Window(0)
    for sequence in range(1, 30_001):
        window.add([chunk(sequence, sequence)])
    assert window.read(0, None, 100) is None
    found = window.read(29_000, None, 1 << 20)
    assert found is not None
    assert found.data == data(29_001, 30_000)
