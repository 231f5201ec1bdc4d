"""The table for people and the report for programs."""

import json

import pytest
from benchmarks.harness import Bar, Row, Sample, Side
from benchmarks.table import markdown, number, render, report

OURS = Side("hopline", "MB/s", (Sample(300.0, 2.5, "33 frames"), Sample(310.0, 2.4), Sample(90.0, 2.6)))
THEIRS = Side("cat", "MB/s", (Sample(1500.0, 0.25),))
ROWS = [
    Row("relay", "relay, ANSI text", OURS, THEIRS, Bar(">=", 0.5)),
    Row("share", "share", OURS, THEIRS),
    Row("gone", "not there", None, note="tmux is not installed"),
]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1234567.8, "1,234,568"), (123.4, "123"), (12.34, "12.3"), (1.234, "1.23"), (0.1234, "0.123")],
)
def test_numbers_keep_three_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_the_columns_are_aligned() -> None:
    lines = render(ROWS, colours=False).splitlines()
    table = [line for line in lines if not line.startswith("    ")]
    assert [line.index("reference") for line in table[:1]] == [table[2].index("cat")]
    assert table[2].index("missed") == table[3].index("shown") == table[4].index("not measured")


def test_a_row_shows_its_figure_ratio_bar_verdict_and_costs() -> None:
    line = render(ROWS, colours=False).splitlines()[2]
    assert line.split("  ")[0] == "relay, ANSI text"
    for text in ("300 MB/s", "cat", "1,500 MB/s", "0.200x", ">= 0.5x", "missed", "2.50", "0.25"):
        assert text in line


def test_notes_stand_below_their_row() -> None:
    lines = render(ROWS, colours=False).splitlines()
    assert lines[3] == "    hopline: 33 frames"
    assert lines[-1] == "    tmux is not installed"


def test_colours_touch_only_the_verdict() -> None:
    plain, coloured = render(ROWS, colours=False), render(ROWS, colours=True)
    assert "\x1b[" not in plain
    assert "\x1b[31mmissed      \x1b[0m" in coloured


def test_the_report_holds_every_sample_and_is_json() -> None:
    first = json.loads(json.dumps(report(ROWS)))[0]
    assert first["ours"]["samples"] == [300.0, 310.0, 90.0]
    assert first["ours"]["median"] == 300.0
    assert first["verdict"] == "missed"
    assert first["ratio"] == pytest.approx(0.2)
    assert json.loads(json.dumps(report(ROWS)))[2]["ours"] is None


def test_the_page_shows_the_same_cells_by_row_name() -> None:
    lines = markdown(ROWS).splitlines()
    assert lines[0].startswith("| row | hopline | reference |")
    assert lines[2] == "| relay | 300 MB/s | cat | 1,500 MB/s | 0.200x | >= 0.5x | missed | 2.50 | 0.25 |"
    assert {line.count("|") for line in lines} == {10}
