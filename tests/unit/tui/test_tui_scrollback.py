"""Output as lines: what a program's control sequences leave, in bounded memory."""

import pytest

from hopline.tui.looks import PLAIN, Look, rendition
from hopline.tui.scrollback import MAX_LINE_CHARACTERS, Scrollback


def fed(*texts: str, **bounds: int) -> Scrollback:
    scrollback = Scrollback(**bounds)
    for text in texts:
        scrollback.feed(text)
    return scrollback


def shown(*texts: str, **bounds: int) -> list[str]:
    return [line.text() for line in fed(*texts, **bounds).lines]


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("", [""]),
        ("one", ["one"]),
        ("one\n", ["one", ""]),
        ("one\ntwo\n\nfour", ["one", "two", "", "four"]),
        ("one\r\ntwo", ["one", "two"]),
        ("10%\r20%\r100%", ["100%"]),
        ("long line\rshort", ["shortline"]),
        ("long line\r\x1b[Kshort", ["short"]),
        ("abc\b\bX", ["aXc"]),
        ("\b\bX", ["X"]),
        ("a\tb", ["a       b"]),
        ("\tb\tc", ["        b       c"]),
        ("one\ntwo\x1b[1A\rONE", ["ONE", "two"]),
        ("one\ntwo\x1b[A\x1b[2K\rnew", ["new", "two"]),
        ("one\ntwo\n\x1b[2A\x1b[Jnew", ["new"]),
        ("one\ntwo\x1b[1F\x1b[1B!", ["one", "!wo"]),
        ("one\x1b[9Ax", ["onex"]),
        ("ab\x1b[5Cc", ["ab     c"]),
        ("abcdef\x1b[3Dx", ["abcxef"]),
        ("abcdef\x1b[2Gx", ["axcdef"]),
        ("abcdef\x1b[3G\x1b[1K", ["   def"]),
        ("first\x1b[2J\x1b[Hsecond", ["first", "second"]),
        ("\x1b]0;a title\x07text", ["text"]),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", ["link"]),
        ("\x1bPq#0;2;0;0;0\x1b\\text", ["text"]),
        ("\x1b(Btext\x1b7\x1b8\x1b=\x1bM", ["text"]),
        ("\x1b[?25ltext\x1b[?25h\x1b[>4;1m", ["text"]),
        ("a\x00\x07\x1a\x7f\x9bb", ["ab"]),
        ("日本語\ré", ["é本語"]),
    ],
)
def test_what_is_written_leaves_what_a_terminal_would(written: str, left: list[str]) -> None:
    assert shown(written) == left


@pytest.mark.parametrize(
    "written",
    [
        "one\r\ntwo\x1b[31mred\x1b[0m\x1b[2Kx",
        "a\x1b]0;title\x07b\x1bPx\x1b\\c",
        "10%\r\x1b[K20%\n日本\x1b[38;2;1;2;3mx",
    ],
)
def test_it_does_not_matter_how_it_is_cut(written: str) -> None:
    assert shown(*written) == shown(written)
    for cut in range(len(written)):
        assert shown(written[:cut], written[cut:]) == shown(written)


def test_a_sequence_that_never_ends_is_given_up() -> None:
    scrollback = fed("\x1b]0;", *["x" * 1000] * 20)
    assert sum(line.length for line in scrollback.lines) > 10_000


def test_looks_go_with_the_text() -> None:
    scrollback = fed("plain \x1b[1;31mred\x1b[0m plain")
    assert scrollback.lines[0].pieces == [
        ("plain ", PLAIN),
        ("red", Look(foreground=1, bold=True)),
        (" plain", PLAIN),
    ]


def test_a_look_lasts_over_lines_and_pieces() -> None:
    scrollback = fed("\x1b[32m", "a\nb", "\x1b[m\nc")
    assert [line.pieces[0][1] for line in scrollback.lines] == [Look(foreground=2), Look(foreground=2), PLAIN]


@pytest.mark.parametrize(
    ("parameters", "look"),
    [
        ("", PLAIN),
        ("0", PLAIN),
        ("1;3;4;9", Look(bold=True, italic=True, underline=True, strike=True)),
        ("2;7;8;5", Look(dim=True, reverse=True, hidden=True, blink=True)),
        ("1;22", PLAIN),
        ("97;104", Look(foreground=15, background=12)),
        ("38;5;200", Look(foreground=200)),
        ("48;2;1;2;300", Look(background=(1, 2, 255))),
        ("38:5:7", Look(foreground=7)),
        ("31;39;41;49", PLAIN),
        ("38;5", PLAIN),
        ("38;9;1", PLAIN),
        ("999", PLAIN),
        ("1;;4", Look(underline=True)),
    ],
)
def test_the_rendition_is_what_the_standard_says(parameters: str, look: Look) -> None:
    assert rendition(PLAIN, parameters) == look


def test_the_oldest_lines_go_first_and_are_counted() -> None:
    scrollback = fed(*(f"line {number}\n" for number in range(100)), max_lines=10)
    assert len(scrollback.lines) == 10
    assert scrollback.lines[0].text() == "line 91"
    assert scrollback.dropped == 91
    assert shown("".join(f"line {number}\n" for number in range(100)), max_lines=10)[0] == "line 91"


def test_characters_are_bounded_too_and_the_last_line_stays() -> None:
    scrollback = fed(*["x" * 1000 + "\n"] * 100, max_characters=10_000)
    assert sum(line.length for line in scrollback.lines) <= 10_000
    assert len(fed("y" * 5000, max_characters=1000).lines) == 1


def test_a_long_line_goes_on_in_the_next() -> None:
    scrollback = fed("x" * (MAX_LINE_CHARACTERS + 5) + "\nend")
    assert [line.length for line in scrollback.lines] == [MAX_LINE_CHARACTERS, 5, 3]
    assert [line.continues for line in scrollback.lines] == [False, True, False]


def test_what_changed_is_told_from_its_first_line() -> None:
    scrollback = fed("one\ntwo\nthree")
    assert scrollback.take_changed() == 0
    assert scrollback.take_changed() is None
    scrollback.feed(" more")
    assert scrollback.take_changed() == 2
    scrollback.feed("\x1b[1A!")
    assert scrollback.take_changed() == 1


def test_a_note_stands_on_a_line_of_its_own() -> None:
    scrollback = fed("begun")
    scrollback.note("skipped 7 events")
    scrollback.feed("more")
    assert [line.text() for line in scrollback.lines] == ["begun", "skipped 7 events", "more"]


def test_nothing_that_is_kept_holds_a_control_character() -> None:
    everything = "".join(map(chr, range(256))) * 2
    for line in fed(everything, "\x1b[", everything).lines:
        assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in line.text())
