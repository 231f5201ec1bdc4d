"""The view of one run, driven by a pilot, against real run servers."""

import asyncio
import re

import psutil
import pytest
from cli_rig import detached, hopline, shown, wait_for_output, wait_until_over
from textual.events import Key
from tui_rig import Seat, on_run, shows, text_of

from hopline.client.session import Run
from hopline.tui.entry_row import EntryRow
from hopline.tui.run_screen import RunScreen

TALKER = "echo begun; while read line; do echo got $line; done; echo no more; exit 4"
COUNTER = "i=0; while [ $i -lt {} ]; do echo row $i; i=$((i+1)); done; "


def rows_of(screen: str) -> list[int]:
    """The numbers of the rows of output that are in view."""
    return [int(found) for found in re.findall(r"^row (\d+)", screen, re.MULTILINE)]


def test_a_run_is_shown_live_with_its_header_and_a_true_connection_line() -> None:
    record = detached("--name", "talker", "--", "sh", "-c", TALKER)

    async def sit(seat: Seat, run: Run) -> None:
        screen = await shows(seat, "begun", "● live · event \\d+ · missed nothing", "worker running, pid \\d+")
        assert screen.splitlines()[0].startswith("‹ talker  ● running · command · ")
        assert "1 Output  2 Turns  3 Trace  4 Events  5 Proven" in screen
        hopline("send", record["id"], "ping")
        await shows(seat, "got ping")

    on_run("talker", sit)


def test_input_is_written_and_ended_and_said_when_it_is_taken() -> None:
    detached("--name", "talker", "--", "sh", "-c", TALKER)

    async def sit(seat: Seat, run: Run) -> None:
        await shows(seat, "begun")
        await seat.press("i", *"hi", "enter")
        await shows(seat, "got hi", "input  delivered \\d\\d:\\d\\d:\\d\\d")
        await seat.press("ctrl+d")
        await shows(seat, "no more", "■ ended", "failed: exit 4", "worker exited with 4")
        await seat.press("i")
        await shows(seat, "no worker that takes input")

    on_run("talker", sit)


def test_keys_that_come_all_at_once_have_their_effect_in_their_order() -> None:
    detached("--name", "talker", "--", "sh", "-c", TALKER)

    async def sit(seat: Seat, run: Run) -> None:
        await shows(seat, "begun")
        for key in ("4", "i", *"ng", "backspace", "G", "enter", *"two", "enter", "escape", "5", "1", "slash", *"Begun"):
            seat.app.post_message(Key(key, key if len(key) == 1 else None))
        seat.app.post_message(Key("enter", None))
        await shows(seat, "got nG\n", "got two", "1 of 1")
        for key in ("escape", "s", "left", "y"):
            seat.app.post_message(Key(key, None))
        await shows(seat, "✓|■ ended", "stopped")

    on_run("talker", sit)


def test_an_interrupt_is_asked_for_until_it_is_delivered() -> None:
    detached("--name", "trap", "--", "sh", "-c", "trap 'echo caught' INT; echo up; while :; do sleep 0.05; done")

    async def sit(seat: Seat, run: Run) -> None:
        await shows(seat, "up")
        await seat.press("full_stop")
        await shows(seat, "interrupt  delivered \\d\\d:\\d\\d:\\d\\d", "caught")
        await seat.press("ctrl+c")
        await shows(seat, "interrupt 2  delivered")

    on_run("trap", sit)


def test_stopping_asks_once_and_shows_each_step_when_it_is_proven() -> None:
    record = detached("--name", "tough", "--", "sh", "-c", "trap '' TERM HUP; echo up; while :; do sleep 0.05; done")

    async def sit(seat: Seat, run: Run) -> None:
        await shows(seat, "up")
        await seat.press("5", "s")
        await shows(
            seat, "Stop tough\\?", "This ends its worker \\(pid \\d+\\) and what that has started", "10 seconds"
        )
        await seat.press("escape")
        await seat.press("s", "left")
        await shows(seat, "‹ 1 second ›")
        await seat.press("enter")
        await shows(seat, "✓ accepted", "· worker ended +not yet", "killed in 1 s unless")
        await shows(seat, "✓ worker ended", "✓ descendants looked for", "✓ stopped", "■ ended")
        assert shown(record["id"])["instance"]["status"] == "stopped"

    on_run("tough", sit)


