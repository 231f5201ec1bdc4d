"""Follows one run for a screen: its story, its output, its events, and the truth about the connection.

What falls out of a tail that is too short is fetched when it is little, and said when it is much.
"""

import asyncio
import contextlib
from dataclasses import dataclass

from hopline.client.items import Connected, Disconnected, Executions, Finished, Item, Reason, Rebootstrapped
from hopline.client.resume import BACKOFF_SECONDS
from hopline.client.session import Run
from hopline.errors import HoplineError
from hopline.tui.claim import Claim, Connection
from hopline.tui.event_lines import event_line
from hopline.tui.pane import Pane
from hopline.tui.scrollback import Scrollback
from hopline.tui.story import Story, fold
from hopline.tui.tracing import Trace
from hopline.tui.turns import TurnLines
from hopline.wire.client.events import RunEvent, output_of

TAIL_EVENTS = 100
"""What is asked for at first; older events come when they are scrolled to."""

FILL_EVENTS = 200
FILL_BYTES = 8 << 20
"""So many events that were skipped are fetched, or as many as wrote about so much, such as the minutes of a view that
was stopped; of more it is said."""

TURN_SECONDS = 0.01
"""How long events are worked on before keys and drawing have their turn."""

KEPT_BACKOFF = (*BACKOFF_SECONDS, *([BACKOFF_SECONDS[-1]] * 100_000))
"""A view stays until it is left: it goes on trying every 8 s."""


@dataclass(slots=True)
class Dirty:
    """What has changed since the screen was drawn."""

    turns: bool = False
    trace: bool = False
    output_gone: int = 0
    """Lines that went from the top of the output."""
    events_gone: int = 0
    turns_gone: int = 0


