"""Lines of a run that follow its newest event, and are read again from its record where they are not here. Pure.

What is here is always one stretch of events without a hole: from `floor` to the newest, or, while a person reads what
is far above, to an event that `parted` names.
"""

from collections.abc import Callable, Sequence

from hopline.tui.paged_scrollback import PagedScrollback
from hopline.wire.client.events import RunEvent

Writer = Callable[[RunEvent], str]
"""What one event adds; it may depend on the events it was given before."""

EVENTS_AT_FIRST = 16
MOST_EVENTS = 512
"""How many events one scroll fetches at most: it doubles while they are small."""

FETCHED_CHARACTERS = 1 << 20
FETCHED_LINES = 5_000
"""Of text in one fetch; past either the next fetches half as many events."""


class Pane:
    """One stretch.

    Args:
        writer: makes one that has seen nothing yet.
        floor: events up to it are not here at first.
    """

    def __init__(self, writer: Callable[[], Writer], floor: int = 0) -> None:
        self.lines = PagedScrollback(floor)
        self.parted: int | None = None
        """The last event here, when what came after it is not; None when this is live."""
        self.held = False
        """A person reads what is above: nothing goes from the top for what comes."""
        self._new_writer = writer
        self._write = writer()
        self._window = EVENTS_AT_FIRST

    @property
    def floor(self) -> int:
        """Events up to it are not here."""
        return self.lines.floor

    def take(self, event: RunEvent) -> int:
        """The run's next event. Returns how many lines went from the top."""
        if self.parted is not None or event.sequence <= self.floor:
            return 0
        if self.held and self.lines.over:
            self.parted = event.sequence - 1
            return 0
        self.lines.holding = self.held
        text = self._write(event)
        return self.lines.add(event.sequence, text) if text else 0

    def begin(self, floor: int) -> bool:
        """What follows are the events after `floor`, with some left out before them. Whether what was here has gone."""
        if self.parted is not None:
            return False
        if self.held:
            self.parted = self.lines.last
            return False
        self.rejoin(floor)
        return True

    @property
    def closed(self) -> bool:
        """Whether there is something above that cannot be had any more."""
        return self.floor > 0 and self.lines.torn

    def above(self) -> tuple[int, int] | None:
        """The events to fetch for what is above, as (after, before); None when there are none to be had."""
        if self.floor <= 0 or self.closed:
            return None
        return max(0, self.floor - self._window), self.floor + 1

    def put_above(self, events: Sequence[RunEvent], in_view: int = 0) -> int:
        """The events that `above` named. Returns how many lines came above; lines at the end may go for them.

        Args:
            in_view: so many lines from the top must stay.
        """
        write = self._new_writer()
        older = PagedScrollback(events[0].sequence - 1, 1 << 40, 1 << 40)
        size = 0
        for event in events:
            text = write(event)
            size += len(text)
            older.add(event.sequence, text)
        self._judge(size, len(older.lines))
        if not size:
            self.lines.floor = events[0].sequence - 1
            return 0
        newest = self.lines.last
        added = self.lines.prepend(older)
        self.lines.cut_end(added + in_view)
        if self.lines.last < newest:
            self.parted = self.lines.last
            self._write = self._new_writer()
        return added

    def below(self, newest: int) -> tuple[int, int] | None:
        """The events to fetch for what is below, of a run whose newest is `newest`; None when this is live."""
        if self.parted is None:
            return None
        return self.parted, min(self.parted + self._window, newest) + 1

    def put_below(self, events: Sequence[RunEvent], newest: int) -> int:
        """The events that `below` named. Returns how many lines went from the top for them."""
        gone = size = count = 0
        self.lines.holding = False
        for event in events:
            text = self._write(event)
            size += len(text)
            count += text.count("\n")
            if text:
                gone += self.lines.add(event.sequence, text)
        self._judge(size, count)
        self.parted = events[-1].sequence if events else self.parted
        if self.parted is not None and self.parted >= newest:
            self.parted = None
        return gone

    def rejoin(self, newest: int) -> None:
        """Back to what comes after event `newest`, from an empty page; what is before it is above."""
        self.lines, self._write, self.parted = PagedScrollback(newest), self._new_writer(), None

    def _judge(self, size: int, lines: int) -> None:
        half, double = max(1, self._window // 2), min(MOST_EVENTS, self._window * 2)
        self._window = half if size > FETCHED_CHARACTERS or lines > FETCHED_LINES else double