def test_a_restart_is_proven_by_the_next_generation() -> None:
    detached("--name", "again", "--", "sh", "-c", "echo generation $HOPLINE_GENERATION; cat")

    async def sit(seat: Seat, run: Run) -> None:
        await shows(seat, "generation 1")
        await seat.press("r", "y")
        await shows(seat, "generation 2", "restart  started again", "· generation 2")

    on_run("again", sit)


def test_scrolled_up_it_stands_still_and_offers_the_way_back() -> None:
    record = detached("--name", "rows", "--", "sh", "-c", COUNTER.format(100) + "while read x; do echo $x; done")

    async def sit(seat: Seat, run: Run) -> None:
        await shows(seat, "row 99")
        await seat.press("k", "k", "k")
        before = rows_of(await shows(seat, "jump to live"))
        for number in range(5):
            hopline("send", record["id"], f"more {number}")
        screen = await shows(seat, "jump to live \\(5 new\\)")
        assert rows_of(screen) == before
        await seat.press("G")
        await shows(seat, "more 4", not_any_more="jump to live")
        await seat.press("k")
        await shows(seat, "jump to live")
        await seat.click("#foot", offset=(3, 0))
        await shows(seat, "more 4", not_any_more="jump to live")

    on_run("rows", sit)


def test_older_output_comes_when_its_top_is_reached_and_nothing_moves() -> None:
    record = detached(
        "--name", "old", "--", "sh", "-c", "i=0; while [ $i -lt 300 ]; do echo row $i; sleep 0.002; i=$((i+1)); done"
    )
    wait_until_over(record["id"])

    async def sit(seat: Seat, run: Run) -> None:
        await shows(seat, "row 299", "■ ended")
        assert isinstance(seat.app.screen, RunScreen)
        assert seat.app.screen.watching.panes["output"].floor > 0
        for _ in range(60):
            await seat.press("g")
            if 0 in rows_of(text_of(seat.app)):  # type: ignore[arg-type]  # the app is ours
                break
            await seat.pause(0.05)
        assert rows_of(await shows(seat, "the beginning"))[0] == 0
        await seat.press("G")
        screen = await shows(seat, "row 299")
        rows = rows_of(screen)
        assert rows == list(range(rows[0], 300))

    on_run("old", sit)


def test_what_went_for_room_is_read_again_and_live_is_one_key_away() -> None:
    in_pieces = "for i in $(seq 0 59); do seq -f 'row %.0f' ${i}001 $((i+1))000; sleep 0.005; done; cat"
    record = detached("--name", "long", "--", "sh", "-c", in_pieces)
    wait_for_output(record["id"], b"row 60000\n")

    async def sit(seat: Seat, run: Run) -> None:
        await shows(seat, "row 60000")
        screen = seat.app.screen
        assert isinstance(screen, RunScreen)
        for _ in range(100):
            await seat.press("g")
            if 1 in rows_of(text_of(seat.app)):  # type: ignore[arg-type]  # the app is ours
                break
            await seat.pause(0.05)
        above = await shows(seat, "row 1\n", "the beginning", "events? below\\) · G")
        assert rows_of(above) == list(range(1, len(rows_of(above)) + 1))
        assert len(screen.watching.panes["output"].lines.lines) < 60_000
        hopline("send", record["id"], "still here")
        await seat.press("end")
        await shows(seat, "row 60000\n", "still here", not_any_more="jump to live")

    on_run("long", sit)


def test_what_is_sought_is_found_upwards_and_counted() -> None:
    record = detached("--name", "find", "--", "sh", "-c", COUNTER.format(100))
    wait_until_over(record["id"])

    async def sit(seat: Seat, run: Run) -> None:
        await shows(seat, "row 99")
        await seat.press("slash", *"ROW 4", "enter")
        await shows(seat, "11 of 11", "row 49")
        await seat.press("enter")
        await shows(seat, "10 of 11")
        await seat.press("escape", "n")
        await shows(seat, "row 47")
        await seat.press("slash", *"zz", "enter")
        await shows(seat, "is not in what is here")

    on_run("find", sit)


