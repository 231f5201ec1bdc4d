"""A status line and somebody who types, on a real terminal: neither touches the other."""

import time
from pathlib import Path

from cli_rig import HOPLINE
from tui_rig import Tmux


def rows(screen: str) -> list[str]:
    """What is in the rows, empty ones left out."""
    return [row.rstrip() for row in screen.splitlines() if row.strip()]


def test_what_is_typed_and_the_status_line_stand_in_rows_of_their_own(private_place: Path) -> None:
    tmux = Tmux(private_place, rows=8)
    try:
        tmux.wait_for_shell()
        tmux.type(f"clear; seq 1 20; exec {HOPLINE} run -- cat")  # the cursor is in the last row but one
        tmux.shows("running ·")
        tmux.send("half")
        tmux.shows(r"(?m)^half$")
        time.sleep(1.2)  # the line is drawn anew with every second
        *_, typed, status = rows(tmux.screen())
        assert typed == "half"
        assert status.startswith("running ·")
        tmux.press("Enter")
        tmux.shows(r"(?m)^half\nhalf$")
        screen = rows(tmux.screen())
        assert [row for row in screen if "half" in row or "running" in row] == ["half", "half"]
        assert "20" in screen
    finally:
        tmux.close()
