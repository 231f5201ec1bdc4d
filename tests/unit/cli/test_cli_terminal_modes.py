"""Modes of a terminal, read from what was written to it."""

import pytest

from hopline.cli.terminal_modes import TerminalModes

RESET = b"\x1b[0m"


def after(*pieces: bytes) -> TerminalModes:
    modes = TerminalModes()
    for piece in pieces:
        modes.receive(piece)
    return modes


def test_a_fresh_terminal_has_nothing_to_undo_but_colours() -> None:
    modes = after(b"plain text\r\n\x1b[31mred\x1b[1;1H\x1b[2J\x1b]0;title\x07")
    assert (modes.undo(), modes.enter(), modes.alternate) == (RESET, b"", False)


@pytest.mark.parametrize(
    ("entering", "undone", "entered"),
    [
        (b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?1049h\x1b[2J\x1b[H"),
        (b"\x1b[?25l", b"\x1b[?25h", b"\x1b[?25l"),
        (b"\x1b[?7l", b"\x1b[?7h", b"\x1b[?7l"),
        (b"\x1b[?1;2004h", b"\x1b[?1l\x1b[?2004l", b"\x1b[?1h\x1b[?2004h"),
        (b"\x1b[?1002h\x1b[?1006h", b"\x1b[?1002l\x1b[?1006l", b"\x1b[?1002h\x1b[?1006h"),
        (b"\x1b[?2026h", b"\x1b[?2026l", b""),
        (b"\x1b=", b"\x1b>", b"\x1b="),
        (b"\x1b[>4;2m", b"\x1b[>4m", b"\x1b[>4;2m"),
        (b"\x1b[>1u\x1b[>3u", b"\x1b[<u\x1b[<u", b"\x1b[>1u\x1b[>3u"),
        (b"\x1b[2;10r", b"\x1b7\x1b[r\x1b8", b""),
    ],
)
def test_a_mode_is_followed_undone_and_entered(entering: bytes, undone: bytes, entered: bytes) -> None:
    modes = after(entering)
    assert modes.undo() == undone + RESET
    assert modes.enter() == entered
    assert after(entering, undone).undo() == RESET
    bytewise = after(*(bytes([byte]) for byte in b"x" + entering + b"y"))
    assert bytewise.undo() == undone + RESET


@pytest.mark.parametrize("reset", [b"\x1bc", b"\x1b[!p"])
def test_a_reset_leaves_nothing_to_undo(reset: bytes) -> None:
    assert after(b"\x1b[?1049h\x1b[?25l\x1b=\x1b[>1u", reset).undo() == RESET


def test_the_programs_own_screen_is_left_last_and_entered_first() -> None:
    modes = after(b"\x1b[?25l\x1b[?1049h\x1b[?1h")
    assert modes.alternate
    assert modes.undo() == b"\x1b[?1l\x1b[?25h\x1b[?1049l" + RESET
    assert modes.enter().startswith(b"\x1b[?1049h")


@pytest.mark.parametrize(
    "noise", [b"\x1b[?99999999h", b"\x1b[?h", b"\x1b[?;;l", b"\x1b[<999999u", b"\x1b[>u" * 100, b"\x1b[" + b"1" * 1000]
)
def test_noise_is_bounded_and_harmless(noise: bytes) -> None:
    modes = after(noise, b"\x1b[<200u", b"\x1b[0m")
    assert modes.undo() == RESET
