"""The full-screen program: which screen is shown, what it looks like, and how it is left."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType

from hopline.client.session import Run, open_run
from hopline.client.targets import LocalRun, OverSsh, Target
from hopline.tui.entry_row import Entry
from hopline.tui.list_screen import ListScreen, Runs
from hopline.tui.run_screen import RunScreen
from hopline.tui.watching import KEPT_BACKOFF

SIGNALLED = 128

LEAVE_SECONDS = 2.0
"""How long an orderly end may take that was asked for from outside."""

GONE_SECONDS = 0.5
"""As much where the terminal has most likely gone, and writing to it may never end."""


class HoplineApp(App[None]):
    """One run, or the list and from it one run after another. It uses the terminal's own colours."""

    CSS_PATH = "hopline.tcss"
    TITLE = "hopline"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+backslash", "leave", "Leave", show=False, priority=True),
        Binding("ctrl+q", "leave", "Leave", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", "Suspend", show=False, priority=True),
    ]

    def __init__(self, first: Callable[["HoplineApp"], RunScreen | ListScreen]) -> None:
        super().__init__(ansi_color=True)
        self._first = first
        self.shown_run: RunScreen | None = None
        """The run that was shown last."""
        self.signal: signal.Signals | None = None
        """What ended it from outside."""

    def on_mount(self) -> None:
        """Show the first screen; end in good order when asked to from outside."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._ended_by, number)
        screen = self._first(self)
        if isinstance(screen, RunScreen):
            self.shown_run = screen
        self.push_screen(screen)

    async def on_event(self, event: events.Event) -> None:
        """A key or a paste has had its effect before the next one is looked at.

        Handed from widget to widget, as Textual does it, a key would still be under way while the next one goes by a
        shorter way: what is typed in one go would get lost or come in another order.
        """
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self.app_focus = True
            if isinstance(event, events.Key):
                await self._press(event)
            elif isinstance(self.focused, Entry):
                self.focused.put(event.text.splitlines()[0] if event.text else "")
            return
        await super().on_event(event)

    async def _press(self, key: events.Key) -> None:
        if isinstance(self.focused, Entry) and key.is_printable and key.character:
            self.focused.put(key.character)
        elif (bound := self.screen.active_bindings.get(key.key)) is not None and bound.enabled:
            await self.run_action(bound.binding.action, bound.node)

    def action_leave(self) -> None:
        """Leave; every run goes on."""
        self.exit()

    def _ended_by(self, number: signal.Signals) -> None:
        self.signal = number
        patience = GONE_SECONDS if number is signal.SIGHUP else LEAVE_SECONDS
        last_resort = threading.Timer(patience, os._exit, [SIGNALLED + number])
        last_resort.daemon = True
        last_resort.start()
        self.exit()


def run_app(run: Run, name: str, *, near: bool, host: str | None = None) -> HoplineApp:
    """The program for one run, which was found already; `near` when it is on this machine, else on `host`."""
    return HoplineApp(lambda _: RunScreen(run, name, near=near, host=host))


def list_app(runs: Runs, host: str, place: Target) -> HoplineApp:
    """The program for the list of a machine.

    Args:
        runs: its runs.
        host: its name; ours when empty.
        place: how any one of its runs is reached; the run itself does not matter.
    """

    def first(app: HoplineApp) -> ListScreen:
        def opened(run_id: str) -> None:
            app.run_worker(_open(app, _at(place, run_id)), exclusive=True, group="open")

        return ListScreen(runs, host, opened)

    return HoplineApp(first)


def _at(place: Target, run_id: str) -> Target:
    return replace(place, run=run_id) if isinstance(place, OverSsh) else LocalRun(run_id)


async def _open(app: HoplineApp, target: Target) -> None:
    from hopline.errors import HoplineError
    from hopline.tui.headings import title_of

    run = open_run(target, backoff_seconds=KEPT_BACKOFF)
    try:
        await run.__aenter__()
    except HoplineError as error:
        listing = app.screen
        if isinstance(listing, ListScreen):
            listing.say(str(error))
        return
    name = title_of(run.record) if run.record is not None else "run"
    host = target.host if isinstance(target, OverSsh) else None
    await app.push_screen(RunScreen(run, name, from_list=True, near=isinstance(target, LocalRun), host=host))
