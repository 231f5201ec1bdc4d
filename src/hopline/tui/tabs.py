"""The tabs of a run: output, turns, trace, events and what is proven; each says in one sentence why it is empty."""

import contextlib

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import ContentSwitcher, Static

from hopline.errors import HoplineError
from hopline.tui import turns
from hopline.tui.output_view import OutputView
from hopline.tui.scrollback import Scrollback
from hopline.tui.story import Story
from hopline.tui.watching import Dirty, Watching

ACTIVE_LINES = 6
"""More turns under way are only counted."""


class Tabs(ContentSwitcher):
    """What of a run is read.

    Args:
        watching: the run.
    """

    def __init__(self, watching: Watching) -> None:
        super().__init__(initial="output", id="tabs")
        self._watching = watching
        self._trace_old = True

    def compose(self) -> ComposeResult:
        """A view each."""
        yield OutputView(self._watching.panes["output"].lines, id="output")
        with Vertical(id="turns"):
            yield Static(id="active", markup=False)
            yield OutputView(self._watching.panes["turns"].lines, id="turn-lines")
        yield OutputView(Scrollback(), id="trace")
        yield OutputView(self._watching.log, id="events")
        with VerticalScroll(id="proven"):
            yield Static(id="proven-text", markup=False)

    def sync(self, dirty: Dirty) -> None:
        """What is watched has changed."""
        if not self.is_mounted or not self.is_attached:
            return
        watching = self._watching
        output, lines, events = (self.query_one(name, OutputView) for name in ("#output", "#turn-lines", "#events"))
        self._sync(output, watching.panes["output"].lines, dirty.output_gone)
        self._sync(lines, watching.panes["turns"].lines, dirty.turns_gone)
        self._sync(events, watching.log, dirty.events_gone)
        for name, view in (("output", output), ("turns", lines)):
            pane = watching.panes[name]
            pane.held, view.parted = not view.following, pane.parted is not None
        if dirty.turns:
            self._show_active(turns.active_lines(watching.executions))
        self._trace_old |= dirty.trace
        if self._trace_old and self.current == "trace":
            self._trace_old = False
            self._show_trace()
        output.nothing, lines.nothing, self.query_one("#trace", OutputView).nothing = nothings(watching.story)
        events.nothing = "No event was recorded yet."

    @staticmethod
    def _sync(view: OutputView, lines: Scrollback, gone: int) -> None:
        if view.scrollback is not lines:
            view.show(lines)
        else:
            view.sync(gone)

    def show_tab(self, name: str) -> None:
        """Another one."""
        self.current = name
        if name == "trace":
            self.run_worker(self._complete_trace(), group="trace", exclusive=True)

    async def _complete_trace(self) -> None:
        with contextlib.suppress(HoplineError):  # the connection line says how it stands
            await self._watching.fetch_trace()

    def _show_active(self, lines: list[str]) -> None:
        active = self.query_one("#active", Static)
        more = [f"  and {len(lines) - ACTIVE_LINES} more"] if len(lines) > ACTIVE_LINES else []
        active.display = bool(lines)
        active.update("\n".join([f"● {line}" for line in lines[:ACTIVE_LINES]] + more))

    def _show_trace(self) -> None:
        view = self.query_one("#trace", OutputView)
        lines = Scrollback()
        lines.feed(self._watching.trace.text())
        view.replace(lines)


def nothings(story: Story) -> tuple[str, str, str]:
    """Why there is no output, no turn, no trace."""
    over = story.ended is not None
    output = "Nothing was written." if over else "Nothing was written yet."
    if story.loop == "command":
        return (
            output,
            "A plain command takes no turns: its output is all it says.",
            "A plain command has no trace: what is known of its worker stands under Proven.",
        )
    turn = "No agent took a turn." if over else "No agent has taken a turn yet."
    return output, turn, "Nothing was traced." if over else "Nothing was traced yet."
