"""The rows of the list: one line a run, drawn only where they are seen."""

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from hopline.client.roster import Row
from hopline.tui.order import ended_at, moment
from hopline.tui.words import MARKS, Tone, age, command, plain, size, sparkline, state_of, tone_of

COLOURS = {
    Tone.WAITING: "yellow",
    Tone.WRONG: "red",
    Tone.RUNNING: "green",
    Tone.PAUSED: "yellow",
    Tone.DONE: "blue",
    Tone.STOPPED: "magenta",
}

SPARK_COLUMNS = 12
NAME_COLUMNS = (8, 24)
WIDE_COLUMNS = 110
"""From this width on, the command is shown too."""


class RunList(ScrollView, can_focus=True):
    """Shows rows in the order given, and knows which run the cursor is on."""

    DEFAULT_CSS = """
    RunList { height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    """

    class Opened(Message):
        """A person wants to see a run."""

        def __init__(self, run_id: str) -> None:
            super().__init__()
            self.run_id = run_id

    class Touched(Message):
        """A person is at the rows: they must not move."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self._rows: list[Row] = []
        self._now = 0.0
        self.cursor: str | None = None
        """The id of the run it is on."""

    @property
    def shown(self) -> list[str]:
        """The ids in their places."""
        return [row.record.id for row in self._rows]

    def show(self, rows: list[Row], now: float) -> None:
        """These rows, at `now` in seconds since the epoch. The cursor stays on its run, or in its place."""
        at = self._at()
        self._rows, self._now = rows, now
        if self.cursor not in self.shown:
            self.cursor = rows[min(at, len(rows) - 1)].record.id if rows else None
        self.virtual_size = Size(self.size.width, len(rows))
        self.refresh()

    def move(self, rows: int) -> None:
        """The cursor some rows on."""
        self._go(self._at() + rows)

    def move_to(self, place: int) -> None:
        """The cursor to a place; -1 is the last."""
        self._go(place if place >= 0 else len(self._rows) + place)

    def open(self) -> None:
        """The run that the cursor is on."""
        if self.cursor is not None:
            self.post_message(self.Opened(self.cursor))

    def on_click(self, event: events.Click) -> None:
        """A click opens a run."""
        place = event.y + self.scroll_offset.y
        if 0 <= place < len(self._rows):
            self._go(place)
            self.open()

    def on_mouse_move(self) -> None:
        """A hand is here."""
        self.post_message(self.Touched())

    def render_line(self, y: int) -> Strip:
        """One run."""
        place, width = y + self.scroll_offset.y, self.size.width
        if place >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        row = self._rows[place]
        on = row.record.id == self.cursor
        base = self.rich_style + Style(reverse=True) if on else self.rich_style
        return Strip([Segment(text, base + style) for text, style in self._cells(row, width)]).adjust_cell_length(
            width, base
        )

    def _cells(self, row: Row, width: int) -> list[tuple[str, Style]]:
        tone = tone_of(row.status, waiting=row.waiting is not None)
        colour = Style(color=COLOURS[tone], bold=tone in (Tone.WAITING, Tone.WRONG))
        plainly, faint = Style(), Style(dim=not row.live)
        names = [len(plain(one.record.name)) for one in self._rows]
        name_width = min(NAME_COLUMNS[1], max(NAME_COLUMNS[0], max(names, default=0)), width // 4)
        spark = SPARK_COLUMNS if width >= 64 else 0
        figures = f"{_when(row, self._now):>9} {size(row.size) if row.size is not None else '':>8} "
        room = max(8, width - 2 - name_width - 2 - len(figures) - spark)
        shown_command = ""
        if width >= WIDE_COLUMNS:
            shown_command = command(row.record.command, room // 2 - 2)
            room -= room // 2
        cells = [
            (f"{MARKS[tone]} ", colour),
            (_fitted(plain(row.record.name), name_width) + "  ", Style(bold=row.live)),
            (_fitted(state_of(row), room), colour),
        ]
        if width >= WIDE_COLUMNS:
            rest = width - 2 - name_width - 2 - room - len(figures) - spark
            cells.append((_fitted(shown_command, rest), faint))
        return [*cells, (figures, faint), (sparkline(row.rates, spark), plainly)]

    def _at(self) -> int:
        shown = self.shown
        return shown.index(self.cursor) if self.cursor in shown else 0

    def _go(self, place: int) -> None:
        if not self._rows:
            return
        place = max(0, min(place, len(self._rows) - 1))
        self.cursor = self._rows[place].record.id
        if place < self.scroll_offset.y:
            self.scroll_to(y=place, animate=False, immediate=True)
        elif place >= self.scroll_offset.y + self.size.height:
            self.scroll_to(y=place - self.size.height + 1, animate=False, immediate=True)
        self.post_message(self.Touched())
        self.refresh()


def _when(row: Row, now: float) -> str:
    if row.live:
        return age(now - moment(row.record.started_at))
    return f"{age(now - ended_at(row))} ago"


def _fitted(text: str, width: int) -> str:
    """`text` in exactly `width` cells, cut with an ellipsis."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(text, max(0, width - 1)) + "…"
