"""The live list of runs, driven by a pilot."""

import re
from pathlib import Path

import psutil
import pytest
from cli_rig import detached, hopline, wait_for_output, wait_until_over
from tui_rig import Seat, on_list, shows, text_of

from hopline.tui import list_screen
from hopline.tui.list_view import RunList


def names(seat: Seat) -> list[str]:
    """The runs in their places."""
    screen = text_of(seat.app)  # type: ignore[arg-type]  # the app is ours
    return re.findall(r"^[▲✕●◐✓■] (\S+)", screen, re.MULTILINE)


def test_an_empty_list_says_how_to_start_a_run_and_the_first_one_shows_up() -> None:
    async def sit(seat: Seat) -> None:
        await shows(seat, "No runs yet", "hopline run --detach --name first", "0 running")
        detached("--name", "first", "--", "sleep", "60")
        await shows(seat, "● first +running", "1 running", not_any_more="No runs yet")

    on_list(sit)


def test_the_order_is_wrong_then_live_then_ended_and_each_says_its_state() -> None:
    for name, *command in (["done", "true"], ["bad", "sh", "-c", "exit 2"], ["alive", "sleep", "60"]):
        record = detached("--name", name, "--", *command)
        if name != "alive":
            wait_until_over(record["id"])
    left = detached("--name", "left", "--", "sh", "-c", "sleep 60 & exit 0")
    wait_until_over(left["id"])

    async def sit(seat: Seat) -> None:
        screen = await shows(
            seat,
            "✕ bad +failed: exit 2, descendants gone",
            "✓ left +completed, 1 process left behind",
            "● alive +running",
            "✓ done +completed",
            "1 running · 0 waiting for you · 2 wrong · 3 ended today",
        )
        assert names(seat) == ["left", "bad", "alive", "done"]
        assert all(len(line) <= 80 for line in screen.split("\n"))

    on_list(sit)


def test_a_run_is_opened_and_left_again_and_was_then_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_screen, "STILL_SECONDS", 0.5)
    record = detached("--name", "bad", "--", "sh", "-c", "echo why; exit 2")
    wait_until_over(record["id"])
    detached("--name", "alive", "--", "sleep", "60")

    async def sit(seat: Seat) -> None:
        await shows(seat, "✕ bad", "1 wrong")
        await seat.press("enter")
        await shows(seat, "‹ bad", "why", "■ ended")
        await seat.press("escape")
        await shows(seat, "hopline +", "● alive[^✕]+✕ bad", not_any_more="1 wrong")

    on_list(sit)


def test_the_cursor_stays_on_its_run_and_rows_do_not_move_under_a_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_screen, "STILL_SECONDS", 1.5)
    for name in ("one", "two", "three"):
        detached("--name", name, "--", "cat")

    async def sit(seat: Seat) -> None:
        await shows(seat, "● one", "● two", "● three")
        before = names(seat)
        await seat.press("j")
        listing = seat.app.screen.query_one("#runs", RunList)
        on = listing.cursor
        busy = before[2]
        hopline("send", busy, "x" * 5000)
        await seat.press("j", "k")
        await seat.pause(1.2)
        assert names(seat) == before
        assert listing.cursor == on
        await shows(seat, f"today\\s+● {busy} ")
        assert listing.cursor == on

    on_list(sit)


def test_a_click_opens_a_run() -> None:
    detached("--name", "one", "--", "sh", "-c", "echo inside; cat")

    async def sit(seat: Seat) -> None:
        await shows(seat, "● one")
        await seat.click("#runs", offset=(5, 0))
        await shows(seat, "‹ one", "inside")

    on_list(sit)


def test_a_search_leaves_what_matches() -> None:
    for name in ("fix-auth", "port-parser"):
        detached("--name", name, "--", "sleep", "60")

    async def sit(seat: Seat) -> None:
        await shows(seat, "fix-auth", "port-parser")
        await seat.press("slash", *"auth")
        await shows(seat, "fix-auth", not_any_more="port-parser")
        await seat.press(*"zzz")
        await shows(seat, "No run matches “authzzz”")
        await seat.press("escape")
        await shows(seat, "fix-auth", "port-parser")

    on_list(sit)


def test_a_killed_server_shows_within_a_moment_and_a_broken_record_is_said(private_place: Path) -> None:
    record = detached("--name", "killed", "--", "sh", "-c", "echo up; sleep 60")
    wait_for_output(record["id"], b"up")
    (private_place / "home" / "runs" / ("b" * 12)).mkdir()
    (private_place / "home" / "runs" / ("b" * 12) / "record.json").write_text("{")

    async def sit(seat: Seat) -> None:
        await shows(seat, "● killed", "1 run cannot be read: hopline doctor")
        psutil.Process(record["pid"]).kill()
        await shows(seat, "✕ killed +interrupted: its server is gone")

    on_list(sit)


def test_a_wide_list_shows_the_commands_and_a_narrow_one_fits() -> None:
    detached("--name", "wide", "--", "sleep", "61")

    async def wide(seat: Seat) -> None:
        await shows(seat, "● wide +running +sleep 61")

    async def narrow(seat: Seat) -> None:
        await shows(seat, "● wide +running")

    on_list(wide, size=(130, 20))
    on_list(narrow, size=(40, 10))


def test_q_leaves() -> None:
    async def sit(seat: Seat) -> None:
        await shows(seat, "No runs yet")
        await seat.press("question_mark")
        await shows(seat, "open the run")
        await seat.press("escape", "q")
        await seat.pause(0.1)

    assert not on_list(sit).is_running
