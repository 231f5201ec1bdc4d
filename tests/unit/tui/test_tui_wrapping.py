"""Rows at a width, and which line a row shows."""

import pytest

from hopline.tui.lines import Line
from hopline.tui.looks import PLAIN, Look
from hopline.tui.wrapping import Rows, breaks, height, row_of


@pytest.mark.parametrize(
    ("text", "width", "rows"),
    [
        ("", 4, [""]),
        ("abcd", 4, ["abcd"]),
        ("abcde", 4, ["abcd", "e"]),
        ("abcdefghi", 4, ["abcd", "efgh", "i"]),
        ("日本語", 4, ["日本", "語"]),
        ("a日本", 4, ["a日", "本"]),
        ("日", 1, ["日"]),
        ("e\N{COMBINING ACUTE ACCENT}abc", 4, ["e\N{COMBINING ACUTE ACCENT}abc"]),
    ],
)
def test_a_line_is_wrapped_by_its_cells(text: str, width: int, rows: list[str]) -> None:
    line = Line.of(text, PLAIN)
    assert height(line, width) == len(rows)
    shown = ["".join(piece for piece, _ in row_of(line, part, width)) for part in range(len(rows))]
    assert shown == rows
    assert row_of(line, len(rows), width) == [] or text == ""
    assert len(breaks(text, width)) == len(rows) - 1


def test_looks_are_kept_across_a_break() -> None:
    red = Look(foreground=1)
    line = Line.of("ab", PLAIN)
    line.write(2, "cdef", red)
    assert row_of(line, 0, 4) == [("ab", PLAIN), ("cd", red)]
    assert row_of(line, 1, 4) == [("ef", red)]


def lines(*lengths: int) -> list[Line]:
    return [Line.of("x" * length, PLAIN) for length in lengths]


def test_a_row_leads_to_its_line_and_part() -> None:
    rows = Rows()
    rows.measure(lines(1, 25, 0, 10), 0, 10)
    assert rows.total == 6
    assert [rows.locate(row) for row in range(6)] == [(0, 0), (1, 0), (1, 1), (1, 2), (2, 0), (3, 0)]
    assert rows.locate(99) == (3, 0)
    assert rows.locate(-1) == (0, 0)
    assert rows.first_row(2) == 4


def test_only_what_changed_is_measured_again() -> None:
    rows = Rows()
    kept = lines(1, 25)
    rows.measure(kept, 0, 10)
    kept.append(Line.of("y" * 11, PLAIN))
    rows.measure(kept, 2, 10)
    assert rows.total == 6
    rows.measure(kept, 3, 5)
    assert rows.total == 1 + 5 + 3


def test_lines_that_went_take_their_rows_along() -> None:
    rows = Rows()
    kept = lines(1, 25, 10)
    rows.measure(kept, 0, 10)
    assert rows.drop(2) == 4
    assert rows.total == 1
    assert rows.locate(0) == (0, 0)
    rows.measure([*kept[2:], *lines(21)], 1, 10)
    assert rows.total == 4
    assert rows.locate(3) == (1, 2)


def test_nothing_is_at_no_row() -> None:
    rows = Rows()
    assert rows.locate(0) == (0, 0)
    assert rows.drop(3) == 0
