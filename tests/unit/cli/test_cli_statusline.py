import re

from hopline.cli.statusline import MIN_COLUMNS, Facts, Rate, StatusLine, line

FACTS = Facts("running", 72.4, 4_200_000, 131.4)


def visible(drawn: bytes) -> str:
    return re.sub(rb"\x1b(\[[0-9;?]*[A-Za-z]|[78D])", b"", drawn).decode()


def test_the_line_tells_state_elapsed_bytes_and_rate_and_fits_a_terminal_of_80_columns() -> None:
    text = line(FACTS, 80)
    assert text.startswith("running · 1m12s · 4.2 MB · 131 ev/s")
    assert "Ctrl-C interrupts" in text
    assert len(text) < 80


def test_on_a_narrow_terminal_the_hint_goes_first_and_the_rest_is_cut() -> None:
    assert line(FACTS, 40) == "running · 1m12s · 4.2 MB · 131 ev/s"
    assert line(FACTS, 25) == "running · 1m12s · 4.2 MB"


def test_drawing_leaves_the_cursor_where_it_was_and_wraps_nothing() -> None:
    drawn = StatusLine(colour=True).draw(FACTS, 80)
    assert drawn.startswith(b"\x1b[J\x1bD\x1b[A\x1b7\x1b[B\r\x1b[?7l")
    assert drawn.endswith(b"\x1b8\x1b[?7h")
    assert b"\n" not in drawn
    assert visible(drawn).strip("\r") == line(FACTS, 80)


def test_without_colour_there_is_none() -> None:
    assert b";2m" not in StatusLine(colour=False).draw(FACTS, 80)


def test_the_same_line_is_not_drawn_twice_until_it_was_erased() -> None:
    status = StatusLine(colour=True)
    first = status.draw(FACTS, 80)
    assert status.draw(FACTS, 80) == b""
    assert status.erase() == b"\x1b[J"
    assert status.erase() == b""
    assert status.draw(FACTS, 80) == first


def test_a_terminal_that_became_too_narrow_loses_the_line() -> None:
    status = StatusLine(colour=True)
    status.draw(FACTS, 80)
    assert status.draw(FACTS, MIN_COLUMNS - 1) == b"\x1b[J"
    assert status.draw(FACTS, 0) == b""


def test_the_rate_is_of_the_last_seconds_only() -> None:
    rate = Rate(window_seconds=3.0)
    assert rate.at(0.0, 0) == 0.0
    assert rate.at(1.0, 100) == 100.0
    assert rate.at(2.0, 200) == 100.0
    assert rate.at(60.0, 200) == 0.0
    assert rate.at(61.0, 210) == 10.0
