"""Reading a run: tabs, scrolling, finding, and a word to the person; what any screen with output can do."""

import asyncio
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Static

from hopline.rendering import plain
from hopline.tui import headings
from hopline.tui.entry_row import EntryRow
from hopline.tui.output_view import OutputView
from hopline.tui.tabs import Tabs

SAID_SECONDS = 4.0
"""How long a word to the person stands."""


VIEWS = {"output": "#output", "turns": "#turn-lines", "trace": "#trace", "events": "#events"}
"""Which view of lines each tab has."""


class ReadingScreen(Screen[None]):
    """Has views of lines in `#tabs`, told by `#bar`, and a line to search with, `#find`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "Down", show=False),
        Binding("k,up", "move(-1)", "Up", show=False),
        Binding("pagedown,space", "page(1)", "Page down", show=False),
        Binding("pageup,b", "page(-1)", "Page up", show=False),
        Binding("g,home", "top", "Top"),
        Binding("G,end", "live", "Live"),
        Binding("slash", "find", "Find"),
        Binding("n", "again(True)", "Next older", show=False),
        Binding("N", "again(False)", "Next newer", show=False),
        Binding("1", "tab('output')", "Output", show=False),
        Binding("2", "tab('turns')", "Turns", show=False),
        Binding("3", "tab('trace')", "Trace", show=False),
        Binding("4", "tab('events')", "Events", show=False),
        Binding("5", "tab('proven')", "Proven", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._tab = "output"
        self._sought = ""
        self._said = ""
        self._said_until = 0.0

    @property
    def view(self) -> OutputView:
        """The lines that are read now."""
        return self.query_one(VIEWS.get(self._tab, "#output"), OutputView)

    def draw(self) -> None:
        """Bring the screen up to date."""

    def say(self, text: str) -> None:
        """A word to the person, for a moment."""
        self._said, self._said_until = text, asyncio.get_running_loop().time() + SAID_SECONDS
        self.draw()

    def said(self, now: float) -> str:
        """The word that stands at monotonic `now`."""
        return self._said if now < self._said_until else ""

    def open_entry(self, name: str, *, anew: bool = False) -> None:
        """A line to write in, and no other."""
        self.close_entries()
        self.query_one(f"#{name}", EntryRow).open(anew=anew)

    def close_entries(self) -> None:
        """Back to reading."""
        for row in self.query(EntryRow):
            row.close()
        self.set_focus(self.view)

    def find(self, text: str) -> None:
        """The next older line that holds `text`."""
        again, self._sought = text == self._sought, text
        self._tell_found(*self.view.find(text, again=again))

    def action_move(self, lines: int) -> None:
        """Some lines down or up."""
        self.view.scroll_relative(y=lines, animate=False, immediate=True)

    def action_page(self, pages: int) -> None:
        """A page down or up, one line in common."""
        self.view.scroll_relative(y=pages * max(1, self.view.size.height - 1), animate=False, immediate=True)

    def action_top(self) -> None:
        """To the oldest line that is here."""
        self.view.to_top()

    def action_live(self) -> None:
        """To the newest, and follow."""
        self.view.to_live()

    def action_find(self) -> None:
        """Open the search."""
        self.open_entry("find", anew=True)

    def action_again(self, backwards: bool) -> None:
        """The next match."""
        if self._sought:
            self._tell_found(*self.view.find(self._sought, backwards=backwards, again=True))

    def action_tab(self, name: str) -> None:
        """Another tab."""
        self._tab = name
        self.query_one(Tabs).show_tab(name)
        self.set_focus(self.view)
        self.query_one("#bar", Static).update(headings.tabs(name))

    def on_output_view_moved(self) -> None:
        """Somebody has scrolled."""
        self.draw()

    def _tell_found(self, which: int, of: int) -> None:
        row = self.query_one("#find", EntryRow)
        row.tell(f"{which} of {of}" if of else "")
        if not of:
            self.say(f"“{plain(self._sought)}” is not in what is here")
