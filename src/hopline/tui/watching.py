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
from hopline.tui.scrollback import Scrollback
from hopline.tui.story import Story, fold
from hopline.tui.tracing import Trace
from hopline.tui.turns import TurnLines
from hopline.tui.words import count
from hopline.wire.client.events import RunEvent, output_of

TAIL_EVENTS = 100
"""What is asked for at first; older events come when they are scrolled to."""

OLDER_EVENTS_AT_FIRST = 16
OLDER_EVENTS = 512
"""How many older events one scroll fetches at most: it doubles while they are small."""

OLDER_CHARACTERS = 1 << 20
"""Of output in one fetch; past it the next fetches half as many events."""

FILL_EVENTS = 200
"""As many events that were skipped are fetched, if one Response holds them; of more it is said."""

TURN_SECONDS = 0.01
"""How long events are worked on before keys and drawing have their turn."""

KEPT_BACKOFF = (*BACKOFF_SECONDS, *([BACKOFF_SECONDS[-1]] * 100_000))
"""A view stays until it is left: it goes on trying every 8 s."""


@dataclass(slots=True)
class Dirty:
    """What has changed since the screen was drawn."""

    output: bool = False
    events: bool = False
    turns: bool = False
    trace: bool = False
    story: bool = False
    restarted: bool = False
    output_gone: int = 0
    """Lines that went from the top of the output."""
    events_gone: int = 0
    turns_gone: int = 0


class Watching:
    """One run being watched; `follow` does it, `take_dirty` tells what to draw."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.story = Story()
        self.output = Scrollback()
        self.log = Scrollback()
        """The events that are no output, a line each."""
        self.turns = Scrollback()
        """What agents do."""
        self.trace = Trace()
        self.executions: Executions | None = None
        """The agents' turns under way; None until the server has told."""
        self._turn_lines = TurnLines()
        self._trace_whole = False
        self._written: dict[tuple[str, str], int] = {}
        self.floor = 0
        """Events up to it have not been fetched."""
        self.closed = False
        """Whether there is no room for older output."""
        self._connection = Connection()
        self._dirty = Dirty()
        self._shown = 0
        self._latest = 0
        self._stream = run.events(tail=TAIL_EVENTS)
        self._fetching = False
        self._window = OLDER_EVENTS_AT_FIRST

    def claim(self, now: float) -> Claim:
        """The connection line at monotonic `now`."""
        return self._connection.claim(self._shown, max(self._latest, self._stream.latest_sequence), now)

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
            self._dirty.story = True

    async def fetch_older(self) -> list[RunEvent]:
        """The events before the oldest that is here; none when there are none, or no room. Raises HoplineError."""
        self.closed = self.closed or self.output.dropped > 0  # what stands at its top no longer begins at the floor
        if self._fetching or self.floor <= 0 or self.closed:
            return []
        self._fetching = True
        try:
            before, store = self.floor, self._stream.position.store_id
            events = await self._between(max(0, before - self._window), before + 1)
            return events if (before, store) == (self.floor, self._stream.position.store_id) else []
        finally:
            self._fetching = False

    async def fetch_trace(self) -> None:
        """The spans that began before what is here. Raises HoplineError."""
        trace = self.trace
        if self._trace_whole:
            return
        snapshot = await self.run.snapshot()
        if trace is self.trace:
            trace.seed(snapshot.spans, snapshot.sequence)
            self._trace_whole = self._dirty.trace = True

    def put_above(self, events: list[RunEvent]) -> int:
        """Show what `fetch_older` gave. Returns how many lines of output that put at the top."""
        pieces = [output.content for event in events if (output := output_of(event)) is not None and output.content]
        self.floor = events[0].sequence - 1
        size = sum(map(len, pieces))
        self._window = max(1, self._window // 2) if size > OLDER_CHARACTERS else min(OLDER_EVENTS, self._window * 2)
        self._dirty.story = True
        if not pieces:
            return 0
        older = Scrollback()
        for piece in pieces:
            older.feed(piece)
        there = older.dropped + len(older.lines) - 1
        added = self.output.prepend(older)
        self.closed = self.output.full or added < there
        return added

    async def _take(self, item: Item, now: float) -> None:
        self._connection.receive(item, now)
        match item:
            case RunEvent():
                self._event(item)
                return
            case Connected(floor=floor, latest_sequence=latest):
                self.floor, self._latest, self._trace_whole = floor, latest, floor <= 0
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
        self._dirty.story = True

    def _event(self, event: RunEvent) -> None:
        if event.sequence <= self._shown:
            return  # the spine and what was shown, once more
        self._shown = event.sequence
        output = output_of(event)
        if output is not None:
            self._written[output.process_id, output.stream] = output.offset + len(output.written())
            if event.sequence > self.floor:
                self._dirty.output_gone += self.output.feed(output.content)
                self._dirty.output = True
            return
        before, self.story = self.story, fold(self.story, event)
        self._dirty.story |= before is not self.story
        self._dirty.events_gone += self.log.feed(event_line(event) + "\n")
        self._dirty.events = True
        if text := self._turn_lines.text(event):
            self._dirty.turns_gone += self.turns.feed(text)
            self._dirty.turns = True
        self._dirty.trace |= self.trace.fold(event)

    async def _bridge(self, item: Rebootstrapped) -> None:
        """Some events were skipped between what was shown and what follows."""
        missing = item.floor - self._shown
        if missing <= 0:
            return
        if missing <= FILL_EVENTS:
            with contextlib.suppress(HoplineError):  # then they stay skipped, and that is said
                events = await self.run.history(after=self._shown, before=item.floor + 1)
                if events and events[-1].sequence == item.floor:
                    for event in events:
                        self._event(event)
                    return
        self._connection.skipped(missing)
        self._trace_whole = False
        self.output.note(f" skipped {count(missing, 'event')} to stay live; all of it: hopline logs ")
        self._dirty.output = True

    def _restart(self, item: Rebootstrapped) -> None:
        self.story, self.output, self.log = Story(), Scrollback(), Scrollback()
        self.turns, self.trace, self.executions = Scrollback(), Trace(), None
        self._turn_lines = TurnLines()
        self.floor, self._shown, self.closed, self._trace_whole = item.floor, 0, False, item.floor <= 0
        self._written.clear()
        self._dirty = Dirty(True, True, True, True, True, restarted=True)

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
