import pytest

from hopline import rendering


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (99_949, "99.9 kB"),
        (99_950, "100 kB"),
        (4_200_000, "4.2 MB"),
        (999_600, "1.0 MB"),
        (1_000_000_000, "1.0 GB"),
        (5 * 10**15, "5000 TB"),
    ],
)
def test_a_size_has_a_unit_and_few_digits(count: int, text: str) -> None:
    assert rendering.size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0s"), (0.9, "0s"), (59.9, "59s"), (60, "1m00s"), (3599, "59m59s"), (3600, "1h00m"), (90_000, "1d")],
)
def test_an_age_has_its_two_largest_units(seconds: float, text: str) -> None:
    assert rendering.age(seconds) == text


def test_nouns_agree_with_their_number() -> None:
    assert rendering.plural(1, "run") == "1 run"
    assert rendering.plural(0, "run") == "0 runs"
    assert rendering.plural(2, "process") == "2 processes"


def test_a_signal_has_its_name_when_it_has_one() -> None:
    assert rendering.signal_name(9) == "9 (SIGKILL)"
    assert rendering.signal_name(250) == "250"


def test_a_command_cannot_drive_the_terminal_and_is_cut_to_width() -> None:
    assert rendering.command(["sh", "-c", "echo a b"]) == "sh -c 'echo a b'"
    assert "\x1b" not in rendering.command(["\x1b[2J"])
    assert rendering.command(["abcdefgh"], 5) == "abcd…"


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert rendering.table(("A", "B"), [("xxx", "y"), ("z", "long last")]) == "A    B\nxxx  y\nz    long last\n"
    assert rendering.table(("A",), [("x",)]) == "A\nx\n"


def test_wide_characters_take_two_columns_and_combining_ones_none() -> None:
    assert rendering.columns_of("日本") == 4
    assert rendering.columns_of("e\u0301") == 1
    assert rendering.table(("A", "B"), [("日本", "y"), ("z", "x")]) == "A     B\n日本  y\nz     x\n"