def test_the_events_and_the_proofs_have_their_own_tabs() -> None:
    record = detached("--name", "tabs", "--", "sh", "-c", "sleep 60 & exit 3")
    wait_until_over(record["id"])

    async def sit(seat: Seat, run: Run) -> None:
        await shows(seat, "■ ended")
        await seat.press("2")
        await shows(seat, "A plain command takes no turns: its output is all it says\\.")
        await seat.press("3")
        await shows(seat, "A plain command has no trace")
        await seat.press("4")
        await shows(seat, "run_started", "worker_exited +generation=1 code=3", "run_failed")
        await seat.press("5")
        await shows(seat, "worker +exited with 3", "descendants +1 process left behind \\(sleep\\)", "hopline doctor")
        await seat.press("1")
        await shows(seat, not_any_more="hopline doctor")

    on_run("tabs", sit)


def test_a_wide_screen_shows_the_proofs_beside_the_output() -> None:
    record = detached("--name", "wide", "--", "sh", "-c", "echo out; exit 3")
    wait_until_over(record["id"])

    async def sit(seat: Seat, run: Run) -> None:
        await shows(seat, "out +▕?.*proven", "worker +exited with 3")
        await seat.resize_terminal(80, 24)
        await shows(seat, not_any_more="proven")

    on_run("wide", sit, size=(120, 24))


def test_a_server_that_is_killed_is_said_and_the_run_is_shown_as_interrupted() -> None:
    record = detached("--name", "killed", "--", "sh", "-c", "echo up; sleep 60")
    wait_for_output(record["id"], b"up")

    async def sit(seat: Seat, run: Run) -> None:
        await shows(seat, "● live")
        psutil.Process(record["pid"]).kill()
        await shows(seat, "retrying in|resuming from|its server is gone")
        await shows(
            seat, "■ its server is gone · recorded up to event \\d+", "✕ interrupted", "unknown: nobody saw it end"
        )

    on_run("killed", sit)


def test_control_sequences_of_the_worker_reach_nothing_but_the_colours() -> None:
    hostile = r"\033]0;owned\007\033[2J\033[?1049l\033[31mred\033[0m\033[999;999Hplain[bold red]markup[/]"
    record = detached("--name", "[red]name", "--", "printf", hostile)
    wait_until_over(record["id"])

    async def sit(seat: Seat, run: Run) -> None:
        screen = await shows(seat, "redplain\\[bold red\\]markup\\[/\\]")
        assert screen.splitlines()[0].startswith("‹ [red]name")
        for strip in seat.app.screen._compositor.render_strips():
            assert not any("\x1b" in segment.text or "\x07" in segment.text for segment in strip)

    on_run(record["id"], sit)


def test_the_keys_are_told_and_leaving_leaves_the_run_alone() -> None:
    record = detached("--name", "leave", "--", "cat")

    async def sit(seat: Seat, run: Run) -> None:
        await shows(seat, "● live")
        await seat.press("question_mark")
        await shows(seat, "interrupt the worker", "to the top, to live")
        await seat.press("escape")
        await seat.press("q")
        await asyncio.sleep(0.1)

    app = on_run("leave", sit)
    assert not app.is_running
    assert shown(record["id"])["live"]


@pytest.mark.parametrize("size", [(40, 10), (200, 60)])
def test_it_fits_any_size(size: tuple[int, int]) -> None:
    record = detached("--name", "a-name-that-is-rather-long", "--", "sh", "-c", "echo 日本語 wide; echo " + "x" * 500)
    wait_until_over(record["id"])

    async def sit(seat: Seat, run: Run) -> None:
        screen = await shows(seat, "x{30}", "■ ended")
        assert len(screen.split("\n")) == size[1]
        await seat.press("i")
        assert not any(row.display for row in seat.app.screen.query(EntryRow))

    on_run(record["id"], sit, size=size)
