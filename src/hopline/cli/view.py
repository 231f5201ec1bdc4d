"""The live view: one loop that shows a run, steers it and forwards input, and never blocks on any of them.

While the screen takes nothing more, the subscription is not read: a slow watcher slows only itself.
"""

import select
import time
from collections.abc import Callable
from dataclasses import dataclass

from hopline.cli.controls import Controls
from hopline.cli.feed import InputFeed
from hopline.cli.gaps import Gaps
from hopline.cli.keys import KeySource
from hopline.cli.screen import Screen
from hopline.cli.showing import Showing, ViewOptions
from hopline.cli.statusline import Facts, Rate
from hopline.cli.steering import Act, Steering
from hopline.client import Subscription
from hopline.client.facts import RunFacts
from hopline.errors import Unavailable
from hopline.rendering import plain

TICK_SECONDS = 0.25
"""How often the status line is brought up to date."""

FIRST_STATUS_SECONDS = 0.8
"""A run that is over sooner never shows one."""

QUIET_AFTER_INPUT_SECONDS = 10.0
"""The status line stays away while a person types."""


@dataclass(frozen=True, slots=True)
class Seat:
    """What the person at the view can do.

    Args:
        steering: what signals mean.
        keys: the signals.
        controls: takes interrupts and stops.
        feed: standard input; None when it is not forwarded.
        size: of our terminal, (columns, rows), when the worker's is to have it too.
    """

    steering: Steering
    keys: KeySource
    controls: Controls
    feed: InputFeed | None
    size: Callable[[], tuple[int, int]] | None = None


@dataclass(frozen=True, slots=True)
class Leaving:
    """Why a view ended before its run did, as the act that ended it."""

    act: Act


class View:
    """One watcher of one run.

    Args:
        screen: where it shows.
        options: what it shows.
        subscription: an accepted one.
        resume: makes the next subscription after a lost connection, from (cursor, store id); None when nothing
            serves the run any more.
        seat: None when nobody steers and signals end the command as usual.
    """

    def __init__(
        self,
        screen: Screen,
        options: ViewOptions,
        subscription: Subscription,
        resume: Callable[[int, str], Subscription | None],
        seat: Seat | None = None,
    ) -> None:
        self._showing = Showing(screen, options)
        self._screen = screen
        self._options = options
        self._subscription = subscription
        self._resume = resume
        self._seat = seat
        self._rate = Rate()
        self._started = time.monotonic()
        self._next_tick = self._started
        self._typed_at = -QUIET_AFTER_INPUT_SECONDS

    @property
    def facts(self) -> RunFacts:
        """What is known of the run by what was shown."""
        return self._showing.facts

    @property
    def cursor(self) -> int:
        """The last sequence shown."""
        return self._showing.cursor

    @property
    def gaps(self) -> Gaps:
        """What could not be shown."""
        return self._showing.gaps

    @property
    def output_bytes(self) -> int:
        """How much output was shown."""
        return self._showing.output_bytes

    def run(self) -> Leaving | None:
        """Show until the run ends or `through` is reached and all is written (None), or a key ends the view.

        Raises SinkClosed when nobody reads the output, Unavailable when the run's server is lost.
        """
        ready: set[int] = set()
        while True:
            self._screen.flush()
            if not self._screen.wait_on():
                self._advance(self._subscription.fileno() in ready)
            if self._showing.complete() and not self._screen.wait_on():
                self._showing.tell_gaps()
                return None
            self._tick()
            ready = self._wait()
            if self._seat is not None:
                if (leaving := self._steer(self._seat, ready)) is not None:
                    return leaving
                if self._seat.feed is not None and self._seat.feed.wait_on() in ready:
                    self._take_input(self._seat.feed)

    def _wait(self) -> set[int]:
        poller = select.poll()
        held = self._screen.wait_on()
        for descriptor in held:
            poller.register(descriptor, select.POLLOUT)
        if not held:
            poller.register(self._subscription.fileno(), select.POLLIN)
        if self._seat is not None:
            for descriptor in (self._seat.keys.fileno(), *self._seat.controls.wait_on()):
                poller.register(descriptor, select.POLLIN)
            if self._seat.feed is not None and (source := self._seat.feed.wait_on()) is not None:
                poller.register(source, select.POLLIN)
        return {descriptor for descriptor, _ in poller.poll(TICK_SECONDS * 1000)}

    def _steer(self, seat: Seat, ready: set[int]) -> Leaving | None:
        for descriptor in seat.controls.wait_on():
            if descriptor in ready and (sentence := seat.controls.receive(descriptor)) is not None:
                self._screen.say(sentence)
        for key in seat.keys.take() if seat.keys.fileno() in ready else []:
            trouble = None
            act = seat.steering.receive(key, time.monotonic())
            if act is Act.RESIZE:
                if seat.size is not None and (trouble := seat.controls.resize(*seat.size())) is not None:
                    self._screen.say(trouble)
                continue
            self._screen.echoed()
            match act:
                case Act.INTERRUPT:
                    trouble = seat.controls.interrupt()
                case Act.STOP:
                    trouble = seat.controls.stop()
                case _:
                    return Leaving(act)
            if trouble is not None:
                self._screen.say(trouble)
        return None

    def _take_input(self, feed: InputFeed) -> None:
        before = feed.forwarded_bytes
        feed.step()
        if feed.terminal and feed.forwarded_bytes > before:
            self._typed_at = time.monotonic()
            self._screen.hide()

    def _advance(self, readable: bool) -> None:
        connection = self._subscription.connection
        if readable:
            connection.fill()
        while not self._screen.wait_on() and not self._showing.complete():
            line = connection.take_line()
            if line is None:
                if connection.ended:
                    self._redial()
                return
            self._showing.take_frame(line)

    def _redial(self) -> None:
        self._subscription.close()
        following = self._resume(self.cursor, self._showing.store_id)
        if following is None:
            raise Unavailable(f"the run's server is gone; the last event here is {self.cursor}.")
        self._subscription = following

    def _tick(self) -> None:
        now = time.monotonic()
        if now < self._next_tick:
            return
        self._next_tick = now + TICK_SECONDS
        rate = self._rate.at(now, self._showing.events)
        if now - self._started < FIRST_STATUS_SECONDS or now - self._typed_at < QUIET_AFTER_INPUT_SECONDS:
            return
        elapsed = self._options.age_seconds + now - self._started
        held = self._options.held()
        state = f"{self.facts.status}, held: {plain(held)}" if held else self.facts.status
        self._screen.tick(Facts(state, elapsed, self.output_bytes, rate))
