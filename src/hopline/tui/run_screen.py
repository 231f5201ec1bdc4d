"""One run: its output, its events, what is proven, and its controls."""

import asyncio
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import ContentSwitcher, Input, Static

from hopline.client.session import Run
from hopline.errors import HoplineError
from hopline.rendering import plain
from hopline.tui import headings
from hopline.tui.dialogs import RUN_KEYS, Ending, Keys
from hopline.tui.output_view import OutputView
from hopline.tui.steering import Steering
from hopline.tui.watching import Watching

DRAW_SECONDS = 1 / 15
"""Between two drawings at most."""

WIDE_COLUMNS = 110
"""From this width on, what is proven stands beside the output."""

SAID_SECONDS = 4.0
"""How long a word to the person stands."""


class RunScreen(Screen[None]):
    """Watches one run until it is left.

    Args:
        run: found already.
        name: the run's, for the header.
        from_list: Esc goes back to the list; else it leaves.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", show=False),
        Binding("q", "leave", "Leave"),
        Binding("j,down", "move(1)", "Down", show=False),
        Binding("k,up", "move(-1)", "Up", show=False),
        Binding("pagedown,space", "page(1)", "Page down", show=False),
        Binding("pageup,b", "page(-1)", "Page up", show=False),
        Binding("g,home", "top", "Top"),
        Binding("G,end", "live", "Live"),
        Binding("slash", "find", "Find"),
        Binding("n", "again(True)", "Next older", show=False),
        Binding("N", "again(False)", "Next newer", show=False),
        Binding("i", "write", "Input"),
        Binding("full_stop", "interrupt", "Interrupt"),
        Binding("ctrl+c", "interrupt_or_copy", "Interrupt", show=False, priority=True),
        Binding("s", "stop", "Stop"),
        Binding("r", "restart", "Restart"),
        Binding("l", "hurry", "Reconnect now", show=False),
        Binding("1", "tab('output')", "Output", show=False),
        Binding("2", "tab('events')", "Events", show=False),
        Binding("3", "tab('proven')", "Proven", show=False),
        Binding("question_mark", "keys", "Keys"),
    ]

    def __init__(self, run: Run, name: str, *, from_list: bool = False) -> None:
        super().__init__()
        self.watching = Watching(run)
        self.steering = Steering(run)
        self._session = run
        self._run_name = name
        self._from_list = from_list
        self._tab = "output"
        self._sought = ""
        self._said = ""
        self._said_until = 0.0

    def compose(self) -> ComposeResult:
        """From the top: what it is, how true it is, tabs and controls, the output, what is proven, the input."""
        yield Static(id="head", markup=False)
        yield Static(id="claim", markup=False)
        yield Static(headings.BAR, id="bar")
        with Horizontal(id="body"):
            with ContentSwitcher(initial="output", id="tabs"):
                yield OutputView(self.watching.output, id="output")
                yield OutputView(self.watching.log, id="events")
                with VerticalScroll(id="proven"):
                    yield Static(id="proven-text", markup=False)
            with VerticalScroll(id="side"):
                yield Static(id="side-text", markup=False)
        yield Static(id="foot", markup=False)
        with Horizontal(id="input-row", classes="entry"):
            yield Static("› ", classes="prompt")
            yield Input(id="input", compact=True, placeholder="input to the worker; Esc is done")
            yield Static("[@click=screen.send] Send [/][@click=screen.end_input] EOF ^D [/]", classes="answers-at-end")
        with Horizontal(id="find-row", classes="entry"):
            yield Static("/ ", classes="prompt")
            yield Input(id="find", compact=True, placeholder="find; Enter for the next older, Esc is done")
            yield Static(id="found", classes="answers-at-end", markup=False)

    async def on_mount(self) -> None:
        """Begin to follow."""
        self.query_one("#output").focus()
        self.run_worker(self.watching.follow(), name="follow", exit_on_error=True)
        self.set_interval(DRAW_SECONDS, self.draw)
        self.on_resize()

    async def on_unmount(self) -> None:
        """Hang up."""
        await self._session.close()

    def on_resize(self) -> None:
        """What is proven stands beside the output where there is room."""
        self.set_class(self.app.size.width >= WIDE_COLUMNS, "wide")

    def draw(self) -> None:
        """Bring the screen up to date with what has changed."""
        dirty = self.watching.take_dirty()
        output, events = self.query_one("#output", OutputView), self.query_one("#events", OutputView)
        if dirty.restarted:
            output.show(self.watching.output)
            events.show(self.watching.log)
        if dirty.output:
            output.sync(dirty.output_gone)
        if dirty.events:
            events.sync(dirty.events_gone)
        now = asyncio.get_running_loop().time()
        width = self.size.width
        self._put("head", headings.head(self._run_name, self.watching, self._session.record, width))
        self._put("claim", headings.claim(self.watching.claim(now), width))
        proven = headings.proven(self.watching, self.steering, now)
        self._put("side-text", proven)
        self._put("proven-text", proven)
        summary = "" if self.has_class("wide") else headings.summary(self.watching, self.steering, now)
        said = self._said if now < self._said_until else ""
        self._put("foot", headings.foot(self._shown_view(), self.watching, said or summary, width))
        self._keep_filled(output)

    async def action_back(self) -> None:
        """Out of an entry, else to the list, else out."""
        if isinstance(self.focused, Input):
            self._close_entries()
        elif self._from_list:
            await self.app.action_pop_screen()
        else:
            self.action_leave()

    def action_leave(self) -> None:
        """Leave the program; the run goes on."""
        self.app.exit()

    def action_move(self, lines: int) -> None:
        """Some lines down or up."""
        self._shown_view().scroll_relative(y=lines, animate=False, immediate=True)

    def action_page(self, pages: int) -> None:
        """A page down or up, one line in common."""
        view = self._shown_view()
        view.scroll_relative(y=pages * max(1, view.size.height - 1), animate=False, immediate=True)

    def action_top(self) -> None:
        """To the oldest line that is here."""
        self._shown_view().to_top()

    def action_live(self) -> None:
        """To the newest, and follow."""
        self._shown_view().to_live()

    def action_find(self) -> None:
        """Open the search."""
        self._open_entry("find")

    def action_again(self, backwards: bool) -> None:
        """The next match."""
        if self._sought:
            self._found(*self._shown_view().find(self._sought, backwards=backwards, again=True))

    def action_write(self) -> None:
        """Open the input, if there is a worker that takes any."""
        if self.watching.story.writable:
            self._open_entry("input")
        else:
            self._say("there is no worker that takes input")

    async def action_interrupt(self) -> None:
        """SIGINT to the worker; what becomes of it is shown as it is proven."""
        self.run_worker(self.steering.interrupt(), group="steering")

    async def action_interrupt_or_copy(self) -> None:
        """Copy what is selected; else interrupt, or leave once the run is over."""
        if text := self.get_selected_text():
            self.app.copy_to_clipboard(text)
            self.clear_selection()
        elif self.watching.story.writable:
            await self.action_interrupt()
        elif self.watching.story.ended is not None or self.watching.lost:
            await self.action_back()

    def action_stop(self) -> None:
        """End the run, once a person has said how gently."""
        self._end("Stop")

    def action_restart(self) -> None:
        """Start the command again, once a person has said how gently the worker is to be ended."""
        self._end("Restart")

    def action_hurry(self) -> None:
        """Reconnect now."""
        self.watching.hurry()

    def action_tab(self, name: str) -> None:
        """Another tab."""
        self._tab = name
        self.query_one("#tabs", ContentSwitcher).current = name
        self._shown_view().focus()
        self.query_one("#bar", Static).update(headings.bar(name))

    def action_keys(self) -> None:
        """The keys."""
        self.app.push_screen(Keys(RUN_KEYS))

    def action_end_input(self) -> None:
        """No more input for the worker."""
        self._close_entries()
        self.run_worker(self.steering.end_input(), group="steering")

    def action_send(self) -> None:
        """The line that stands in the input, for the worker."""
        entry = self.query_one("#input", Input)
        text = entry.value
        entry.clear()
        self.run_worker(self.steering.write(text + "\n"), group="steering")

    def on_input_submitted(self, submitted: Input.Submitted) -> None:
        """A line for the worker, or something to find."""
        if submitted.input.id == "input":
            self.action_send()
            return
        again = submitted.value == self._sought
        self._sought = submitted.value
        self._found(*self._shown_view().find(self._sought, again=again))

    def on_key(self, event: object) -> None:
        """Ctrl-D in the empty input ends it, as in a terminal."""
        entry = self.focused
        if (
            getattr(event, "key", "") == "ctrl+d"
            and isinstance(entry, Input)
            and entry.id == "input"
            and not entry.value
        ):
            event.stop()  # type: ignore[attr-defined]  # a key event
            self.action_end_input()

    def on_output_view_moved(self) -> None:
        """Somebody has scrolled."""
        self.draw()

    def _shown_view(self) -> OutputView:
        return self.query_one("#events" if self._tab == "events" else "#output", OutputView)

    def _put(self, name: str, text: object) -> None:
        self.query_one(f"#{name}", Static).update(text)  # type: ignore[arg-type]  # text or content

    def _open_entry(self, name: str) -> None:
        self._close_entries()
        self.query_one(f"#{name}-row").display = True
        self.query_one(f"#{name}", Input).focus()

    def _close_entries(self) -> None:
        for row in self.query(".entry"):
            row.display = False
        self._shown_view().focus()

    def _found(self, which: int, of: int) -> None:
        if not of:
            self._put("found", "")
            self._say(f"“{plain(self._sought)}” is not in what is here")
        else:
            self._put("found", f"{which} of {of}")

    def _end(self, verb: str) -> None:
        worker = self.watching.story.worker
        if not self.watching.story.writable:
            self._say("there is no worker to end")
            return
        pid = f" (pid {worker.pid})" if worker is not None and worker.pid is not None else ""

        def answered(grace: float | None) -> None:
            if grace is not None:
                end = self.steering.stop if verb == "Stop" else self.steering.restart
                self.run_worker(end(grace), group="steering")

        self.app.push_screen(Ending(verb, self._run_name, f"its worker{pid} and what that has started"), answered)

    def _say(self, text: str) -> None:
        """A word to the person, for a moment."""
        self._said, self._said_until = text, asyncio.get_running_loop().time() + SAID_SECONDS
        self.draw()

    def _keep_filled(self, output: OutputView) -> None:
        """Older output comes when its top is in view, and until there is a screenful."""
        watching = self.watching
        wanted = output.at_top and not watching.closed and watching.floor > 0
        if wanted and (not output.following or output.max_scroll_y == 0):
            self.run_worker(self._load_older(), name="older", group="older", exclusive=False)

    async def _load_older(self) -> None:
        try:
            events = await self.watching.fetch_older()
        except HoplineError:
            return  # the connection line says how it stands
        if events:
            output = self.query_one("#output", OutputView)
            dirty = self.watching.take_dirty()
            if dirty.restarted:
                return
            output.sync(dirty.output_gone)
            self.query_one("#events", OutputView).sync(dirty.events_gone)
            output.sync_above(self.watching.put_above(events))
            self.draw()
