"""The full-screen view in a real terminal (tmux): drawn, driven, resized, without colours, and left as it was found."""

import contextlib
import json
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from bridge_rig import until
from cli_rig import HOPLINE, detached, hopline, one_sentence, wait_for_output, wait_until_over
from loopback_sshd import LoopbackSshd
from ssh_places import ssh_here
from tui_rig import Tmux

SHELL_MODES = "0 0 1"
TALKER = "echo begun; while read line; do echo got $line; done; exit 4"


@pytest.fixture
def tmux(private_place: Path) -> Iterator[Tmux]:
    made = Tmux(private_place)
    yield made
    made.close()


def modes(tmux: Tmux, place: Path, name: str) -> str:
    """The terminal's settings as `stty` tells them."""
    tmux.type(f"stty -a > {place / name}; echo {name}-$((40 + 2))")
    tmux.shows(f"{name}-42")
    return (place / name).read_text()


def view(run: str) -> psutil.Process:
    """The process of the full-screen view; the guard is its child."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.cmdline()[2:] == ["attach", run] and process.children():
                found.append(process)
    assert len(found) == 1
    return found[0]


def test_a_run_is_watched_and_talked_to_and_the_terminal_is_left_as_it_was(tmux: Tmux, private_place: Path) -> None:
    detached("--name", "talker", "--", "sh", "-c", TALKER)
    before = modes(tmux, private_place, "before")
    tmux.type("hopline attach talker")
    screen = tmux.shows("‹ talker  ● running", "● live · event", "begun", "worker running, pid")
    assert len(screen.rstrip("\n").split("\n")) == 24
    tmux.send("iping\r")
    tmux.shows("got ping", "input  delivered")
    tmux.press("C-d")
    tmux.shows("■ ended", "failed: exit 4")
    tmux.press("q")
    tmux.wait_for_shell()
    tmux.type("echo status $?")
    assert "begun" not in tmux.shows("status 4")
    assert tmux.modes() == SHELL_MODES
    assert modes(tmux, private_place, "after") == before


def test_what_is_typed_in_one_go_loses_nothing_in_twenty_tries(tmux: Tmux) -> None:
    record = detached("--name", "talker", "--", "sh", "-c", TALKER)
    tmux.type("hopline attach talker")
    tmux.shows("begun", "● live")
    wanted = ["begun"]
    for number in range(20):
        lines = [f"ping {number} {word}" for word in ("ngGk", "s.q/", "2j13")]
        tmux.send("i" + "\r".join(lines) + "\r")
        wanted += [f"got {line}" for line in lines]
        tmux.shows(f"got {lines[-1]}")
        tmux.press("Escape")
        until(lambda: "EOF ^D" not in tmux.screen())
    assert hopline("logs", record["id"]).stdout.decode().splitlines() == wanted


def test_the_mouse_scrolls_and_brings_back(tmux: Tmux) -> None:
    detached("--name", "rows", "--", "sh", "-c", "seq 1 200; cat")
    tmux.type("hopline attach rows")
    tmux.shows("^200$|\n200\\b")
    for _ in range(3):
        tmux.send("\x1b[<64;10;10M")
    screen = tmux.shows("jump to live")
    row = next(number for number, line in enumerate(screen.split("\n"), 1) if "jump to live" in line)
    tmux.send(f"\x1b[<0;5;{row}M")
    tmux.send(f"\x1b[<0;5;{row}m")
    until(lambda: "jump to live" not in tmux.screen())


def test_it_fits_the_terminal_whatever_its_size_becomes(tmux: Tmux) -> None:
    detached("--name", "talker", "--", "sh", "-c", TALKER)
    tmux.type("hopline attach talker")
    tmux.shows("begun")
    tmux.resize(140, 40)
    tmux.shows("│ proven", "descendants +looked for")
    tmux.resize(30, 8)
    tmux.shows("‹ talker", "● live", "begun")


def test_without_colour_the_shapes_and_words_remain(private_place: Path) -> None:
    detached("--name", "talker", "--", "sh", "-c", TALKER)
    tmux = Tmux(private_place, env={"NO_COLOR": "1"})
    try:
        tmux.type("hopline attach talker")
        screen = tmux.shows("● running", "● live", "begun", colours=True)
        assert not re.search(r"\x1b\[[0-9;]*(3[0-7]|4[0-7]|9[0-7]|38|48)[0-9;:]*m", screen)
    finally:
        tmux.close()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGKILL, 137)])
def test_however_it_is_ended_the_terminal_is_left_as_it_was(
    number: signal.Signals, status: int, tmux: Tmux, private_place: Path
) -> None:
    record = detached("--name", "talker", "--", "sh", "-c", TALKER)
    before = modes(tmux, private_place, "before")
    tmux.type("hopline attach talker")
    tmux.shows("begun", "● live")
    view("talker").send_signal(number)
    tmux.wait_for_shell()
    tmux.type("echo status $?")
    screen = tmux.shows(f"status {status}")
    until(lambda: tmux.modes() == SHELL_MODES)
    assert modes(tmux, private_place, "after") == before
    if number is not signal.SIGKILL:
        assert f"hopline attach {record['id']}" in screen
    assert hopline("send", "talker", "still here").returncode == 0


def test_a_terminal_that_is_closed_takes_the_view_along_and_not_the_run(tmux: Tmux) -> None:
    detached("--name", "talker", "--", "sh", "-c", TALKER)
    tmux.type("hopline attach talker")
    tmux.shows("begun", "● live")
    watching = view("talker")
    family = [watching, *watching.children()]
    tmux.close()
    until(lambda: not any(process.is_running() for process in family))
    assert hopline("send", "talker", "still here").returncode == 0


def test_a_crash_of_ours_leaves_the_terminal_as_it_was_and_says_what_it_was(tmux: Tmux, private_place: Path) -> None:
    detached("--name", "talker", "--", "sh", "-c", TALKER)
    broken = private_place / "sitecustomize.py"
    broken.write_text(
        "import sys\n"
        "if sys.argv[1:2] == ['attach']:\n"
        "    import hopline.tui.headings as headings\n"
        "    def head(*_):\n"
        "        raise RuntimeError('a fault of ours')\n"
        "    headings.head = head\n"
    )
    before = modes(tmux, private_place, "before")
    tmux.type(f"PYTHONPATH={private_place} hopline attach talker; echo status $?")
    tmux.shows("a fault of ours", "status 1")
    assert tmux.modes() == SHELL_MODES
    assert modes(tmux, private_place, "after") == before


def test_the_list_opens_a_run_and_comes_back(tmux: Tmux) -> None:
    detached("--name", "talker", "--", "sh", "-c", TALKER)
    tmux.type("hopline top")
    tmux.shows("hopline .*● live +1 running", "● talker +running")
    tmux.press("Enter")
    tmux.shows("‹ talker", "begun")
    tmux.escape()
    tmux.shows("● talker +running")
    tmux.press("q")
    tmux.wait_for_shell()
    tmux.type("echo status $?")
    tmux.shows("status 0")
    assert tmux.modes() == SHELL_MODES


def test_a_run_of_another_machine_is_watched_over_ssh_and_a_cut_line_is_resumed(private_place: Path) -> None:
    sshd = LoopbackSshd(private_place)
    tmux = Tmux(private_place, env={"HOPLINE_SSH": ssh_here(sshd)})
    try:
        detached("--name", "far", "--", "sh", "-c", TALKER)
        tmux.type("hopline attach --ssh 127.0.0.1 far")
        tmux.shows("‹ far  ● running", "● live", "begun")
        for session in psutil.Process(sshd._process.pid).children():
            session.send_signal(signal.SIGKILL)
        tmux.shows("retrying in|resuming from|reconnected, missed nothing")
        tmux.shows("reconnected, missed nothing")
        tmux.press("i")
        tmux.type("ping")
        tmux.shows("got ping")
        tmux.escape()
        tmux.press("q")
        tmux.shows("come back: hopline attach --ssh 127.0.0.1")
        tmux.type("clear; hopline top --ssh 127.0.0.1")
        tmux.shows("127.0.0.1 ● live", "● far +running")
        tmux.press("q")
    finally:
        tmux.close()
        sshd.close()


def test_a_flood_neither_freezes_the_view_nor_fills_the_memory(tmux: Tmux) -> None:
    detached("--name", "flood", "--max-journal", "50MB", "--when-journal-full", "drop-oldest", "--", "yes", "flood")
    tmux.type("hopline attach flood")
    tmux.shows("skipped [\\d,]+ events? to stay live")
    tmux.press(".")
    tmux.shows("interrupt  (delivered|accepted)|■ ended")
    tmux.shows("■ ended", "SIGINT")
    assert view("flood").memory_info().rss < 200_000_000


def test_what_is_no_terminal_gets_no_view() -> None:
    record = detached("--name", "talker", "--", "sh", "-c", "echo out; exit 3")
    wait_until_over(record["id"])
    assert "needs a terminal" in one_sentence(hopline("top"), 2)
    plain = hopline("attach", "talker")
    assert (plain.returncode, plain.stdout) == (3, b"out\n")


def test_a_terminal_that_can_only_print_gets_the_plain_view(private_place: Path) -> None:
    record = detached("--name", "talker", "--", "sh", "-c", "echo out; exit 3")
    wait_until_over(record["id"])
    tmux = Tmux(private_place)
    try:
        tmux.type("TERM=dumb hopline attach talker; echo status $?")
        assert "‹" not in tmux.shows("out\n", "status 3")
    finally:
        tmux.close()


def test_a_run_that_is_not_there_is_said_before_the_terminal_is_touched(tmux: Tmux) -> None:
    tmux.type("hopline attach nosuch; echo status $?")
    tmux.shows("hopline: there is no run 'nosuch'", "status 4")
    assert tmux.modes() == SHELL_MODES


def test_no_other_command_pays_for_the_view() -> None:
    probe = (
        "import sys; from hopline.__main__ import main; sys.argv[1:] = ['ls', '--json']; main();"
        "sys.stderr.write(','.join(sorted({'textual', 'rich', 'asyncio'} & set(sys.modules))))"
    )
    told = subprocess.run(
        [str(Path(HOPLINE).with_name("python")), "-c", probe], capture_output=True, timeout=20, check=True
    )
    assert json.loads(told.stdout)["instances"] == []
    assert told.stderr == b""


def test_suspending_gives_the_terminal_back_for_as_long(tmux: Tmux) -> None:
    record = detached("--name", "talker", "--", "sh", "-c", TALKER)
    wait_for_output(record["id"], b"begun")
    tmux.type("set -m; hopline attach talker")
    tmux.shows("begun", "● live")
    tmux.press("C-z")
    tmux.shows("[Ss]topped|[Ss]uspended")
    assert tmux.modes() == SHELL_MODES
    tmux.type("fg")
    tmux.shows("‹ talker", "● live", "begun")


def test_a_worker_with_a_screen_is_sat_at_and_the_view_comes_back(tmux: Tmux) -> None:
    drawing = r"printf '\033[2J\033[5;9Hname: '; read name; echo hello $name; read more; exit 3"
    record = detached("--pty", "--name", "drawing", "--", "sh", "-c", drawing)
    wait_for_output(record["id"], b"name: ")
    tmux.type("hopline attach drawing")
    tmux.shows("● live", "shown line by line; a: its screen", "a Its screen")
    tmux.press("a")
    tmux.shows("\\A\\n+ {8}name:")
    tmux.type("Ada")
    tmux.shows("hello Ada")
    tmux.press("C-\\")
    tmux.shows("● live", "hello Ada", "back from its screen")
    tmux.press("a")
    tmux.shows("\\A\\n+ {8}name: Ada")
    tmux.type("more")
    tmux.shows("■ ended", "failed: exit 3", "left with status 3")
    tmux.press("a")
    tmux.shows("there is no worker whose screen could be shown")
    tmux.press("q")
    tmux.wait_for_shell()
    assert tmux.modes() == SHELL_MODES


def test_a_worker_without_a_screen_has_none_to_sit_at(tmux: Tmux) -> None:
    detached("--name", "talker", "--", "sh", "-c", TALKER)
    tmux.type("hopline attach talker")
    tmux.shows("begun", "● live")
    tmux.press("a")
    tmux.shows("no screen of its own: it writes to a pipe")
