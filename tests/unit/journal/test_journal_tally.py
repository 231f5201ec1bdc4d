import random
import zlib

from journal_events import line

from hopline.journal import lines
from hopline.journal.port import Mark
from hopline.journal.tally import MARK_BYTES, Tally


def cut(rows: list[bytes], chance: random.Random) -> list[tuple[bytes, int]]:
    pieces, place = [], 0
    while place < len(rows):
        size = chance.choice([1, 2, 50, 3000])
        pieces.append((b"".join(rows[place : place + size]), min(place + size, len(rows))))
        place += size
    return pieces


def test_marks_and_sum_depend_on_the_bytes_and_not_on_their_pieces() -> None:
    chance = random.Random(7)
    rows = [line(sequence, chance.choice([100, 300, 5000, 400_000])) + b"\n" for sequence in range(1, 60)]
    rows += [line(sequence, 300) + b"\n" for sequence in range(60, 9000)]
    whole = Tally(1)
    expected = whole.feed(b"".join(rows), 8999)
    assert len(expected) > 5
    for _ in range(10):
        tally = Tally(1)
        marks: list[Mark] = []
        for data, last in cut(rows, chance):
            marks += tally.feed(data, last)
        assert marks == expected
        assert (tally.offset, tally.crc32, tally.last_sequence) == (whole.offset, whole.crc32, 8999)


def test_a_mark_says_where_a_line_begins_and_what_lies_before_it() -> None:
    rows = [line(sequence, 1000) + b"\n" for sequence in range(1, 2000)]
    data = b"".join(rows)
    offsets = [0]
    for mark in Tally(1).feed(data, 1999):
        assert lines.sequence_at(data, mark.offset) == mark.sequence
        assert mark.crc32 == zlib.crc32(data[: mark.offset])
        assert MARK_BYTES <= mark.offset - offsets[-1] < MARK_BYTES + 1001
        offsets.append(mark.offset)
    assert len(data) - offsets[-1] < MARK_BYTES + 1001


def test_a_tally_goes_on_from_where_another_stood() -> None:
    rows = [line(sequence, 1000) + b"\n" for sequence in range(1, 2000)]
    whole = Tally(1)
    expected = whole.feed(b"".join(rows), 1999)
    for stop in (1, 262, 263, 264, 1000):
        first = Tally(1)
        marks = first.feed(b"".join(rows[:stop]), stop)
        second = Tally(1, first.offset, first.crc32, marks[-1].offset if marks else 0, stop)
        assert marks + second.feed(b"".join(rows[stop:]), 1999) == expected
        assert second.crc32 == whole.crc32


def test_no_mark_stands_where_no_line_begins() -> None:
    data = line(1, MARK_BYTES) + b"\n"
    tally = Tally(1)
    assert tally.feed(data, 1) == []
    assert [mark.sequence for mark in tally.feed(line(2) + b"\n", 2)] == [2]
