"""The full-screen view without a terminal (Textual's pilot), and in a real one (tmux)."""

import asyncio
import os
import re
import shutil
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from cli_rig import DEADLINE_SECONDS, HOPLINE
from textual.pilot import Pilot

from hopline.client.roster import LocalRuns
from hopline.client.session import Run, open_run
from hopline.client.targets import LocalRun
from hopline.tui.app import HoplineApp, list_app, run_app
from hopline.tui.watching import KEPT_BACKOFF

Seat = Pilot[None]


def text_of(app: HoplineApp) -> str:
    """What is on the screen, a line a row, without trailing blanks."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


async def shows(seat: Seat, *wanted: str, not_any_more: str = "") -> str:
    """Wait until everything that is wanted is on the screen. Returns the screen."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while True:
        screen = text_of(seat.app)  # type: ignore[arg-type]  # the app is ours
        there = all(re.search(pattern, screen) for pattern in wanted)
        if there and not (not_any_more and re.search(not_any_more, screen)):
            return screen
        assert time.monotonic() < deadline, f"{wanted} never came; the screen shows:\n{screen}"
        await seat.pause(0.05)


def on_run(run: str, body: Callable[[Seat, Run], Awaitable[None]], size: tuple[int, int] = (80, 24)) -> HoplineApp:
    """`body` at the view of one run."""

    async def sit() -> HoplineApp:
        async with open_run(LocalRun(run), backoff_seconds=KEPT_BACKOFF) as found:
            assert found.record is not None
            app = run_app(found, found.record.name, near=True)
            async with app.run_test(size=size) as seat:
                await body(seat, found)
            return app

    return asyncio.run(sit())


def on_list(body: Callable[[Seat], Awaitable[None]], size: tuple[int, int] = (80, 24)) -> HoplineApp:
    """`body` at the list of runs."""

    async def sit() -> HoplineApp:
        app = list_app(LocalRuns(), "", LocalRun("@last"))
        async with app.run_test(size=size) as seat:
            await body(seat)
        return app

    return asyncio.run(sit())


class Tmux:
    """A shell in a real terminal; what it runs is typed.

    Args:
        place: a folder for its socket.
        env: variables for the shell besides ours.
    """

    def __init__(self, place: Path, columns: int = 80, rows: int = 24, env: dict[str, str] | None = None) -> None:
        program = shutil.which("tmux")
        assert program is not None, "tmux is missing; run: scripts/system-packages.sh"
        self._command = [program, "-S", str(place / "tmux"), "-f", "/dev/null"]
        variables = {**os.environ, "PATH": f"{Path(HOPLINE).parent}:{os.environ['PATH']}", "PS1": "$ ", **(env or {})}
        variables.pop("TMUX", None)
        subprocess.run(
            [*self._command, "new-session", "-d", "-x", str(columns), "-y", str(rows), "exec sh -i"],
            env=variables,
            check=True,
            timeout=20,
        )
        self._tell("set-option", "-g", "escape-time", "0")

    def type(self, line: str) -> None:
        """A line for the shell, or for whatever runs there."""
        self._tell("send-keys", "-l", line)
        self.press("Enter")

    def press(self, *keys: str) -> None:
        """Keys by tmux's names."""
        self._tell("send-keys", *keys)

    def send(self, data: str) -> None:
        """Characters as they are, such as a mouse report."""
        self._tell("send-keys", "-l", data)

    def screen(self, *, colours: bool = False) -> str:
        """What is on the screen."""
        return self._tell("capture-pane", "-p", *(["-e"] if colours else []))

    def shows(self, *wanted: str, colours: bool = False) -> str:
        """Wait until everything that is wanted is on the screen. Returns it."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while True:
            screen = self.screen(colours=colours)
            if all(re.search(pattern, screen) for pattern in wanted):
                return screen
            assert time.monotonic() < deadline, f"{wanted} never came; the screen shows:\n{screen}"
            time.sleep(0.05)

    def modes(self) -> str:
        """Whether the second screen, the mouse and the cursor are on: `0 0 1` for a terminal as a shell has it."""
        return self._tell("display-message", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag}").strip()

    def escape(self) -> None:
        """Escape, and a moment by which it is told from the beginning of another key."""
        self.press("Escape")
        time.sleep(0.3)

    def wait_for_shell(self) -> None:
        """Until the view has left: what is typed before would be read by it."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while self._tell("display-message", "-p", "#{pane_current_command} #{alternate_on}").split() != ["sh", "0"]:
            assert time.monotonic() < deadline, f"it never left; the screen shows:\n{self.screen()}"
            time.sleep(0.05)

    def resize(self, columns: int, rows: int) -> None:
        """Another size of the terminal."""
        self._tell("resize-window", "-x", str(columns), "-y", str(rows))

    def close(self) -> None:
        """End it and what runs in it."""
        subprocess.run([*self._command, "kill-server"], check=False, capture_output=True, timeout=20)

    def _tell(self, *arguments: str) -> str:
        told = subprocess.run([*self._command, *arguments], capture_output=True, text=True, check=True, timeout=20)
        return told.stdout