class Watching:
    """One run being watched; `follow` does it, `take_dirty` tells what to draw."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.story = Story()
        self.panes = _panes(0)
        """What is read again from the record where it is not here: `output` and `turns`."""
        self.log = Scrollback()
        """The events that are no output, a line each."""
        self.trace = Trace()
        self.executions: Executions | None = None
        """The agents' turns under way; None until the server has told."""
        self._trace_whole = False
        self._written: dict[tuple[str, str], int] = {}
        self._connection = Connection()
        self._dirty = Dirty()
        self._shown = 0
        self._latest = 0
        self._stream = run.events(tail=TAIL_EVENTS)
        self._fetching = False

    def claim(self, now: float) -> Claim:
        """The connection line at monotonic `now`."""
        return self._connection.claim(self._shown, max(self._latest, self._stream.latest_sequence), now)

    @property
    def newest(self) -> int:
        """The last event that was seen."""
        return self._shown

    @property
    def written(self) -> int:
        """Bytes that the workers have written, also before what was shown."""
        return sum(self._written.values())

    @property
    def run_id(self) -> str:
        """The run that answers; "" until it is known."""
        return self._stream.run_id

    @property
    def lost(self) -> bool:
        """Whether the run's server is gone and had not ended it."""
        return self._connection.over and self.story.ended is None

    def take_dirty(self) -> Dirty:
        """What has changed since this was asked last."""
        dirty, self._dirty = self._dirty, Dirty()
        return dirty

    def hurry(self) -> None:
        """Try to reconnect now."""
        self._stream.hurry()

    async def follow(self) -> None:
        """Until the run is over, its server is gone, or it is not ours to watch. Raises nothing but cancellation."""
        loop = asyncio.get_running_loop()
        turn = loop.time() + TURN_SECONDS
        try:
            async with self._stream as stream:
                async for item in stream:
                    await self._take(item, loop.time())
                    if loop.time() > turn:
                        await asyncio.sleep(0)
                        turn = loop.time() + TURN_SECONDS
        except HoplineError as error:
            self._connection.failed(str(error))

    async def fetch(self, name: str, *, above: bool) -> list[RunEvent]:
        """The events that a pane lacks above what is here, or below; none when it lacks none. Raises HoplineError."""
        pane = self.panes[name]
        span = pane.above() if above else pane.below(self._shown)
        if span is None or self._fetching:
            return []
        self._fetching = True
        try:
            before = (pane.lines, pane.floor, pane.parted)
            events = await self._between(*span)
        finally:
            self._fetching = False
        if self.panes[name] is not pane or before != (pane.lines, pane.floor, pane.parted):
            return []
        if above and not events:
            pane.lines.torn = True  # the record no longer has them
        return events

    async def fetch_trace(self) -> None:
        """The spans that began before what is here. Raises HoplineError."""
        trace = self.trace
        if self._trace_whole:
            return
        snapshot = await self.run.snapshot()
        if trace is self.trace:
            trace.seed(snapshot.spans, snapshot.sequence)
            self._trace_whole = self._dirty.trace = True

    async def _take(self, item: Item, now: float) -> None:
        self._connection.receive(item, now)
        match item:
            case RunEvent():
                self._event(item)
                return
            case Connected(floor=floor, latest_sequence=latest):
                self._latest, self._trace_whole = latest, floor <= 0
                self.panes = _panes(floor)
            case Rebootstrapped(reason=Reason.FELL_BEHIND):
                await self._bridge(item)
            case Rebootstrapped():
                self._restart(item)
            case Executions():
                self.executions, self._dirty.turns = item, True
                return
            case Disconnected():
                pass
            case Finished():
                self._latest = self._shown

    def _event(self, event: RunEvent) -> None:
        if event.sequence <= self._shown:
            return  # the spine and what was shown, once more
        self._shown = event.sequence
        output = output_of(event)
        if output is not None:
            self._written[output.process_id, output.stream] = output.offset + len(output.written())
            self._dirty.output_gone += self.panes["output"].take(event)
            return
        self.story = fold(self.story, event)
        self._dirty.events_gone += self.log.feed(event_line(event) + "\n")
        self._dirty.turns_gone += self.panes["turns"].take(event)
        self._dirty.trace |= self.trace.fold(event)

    async def _events(self, events: list[RunEvent]) -> None:
        """Many at once, with turns for keys and drawing."""
        loop = asyncio.get_running_loop()
        turn = loop.time() + TURN_SECONDS
        for event in events:
            self._event(event)
            if loop.time() > turn:
                await asyncio.sleep(0)
                turn = loop.time() + TURN_SECONDS

    async def _bridge(self, item: Rebootstrapped) -> None:
        """Some events were skipped between what was shown and what follows."""
        missing = item.floor - self._shown
        if missing <= 0:
            return
        if missing <= FILL_EVENTS or missing * self.written <= FILL_BYTES * self._shown:
            with contextlib.suppress(HoplineError):  # then they stay skipped, and that is said
                events = await self._between(self._shown, item.floor + 1)
                if events and events[-1].sequence == item.floor:
                    await self._events(events)
                    return
        self._connection.skipped(missing)
        self._trace_whole = False
        if self.panes["output"].begin(item.floor):
            self._dirty.output_gone = 0
        if self.panes["turns"].begin(item.floor):
            self._dirty.turns_gone = 0

    def _restart(self, item: Rebootstrapped) -> None:
        self.story, self.log, self.panes = Story(), Scrollback(), _panes(item.floor)
        self.trace, self.executions = Trace(), None
        self._shown, self._trace_whole = 0, item.floor <= 0
        self._written.clear()
        self._dirty = Dirty(turns=True, trace=True)

    async def _between(self, after: int, before: int) -> list[RunEvent]:
        """Every event with after < sequence < before."""
        events: list[RunEvent] = []
        while after < before - 1:
            some = await self.run.history(after=after, before=before)
            if not some or some[-1].sequence <= after:
                break
            events += some
            after = some[-1].sequence
        return events


def _panes(floor: int) -> dict[str, Pane]:
    return {"output": Pane(lambda: _written, floor), "turns": Pane(lambda: TurnLines().text, floor)}


def _written(event: RunEvent) -> str:
    output = output_of(event)
    return output.content if output is not None else ""
