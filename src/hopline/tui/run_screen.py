"""One run: its output, its events, what is proven, and its controls."""

import asyncio
import contextlib
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, VerticalScroll
from textual.widgets import Static

from hopline.client.session import Run
from hopline.errors import HoplineError
from hopline.tui import headings
from hopline.tui.dialogs import RUN_KEYS, Ending, Keys
from hopline.tui.entry_row import Entry, EntryRow
from hopline.tui.own_screen import has_screen, sit_at
from hopline.tui.paging import PagingScreen
from hopline.tui.proofs import NO_AGENT, Action
from hopline.tui.steering import Steering
from hopline.tui.tabs import Tabs
from hopline.tui.watching import Watching

DRAW_SECONDS = 1 / 15
"""Between two drawings at most."""

WIDE_COLUMNS = 110
"""From this width on, what is proven stands beside the output."""

LOOK_SECONDS = 2.0
"""Between two looks at the run's record."""


class RunScreen(PagingScreen):
    """Watches one run until it is left.

    Args:
        run: found already.
        name: the run's, for the header.
        from_list: Esc goes back to the list; else it leaves.
        host: where ssh finds it; None for this machine.
        near: its record is at hand, and is looked at now and then: a full journal cannot tell itself that it waits.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", show=False),
        Binding("q", "leave", "Leave"),
        Binding("i", "write", "Input"),
        Binding("full_stop", "interrupt", "Interrupt"),
        Binding("ctrl+c", "interrupt_or_copy", "Interrupt", show=False, priority=True),
        Binding("s", "stop", "Stop"),
        Binding("t", "steer", "Steer"),
        Binding("p", "pause", "Pause"),
        Binding("c", "resume", "Resume"),
        Binding("r", "restart", "Restart"),
        Binding("a", "sit", "Its screen"),
        Binding("l", "hurry", "Reconnect now", show=False),
        Binding("question_mark", "keys", "Keys"),
    ]

    def __init__(
        self, run: Run, name: str, *, from_list: bool = False, near: bool = False, host: str | None = None
    ) -> None:
        super().__init__(Watching(run))
        self.steering = Steering(run)
        self._session = run
        self._run_name = name
        self._from_list = from_list
        self._near = near
        self._host = host
        self._offered = (False, False)

    def compose(self) -> ComposeResult:
        """From the top: what it is, how true it is, tabs and controls, the output, what is proven, the input."""
        yield Static(id="head", markup=False)
        yield Static(id="claim", markup=False)
        with Container(id="bars"):
            yield Static(headings.tabs("output"), id="bar")
            yield Static(headings.controls(steerable=False, screen=False), id="controls")
        with Horizontal(id="body"):
            yield Tabs(self.watching)
            with VerticalScroll(id="side"):
                yield Static(id="side-text", markup=False)
        yield Static(id="foot", markup=False)
        aside = "[@click=screen.send] Send [/][@click=screen.end_input] EOF ^D [/]"
        yield EntryRow("› ", "input to the worker; Esc is done", aside, id="input")
        yield EntryRow("» ", "words for the agent, taken at its next boundary; Esc is done", id="steer")
        yield EntryRow("/ ", "find; Enter for the next older, Esc is done", id="find")

    async def on_mount(self) -> None:
        """Begin to follow."""
        self.set_focus(self.view)
        self.run_worker(self.watching.follow(), name="follow", exit_on_error=True)
        self.set_interval(DRAW_SECONDS, self.draw)
        if self._near:
            self.set_interval(LOOK_SECONDS, self._look)
        self.on_resize()

    async def on_unmount(self) -> None:
        """Hang up."""
        await self._session.close()

    def on_resize(self) -> None:
        """What is proven stands beside the output where there is room."""
        self.set_class(self.app.size.width >= WIDE_COLUMNS, "wide")

    def draw(self) -> None:
        """Bring the screen up to date with what has changed."""
        self.query_one(Tabs).sync(self.watching.take_dirty())
        now, width = asyncio.get_running_loop().time(), self.size.width
        self._put("head", headings.head(self._run_name, self.watching, self._session.record, width))
        offered = self.watching.story.steerable, has_screen(self.watching)
        if self._offered != offered:
            self._offered = offered
            self._put("controls", headings.controls(steerable=offered[0], screen=offered[1]))
        self._put("claim", headings.claim(self.watching.claim(now), width))
        proven = headings.proven(self.watching, self.steering, now)
        self._put("side-text", proven)
        self._put("proven-text", proven)
        summary = headings.summary(self.watching, self.steering, now, wide=self.has_class("wide"))
        self._put("foot", headings.foot(self.view, self.watching, self._tab, self.said(now) or summary, width))
        self.keep_filled(now)

    async def action_back(self) -> None:
        """Out of an entry, else to the list, else out."""
        self.clear_selection()
        if isinstance(self.focused, Entry):
            self.close_entries()
        elif self._from_list:
            await self.app.action_pop_screen()
        else:
            self.action_leave()

    def action_leave(self) -> None:
        """Leave the program; the run goes on."""
        self.app.exit()

    def action_write(self) -> None:
        """Open the input, if there is a worker that takes any."""
        if self.watching.story.writable:
            self.open_entry("input")
        else:
            self.say("there is no worker that takes input")

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

    def action_steer(self) -> None:
        """Open the line of words for the agent."""
        if self._has_agent(Action.STEER):
            self.open_entry("steer")

    def action_pause(self) -> None:
        """Pause at the agent's next boundary."""
        if self._has_agent(Action.PAUSE):
            self.run_worker(self.steering.pause(), group="steering")

    def action_resume(self) -> None:
        """Go on."""
        if self._has_agent(Action.RESUME):
            self.run_worker(self.steering.resume(), group="steering")

    async def action_stop(self) -> None:
        """End the run, once a person has said how gently."""
        await self._end("Stop")

    async def action_restart(self) -> None:
        """Start the command again, once a person has said how gently the worker is to be ended."""
        await self._end("Restart")

    def action_sit(self) -> None:
        """Sit at the worker's own screen, until it is left."""
        self.say(sit_at(self.app, self.watching, self._host))

    def action_hurry(self) -> None:
        """Reconnect now."""
        self.watching.hurry()

    async def action_keys(self) -> None:
        """The keys."""
        await self.app.push_screen(Keys(RUN_KEYS))

    def action_end_input(self) -> None:
        """No more input for the worker."""
        self.close_entries()
        self.run_worker(self.steering.end_input(), group="steering")

    def action_send(self) -> None:
        """The line that stands in the input, for the worker."""
        text = self.query_one("#input", EntryRow).take()
        self.run_worker(self.steering.write(text + "\n"), group="steering")

    def action_entered(self, row: str) -> None:
        """A line for the worker, or something to find."""
        if row == "input":
            self.action_send()
        elif row == "steer":
            if text := self.query_one("#steer", EntryRow).take().strip():
                self.run_worker(self.steering.steer(text), group="steering")
            self.close_entries()
        else:
            self.find(self.query_one("#find", EntryRow).entry.value)

    def action_entry_ended(self, row: str) -> None:
        """Ctrl-D."""
        if row == "input":
            self.action_end_input()

    def _has_agent(self, action: Action) -> bool:
        """Whether an agent can take it; else the person is told what there is instead."""
        story = self.watching.story
        if story.ended is not None or self.watching.lost:
            self.say(f"the run is over: there is nothing to {action}")
        elif not story.steerable:
            self.say(NO_AGENT[action])
        else:
            return True
        return False

    def _put(self, name: str, text: object) -> None:
        self.query_one(f"#{name}", Static).update(text)  # type: ignore[arg-type]  # text or content

    async def _end(self, verb: str) -> None:
        worker = self.watching.story.worker
        if not self.watching.story.writable:
            self.say("there is no worker to end")
            return
        pid = f" (pid {worker.pid})" if worker is not None and worker.pid is not None else ""

        def answered(grace: float | None) -> None:
            if grace is not None:
                end = self.steering.stop if verb == "Stop" else self.steering.restart
                self.run_worker(end(grace), group="steering")

        await self.app.push_screen(Ending(verb, self._run_name, f"its worker{pid} and what that has started"), answered)

    async def _look(self) -> None:
        with contextlib.suppress(HoplineError):
            await self._session.look()
