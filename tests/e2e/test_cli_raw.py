"""A worker's terminal in place of ours: keys, sizes, leaving, coming back, and how our terminal is left."""

import fcntl
import os
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from cli_rig import HOPLINE, Terminal, detached, hopline, one_sentence, shown, wait_for_output

DRAWING_CODE = r"""
import os, signal, time
def told(*_):
    columns, rows = os.get_terminal_size(1)
    os.write(1, b"%d %d\n" % (rows, columns))
signal.signal(signal.SIGWINCH, told)
signal.signal(signal.SIGINT, lambda *_: os.write(1, b"int"))
os.write(1, b"\033[?1049h\033[?25l\033[?1hfirst")
told()
os.write(1, b"up\n")
while True:
    time.sleep(0.05)
"""
"""Draws, tells its size whenever that changes, and lives until it is ended. (A trap of bash loses changes.)"""
DRAWING = (sys.executable, "-S", "-E", "-c", DRAWING_CODE)
UNDONE = b"\x1b[?1l\x1b[?25h\x1b[?1049l\x1b[0m"


def settings(seat: Terminal) -> object:
    return termios.tcgetattr(seat._master)


def resize(seat: Terminal, columns: int, rows: int) -> None:
    fcntl.ioctl(seat._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


@pytest.fixture
def drawing() -> Iterator[str]:
    """A run that drew on a terminal of 80x24 while nobody watched."""
    detached("--pty", "--name", "drawing", "--", *DRAWING)
    wait_for_output("drawing", b"up")
    yield "drawing"
    hopline("stop", "drawing", "--grace", "0")


def test_every_key_goes_to_the_worker_as_it_is() -> None:
    with Terminal("run", "--pty", "--", "sh", "-c", "stty raw -echo; printf up; head -c 9 | od -An -tx1") as seat:
        before = settings(seat)
        seat.read_until(b"up")
        assert settings(seat) != before
        seat.type(b"\x03\x1a\x04\x11\x13\r\n\x7f\xff")
        seat.read_until(b" 03 1a 04 11 13 0d 0a 7f ff\n")
        assert seat.finish() == 0
        assert settings(seat) == before
    assert b" completed: exited with status 0" in seat.received


def test_the_workers_own_terminal_makes_a_signal_of_ctrl_c() -> None:
    with Terminal("run", "--pty", "--", "bash", "-c", "trap 'echo caught; exit 5' INT; echo up; sleep 60") as seat:
        seat.read_until(b"up\r\n")
        seat.type(b"\x03")
        seat.read_until(b"caught\r\n")
        assert seat.finish() == 5


def test_our_size_is_the_workers_from_the_start_and_whenever_it_changes() -> None:
    with Terminal("run", "--pty", "--", *DRAWING) as seat:
        seat.read_until(b"24 80\r\n")
        seat.read_until(b"up\r\n")
        for columns in range(81, 101):
            resize(seat, columns, 30)
        seat.read_until(b"30 100\r\n")
        seat.type(b"\x1c")
        assert seat.finish() == 0
    assert (shown()["instance"]["columns"], shown()["instance"]["rows"]) == (100, 30)
    hopline("stop", "@last", "--grace", "0")


@pytest.mark.parametrize(("ending", "status"), [(b"\x1c", 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_leaving_gives_the_terminal_back_and_the_run_goes_on(ending: bytes | signal.Signals, status: int) -> None:
    with Terminal("run", "--pty", "--", *DRAWING) as seat:
        before = settings(seat)
        seat.read_until(b"up\r\n")
        if isinstance(ending, bytes):
            seat.type(ending)
        else:
            seat.process.send_signal(ending)
        seat.read_until(UNDONE)
        assert seat.finish() == status
        assert settings(seat) == before
    if status != 129:
        run_id = shown()["instance"]["id"]
        assert f"hopline: detached; come back: hopline attach {run_id} --raw".encode() in seat.received
    assert shown()["live"]
    hopline("stop", "@last", "--grace", "0")


def test_a_killed_client_leaves_the_terminal_as_it_was() -> None:
    code = f"{HOPLINE} run --pty -- {shlex.join(DRAWING)}; read line; echo got $line"
    with Terminal("-c", code, program="/bin/bash") as seat:
        before = settings(seat)
        seat.read_until(b"up\r\n")
        (client,) = (
            child for child in psutil.Process(seat.process.pid).children() if "--pty" in " ".join(child.cmdline())
        )
        client.kill()
        seat.read_until(UNDONE)
        assert settings(seat) == before
        seat.type(b"on\n")
        seat.read_until(b"got on\r\n")
    hopline("stop", "@last", "--grace", "0")


def test_a_late_comer_enters_the_workers_modes_and_makes_it_draw_again(drawing: str) -> None:
    with Terminal("attach", "--raw", drawing) as seat:
        seat.read_until(b"\x1b[?1049h\x1b[2J\x1b[H\x1b[?1h\x1b[?25l")
        seat.read_until(b"24 79\r\n")
        seat.read_until(b"24 80\r\n")
        assert b"first" not in seat.received
        seat.type(b"\x03")
        seat.read_until(b"int")
        seat.type(b"\x1c")
        seat.read_until(UNDONE)
        assert seat.finish() == 0


def test_of_two_at_one_terminal_both_type_both_see_and_the_last_size_holds(drawing: str) -> None:
    with Terminal("attach", "--raw", drawing) as first, Terminal("attach", "--raw", drawing) as second:
        for seat in (first, second):
            seat.read_until(b"24 80\r\n")
        for seat, columns in ((first, 100), (second, 90), (first, 70)):
            resize(seat, columns, 24)
            for each in (first, second):
                each.read_until(b"24 %d\r\n" % columns)
        for typist in (first, second):
            typist.type(b"\x03")
            for each in (first, second):
                each.read_until(b"int")
        hopline("stop", drawing, "--grace", "0")
        for seat in (first, second):
            seat.read_until(UNDONE)
            assert seat.finish() in (129, 137)


def test_a_late_comer_to_a_line_of_text_sees_what_was_written_last() -> None:
    detached("--pty", "--name", "asking", "--", "sh", "-c", "echo before; printf 'name? '; read name; echo hi $name")
    wait_for_output("asking", b"name? ")
    with Terminal("attach", "--raw", "asking") as seat:
        seat.read_until(b"before\r\nname? ")
        seat.type(b"you\r")
        seat.read_until(b"hi you\r\n")
        assert seat.finish() == 0


def test_without_a_terminal_of_ours_the_worker_still_has_one_and_input_is_typed() -> None:
    done = hopline("run", "--pty", "--", "sh", "-c", "test -t 0 && stty size; cat; exit 3", input=b"abc\n")
    assert (done.returncode, done.stdout) == (3, b"24 80\r\nabc\r\nabc\r\n")


def test_raw_is_refused_where_there_is_no_terminal_to_sit_at(drawing: str) -> None:
    assert "needs a terminal" in one_sentence(hopline("attach", "--raw", drawing), 2)
    detached("--name", "piped", "--", "true")
    assert "has no terminal to sit at" in one_sentence(hopline("attach", "--raw", "piped"), 2)
    detached("--name", "over", "--pty", "--", "true")
    hopline("logs", "over", "-f")
    with Terminal("attach", "--raw", "over") as seat:
        assert seat.finish() == 4
    assert b"nothing to sit at" in seat.received


class Tmux:
    """A real terminal emulator, 80x24, with a shell in it."""

    def __init__(self, folder: Path) -> None:
        self._socket = str(folder / "tmux")
        self("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "bash --norc --noprofile")
        self.type("PS1='$ '; clear", "Enter")

    def __call__(self, *arguments: str) -> str:
        done = subprocess.run(["tmux", "-S", self._socket, *arguments], capture_output=True, text=True, timeout=20)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def type(self, *keys: str) -> None:
        self("send-keys", *keys)

    def screen(self, *options: str) -> str:
        return self("capture-pane", "-p", *options)

    def until(self, seen: Callable[[str], bool], *options: str) -> str:
        deadline = time.monotonic() + 20
        while not seen(screen := self.screen(*options)):
            assert time.monotonic() < deadline, screen
            time.sleep(0.03)
        return screen


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    if shutil.which("tmux") is None:
        assert not os.environ.get("CI"), "CI has tmux"
        pytest.skip("tmux is not installed")
    terminal = Tmux(tmp_path)
    yield terminal
    terminal("kill-server")


def needs(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def test_a_pager_pages_resizes_is_left_and_comes_back(tmux: Tmux, tmp_path: Path) -> None:
    needs("less")
    text = tmp_path / "text"
    text.write_text("".join(f"line {number}\n" for number in range(1, 500)))
    tmux.type(f"{HOPLINE} run --pty --name page -- less {text}", "Enter")
    tmux.until(lambda screen: screen.startswith("line 1\nline 2\n") and "line 23" in screen)
    tmux.type("Space")
    tmux.until(lambda screen: screen.startswith("line 24\n"))
    tmux("resize-window", "-x", "60", "-y", "15")
    tmux.until(lambda screen: "line 37" in screen and "line 38" not in screen)
    tmux.type("C-\\")
    tmux.until(lambda screen: "detached; come back" in screen and "line" not in screen.replace("hopline", ""))
    tmux.type(f"{HOPLINE} attach --raw page", "Enter")
    tmux.until(lambda screen: screen.startswith("line 24\n"))
    tmux.type("q")
    tmux.until(lambda screen: "exited with status 0" in screen)
    tmux.type("stty -a | grep -c ' icanon.* echo '", "Enter")
    tmux.until(lambda screen: "\n1\n" in screen)


def test_an_editor_edits(tmux: Tmux, tmp_path: Path) -> None:
    needs("vi")
    text = tmp_path / "text"
    tmux.type(f"{HOPLINE} run --pty --name edit -- vi {text}", "Enter")
    tmux.until(lambda screen: "0,0-1" in screen)
    tmux.type("i", "one", "Enter", "tvo")
    tmux.until(lambda screen: screen.startswith("one\ntvo\n"))
    tmux.type("Escape", "Escape", "0", "x")
    tmux.until(lambda screen: screen.startswith("one\nvo\n"))
    tmux.type("C-c")
    tmux.until(lambda screen: "Type  :qa" in screen)
    tmux.type(":wq", "Enter")
    tmux.until(lambda screen: "exited with status 0" in screen)
    assert text.read_text() == "one\nvo\n"


def test_an_interpreter_keeps_its_colours_and_its_line_editing(tmux: Tmux) -> None:
    needs("python3")
    tmux.type(f"{HOPLINE} run --pty -- python3 -q", "Enter")
    tmux.until(lambda screen: screen.rstrip().endswith(">>>"))
    tmux.type(r"print('\x1b[31mre' + 'd\x1b[0m')", "Enter")
    tmux.until(lambda screen: "\x1b[31mred" in screen, "-e")
    tmux.type("1 + 1", "Left", "Left", "Left", "Left", "Left", "4", "Enter")
    tmux.until(lambda screen: "\n42\n" in screen)
    tmux.type("while True: pass", "Enter", "Enter")
    time.sleep(0.2)
    tmux.type("C-c")
    tmux.until(lambda screen: "KeyboardInterrupt" in screen)
    tmux.type("exit(7)", "Enter")
    tmux.until(lambda screen: "exited with status 7" in screen)
