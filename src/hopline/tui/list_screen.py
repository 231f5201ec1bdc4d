"""The list of runs, live: what waits for a person first, then what is wrong, then what runs."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable
from typing import ClassVar, Protocol

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from hopline.client.roster import Roster
from hopline.errors import HoplineError
from hopline.tui.dialogs import LIST_KEYS, Keys
from hopline.tui.entry_row import EntryRow
from hopline.tui.list_view import RunList
from hopline.tui.order import STILL_SECONDS, in_place, is_wrong, matches, ordered, tally
from hopline.tui.words import count

LOOK_SECONDS = 1.0
"""Between two looks at the runs."""

BACKOFF_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Waits after a look that failed; the last one again and again."""


SAID_SECONDS = 6.0
"""How long a word to the person stands."""


class Runs(Protocol):
    """Where runs are looked at (`hopline.client.roster`). Both block and are called in a thread."""

    def look(self, now: float) -> Roster:
        """Every run. Raises HoplineError."""

    def close(self) -> None:
        """Let go."""


class ListScreen(Screen[None]):
    """Every run of a machine.

    Args:
        runs: where to look.
        host: the machine's name; ours when empty.
        opened: shows one run, by id.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "Down", show=False),
        Binding("k,up", "move(-1)", "Up", show=False),
        Binding("pagedown,space", "move(10)", "Page down", show=False),
        Binding("pageup,b", "move(-10)", "Page up", show=False),
        Binding("g,home", "to(0)", "First", show=False),
        Binding("G,end", "to(-1)", "Last", show=False),
        Binding("enter", "open", "Open", show=False),
        Binding("slash", "search", "Search"),
        Binding("escape", "back", "Back", show=False),
        Binding("q", "leave", "Leave"),
        Binding("ctrl+c", "leave", "Leave", show=False, priority=True),
        Binding("question_mark", "keys", "Keys"),
    ]

    def __init__(self, runs: Runs, host: str, opened: Callable[[str], None]) -> None:
        super().__init__()
        self._runs = runs
        self._host = host or socket.gethostname()
        self._opened = opened
        self._roster: Roster | None = None
        self._trouble = ""
        self._retry_at = 0.0
        self._touched_at = float("-inf")
        self._places: list[str] = []
        self._seen: set[str] = set()
        self._said = ""
        self._said_until = 0.0

    def compose(self) -> ComposeResult:
        """The summary, the rows, and what is to be said beneath them."""
        yield Static(id="list-head", markup=False)
        yield Static(id="list-note", markup=False)
        yield RunList(id="runs")
        yield Static(id="list-foot", markup=False)
        yield EntryRow("/ ", "search names, commands, folders, states; Esc shows all", id="search")

    def on_mount(self) -> None:
        """Begin to look."""
        self.set_focus(self.query_one("#runs"))
        self.run_worker(self._watch(), name="watch")
        self.set_interval(0.5, self.draw)
        self.draw()

    async def on_unmount(self) -> None:
        """Let go."""
        await asyncio.to_thread(self._runs.close)

    def draw(self) -> None:
        """Bring the screen up to date."""
        now, monotonic = time.time(), asyncio.get_running_loop().time()
        self.query_one("#list-head", Static).update(self._head(now, monotonic))
        note = self.query_one("#list-note", Static)
        if self._roster is None:
            note.display = False
            return
        rows = ordered(self._roster.rows.values(), now, self._seen.__contains__)
        if monotonic - self._touched_at < STILL_SECONDS:
            rows = in_place(self._places, rows)
        self._places = [row.record.id for row in rows]
        sought = self.query_one("#search", EntryRow).entry.value.strip()
        found = [row for row in rows if matches(row, sought)] if sought else rows
        self.query_one("#runs", RunList).show(found, now)
        waiting = tally(rows, 0)[1]
        self.app.title = f"({waiting}) hopline" if waiting else "hopline"
        note.display = not found
        note.update(_empty() if not rows else f"No run matches “{sought}”; Esc shows all.")
        self.query_one("#list-foot", Static).update(self._said if monotonic < self._said_until else self._foot())

    def action_move(self, rows: int) -> None:
        """The cursor some rows on."""
        self.query_one("#runs", RunList).move(rows)

    def action_to(self, place: int) -> None:
        """The cursor to the first or last row."""
        self.query_one("#runs", RunList).move_to(place)

    def action_open(self) -> None:
        """The run that the cursor is on."""
        self.query_one("#runs", RunList).open()

    def action_search(self) -> None:
        """Open the search."""
        self.query_one("#search", EntryRow).open()

    def action_back(self) -> None:
        """Out of the search."""
        row = self.query_one("#search", EntryRow)
        if row.display:
            row.take()
            row.close()
            self.set_focus(self.query_one("#runs"))
            self.draw()

    def action_leave(self) -> None:
        """Leave the program; every run goes on."""
        self.app.exit()

    async def action_keys(self) -> None:
        """The keys."""
        await self.app.push_screen(Keys(LIST_KEYS))

    def on_input_changed(self) -> None:
        """Search as it is written."""
        self.draw()

    def action_entered(self, _row: str) -> None:
        """To the first that was found."""
        self.draw()
        self.set_focus(self.query_one("#runs"))

    def on_run_list_touched(self) -> None:
        """Rows keep their places while a hand is on them."""
        self._touched_at = asyncio.get_running_loop().time()

    def on_run_list_opened(self, opened: RunList.Opened) -> None:
        """Show a run; once it was seen over, it no longer counts as wrong."""
        row = self._roster.rows.get(opened.run_id) if self._roster is not None else None
        if row is not None and not row.live:
            self._seen.add(opened.run_id)
        self._opened(opened.run_id)

    def say(self, text: str) -> None:
        """A word to the person, for a moment."""
        self._said, self._said_until = text, asyncio.get_running_loop().time() + SAID_SECONDS
        self.draw()

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        failures = 0
        while True:
            try:
                self._roster = await asyncio.to_thread(self._runs.look, loop.time())
                failures, self._trouble = 0, ""
                wait = LOOK_SECONDS
            except (HoplineError, OSError) as error:
                self._trouble = str(error).rstrip(".")
                wait = BACKOFF_SECONDS[min(failures, len(BACKOFF_SECONDS) - 1)]
                self._retry_at = loop.time() + wait
                failures += 1
            with contextlib.suppress(Exception):  # the screen may just be leaving
                self.draw()
            await asyncio.sleep(wait)

    def _head(self, now: float, monotonic: float) -> Content:
        parts: list[str | tuple[str, str]] = [("hopline", "bold"), f"  {self._host} "]
        if self._trouble:
            seconds = max(0, round(self._retry_at - monotonic))
            parts.append((f"✕ {self._trouble}, retrying in {seconds} s", "ansi_red"))
        elif self._roster is None:
            parts.append(("◐ opening", "ansi_yellow"))
        else:
            parts.append(("● live", "ansi_green"))
        if self._roster is not None:
            rows = self._roster.rows.values()
            running, waiting, ended = tally(rows, _midnight(now))
            wrong = sum(is_wrong(row, now, self._seen.__contains__) for row in rows)
            parts += [f"   {running} running · ", (f"{waiting} waiting for you", "ansi_yellow" if waiting else "")]
            parts += [(f" · {wrong} wrong", "ansi_red")] if wrong else []
            parts.append(f" · {ended} ended today")
        return Content.assemble(*parts).truncate(self.size.width, ellipsis=True)

    def _foot(self) -> str:
        assert self._roster is not None
        parts = []
        if self._roster.unreadable:
            parts.append(f"{count(len(self._roster.unreadable), 'run')} cannot be read: hopline doctor")
        if self._roster.older:
            parts.append(f"{count(self._roster.older, 'older run')} not listed: hopline ls --all")
        return " · ".join([*parts, "Enter opens, / searches, ? keys, q leaves"])


def _midnight(now: float) -> float:
    day = time.localtime(now)
    return time.mktime((day.tm_year, day.tm_mon, day.tm_mday, 0, 0, 0, 0, 0, -1))


def _empty() -> str:
    return "No runs yet. Start one; it shows up here at once:\n\n  hopline run --detach --name first -- your-command"
