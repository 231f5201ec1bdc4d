"""Lines on the screen: follows the newest unless scrolled up, then stands still whatever comes or goes.

Only the rows that are seen are drawn (Textual's line API); the lines are a `Scrollback`'s.
"""

from collections.abc import Iterable
from textwrap import wrap

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from hopline.tui.drawing import marked, style_of
from hopline.tui.lines import Piece
from hopline.tui.scrollback import Scrollback
from hopline.tui.wrapping import Rows, row_of

_FOUND = Style(reverse=True, bold=True)
_SELECTED = Style(reverse=True)


class OutputView(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows a scrollback. Call `sync` after it was written to. Its screen binds the keys."""

    DEFAULT_CSS = """
    OutputView { height: 1fr; overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }
    """

    class Moved(Message):
        """It follows now, or stands still, or has come to its top."""

    def __init__(self, scrollback: Scrollback, *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self._scrollback = scrollback
        self._rows = Rows()
        self._following = True
        self._moving = False
        self._left_at = 0
        self._needle = ""
        self.nothing = ""
        """Said while there is nothing to show."""
        self.parted = False
        """Whether more is below than is here: then its end is not the newest line."""

    @property
    def scrollback(self) -> Scrollback:
        """What is shown."""
        return self._scrollback

    @property
    def at_end(self) -> bool:
        """Whether the last line that is here is in view."""
        return self.scroll_offset.y >= self.max_scroll_y

    @property
    def lines_in_view(self) -> int:
        """How many lines there are from the top to the last one in view."""
        return self._rows.locate(self.scroll_offset.y + self.size.height - 1)[0] + 1

    @property
    def following(self) -> bool:
        """Whether the newest line is in view and stays so."""
        return self._following

    @property
    def new_lines(self) -> int:
        """Lines that have come since it stopped following."""
        return 0 if self._following else max(0, self._line_number() - self._left_at)

    @property
    def at_top(self) -> bool:
        """Whether the oldest line that is here is in view."""
        return self.scroll_offset.y == 0

    @property
    def allow_select(self) -> bool:
        """Text can be selected with the mouse."""
        return True

    def show(self, scrollback: Scrollback) -> None:
        """Show another scrollback from its end."""
        self._follow(True)
        self.replace(scrollback)

    def replace(self, scrollback: Scrollback) -> None:
        """Show another scrollback; the row that is at the top stays there unless the newest is followed."""
        self._scrollback = scrollback
        scrollback.take_changed()
        self._rows = Rows()
        self._measure(0)
        self._scroll(self.max_scroll_y if self._following else self.scroll_offset.y)
        self.refresh()

    def sync(self, gone: int = 0) -> None:
        """The scrollback was written to; `gone` lines went from its top."""
        changed = self._scrollback.take_changed()
        if changed is None and not gone:
            return
        rows_gone = self._rows.drop(gone)
        self._measure(changed if changed is not None else len(self._scrollback.lines))
        if self._following:
            self._scroll(self.max_scroll_y)
        elif rows_gone:
            self._scroll(self.scroll_offset.y - rows_gone)
        self.refresh()

    def sync_above(self, added: int) -> None:
        """`added` lines were put above; what is in view stays in view."""
        line, part = self._rows.locate(self.scroll_offset.y)
        self._left_at += added
        self._scrollback.take_changed()
        self._measure(0)
        if self._following:
            self._scroll(self.max_scroll_y)
        else:
            self._scroll(self._rows.first_row(line + added) + part)
        self.refresh()

    def to_live(self) -> None:
        """Go to the newest line and follow."""
        self._follow(True)
        self._scroll(self.max_scroll_y)
        self.refresh()

    def to_top(self) -> None:
        """Go to the oldest line that is here."""
        self._follow(False)
        self._scroll(0)
        self.post_message(self.Moved())

    def find(self, needle: str, *, backwards: bool = True, again: bool = False) -> tuple[int, int]:
        """Go to the next line that holds `needle`, whatever its case. Returns (which one it is from the top, of all).

        Args:
            backwards: toward the top.
            again: from the last one found, not from what is in view.
        """
        self._needle = needle.lower()
        self.refresh()
        if not self._needle:
            return 0, 0
        found = [at for at, line in enumerate(self._scrollback.lines) if self._needle in line.text().lower()]
        if not found:
            return 0, 0
        here = self._rows.locate(self.scroll_offset.y + (self.size.height - 1 if backwards and not again else 0))[0]
        if backwards:
            chosen = max((at for at in found if at < here or (at == here and not again)), default=found[-1])
        else:
            chosen = min((at for at in found if at > here or (at == here and not again)), default=found[0])
        self._follow(False)
        self._scroll(self._rows.first_row(chosen))
        self.post_message(self.Moved())
        return found.index(chosen) + 1, len(found)

    def on_resize(self) -> None:
        """The width decides how lines wrap; what was in view stays in view."""
        line, _ = self._rows.locate(self.scroll_offset.y)
        self._measure(len(self._scrollback.lines))
        self._scroll(self.max_scroll_y if self._following else self._rows.first_row(line))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """A person has scrolled, or we have."""
        super().watch_scroll_y(old_value, new_value)
        if not self._moving and round(old_value) != round(new_value):
            self._follow(round(new_value) >= self.max_scroll_y and not self.parted)
            self.post_message(self.Moved())

    def render_line(self, y: int) -> Strip:
        """One row."""
        row, width = self.scroll_offset.y + y, self.size.width
        base = self.rich_style
        if self._scrollback.empty:
            said = wrap(self.nothing, max(10, width - 2))
            text = f" {said[y]}" if y < len(said) else ""
            return Strip([Segment(text, base + Style(dim=True))]).adjust_cell_length(width, base)
        if row >= self._rows.total:
            return Strip.blank(width, base)
        line, part = self._rows.locate(row)
        pieces = row_of(self._scrollback.lines[line], part, self._rows.width)
        segments = [Segment(text, base + style_of(look)) for text, look in pieces]
        strip = Strip(segments)
        for start, end, style in self._marks(row, pieces):
            strip = marked(strip, start, end, style)
        return strip.adjust_cell_length(width, base).apply_offsets(0, row)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text."""
        rows = (self._row_text(row) for row in range(self._rows.total))
        return selection.extract("\n".join(rows)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw it."""
        self.refresh()

    def _row_text(self, row: int) -> str:
        line, part = self._rows.locate(row)
        return "".join(text for text, _ in row_of(self._scrollback.lines[line], part, self._rows.width))

    def _marks(self, row: int, pieces: Iterable[Piece]) -> list[tuple[int, int, Style]]:
        """(start, end, style) in characters of what is to stand out in a row."""
        text = "".join(text for text, _ in pieces)
        marks = []
        if self._needle:
            at = text.lower().find(self._needle)
            while at >= 0:
                marks.append((at, at + len(self._needle), _FOUND))
                at = text.lower().find(self._needle, at + len(self._needle))
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(row)) is not None:
            start, end = span
            marks.append((start, len(text) if end == -1 else end, _SELECTED))
        return marks

    def _measure(self, first: int) -> None:
        width = self.size.width or 80
        lines = self._scrollback.lines
        self._rows.measure(lines, min(first, len(lines)), width)
        shown = self._rows.total
        if len(lines) > 1 and not lines[-1].length:
            shown -= 1  # the line that is yet to be written takes no row
        self._moving = True
        try:
            self.virtual_size = Size(width, 0 if self._scrollback.empty else shown)
        finally:
            self._moving = False

    def _scroll(self, y: float) -> None:
        self._moving = True
        try:
            self.scroll_target_y = self.scroll_y = max(0, min(round(y), self.max_scroll_y))
        finally:
            self._moving = False

    def _follow(self, following: bool) -> None:
        if self._following and not following:
            self._left_at = self._line_number()
        self._following = following

    def _line_number(self) -> int:
        return self._scrollback.dropped + len(self._scrollback.lines)
