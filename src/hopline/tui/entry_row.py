"""A line to write in at the bottom of a screen, hidden until it is opened.

Everything here happens at once, in the turn of the key that asks for it, so that the very next key finds it done.
"""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Static
from textual.widgets.input import Selection


class Entry(Input):
    """Where it is written. Enter is the screen's action `entered(row)`, the end of the text its `entry_ended(row)`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "enter", show=False),
        Binding("ctrl+d", "delete_or_end", show=False),
    ]

    def put(self, text: str) -> None:
        """Write `text` where the cursor is, over what is selected."""
        if self.selection.is_empty:
            self.insert_text_at_cursor(text)
        else:
            self.replace(text, *self.selection)

    async def action_enter(self) -> None:
        """The line is written."""
        await self._tell("entered")

    async def action_delete_or_end(self) -> None:
        """Ctrl-D deletes to the right, and where there is nothing it is the end, as in a terminal."""
        if self.value:
            self.action_delete_right()
        else:
            await self._tell("entry_ended")

    async def _tell(self, action: str) -> None:
        row = self.parent
        assert row is not None
        await self.run_action(f"screen.{action}('{row.id}')")


class EntryRow(Horizontal):
    """One line: a prompt, an input, and something at its end.

    Args:
        prompt: before the input.
        placeholder: in the empty input.
        aside: markup at the end; what can be clicked, or what is told.
    """

    DEFAULT_CSS = """
    EntryRow { height: 1; display: none; }
    EntryRow .prompt { width: 2; }
    EntryRow .aside { width: auto; }
    """

    def __init__(self, prompt: str, placeholder: str, aside: str = "", *, id: str) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self._prompt, self._placeholder, self._aside = prompt, placeholder, aside

    def compose(self) -> ComposeResult:
        """The line."""
        yield Static(self._prompt, classes="prompt", markup=False)
        yield Entry(compact=True, placeholder=self._placeholder, select_on_focus=False)
        yield Static(self._aside, classes="aside")

    @property
    def entry(self) -> Entry:
        """Where it is written."""
        return self.query_one(Entry)

    def open(self, *, anew: bool = False) -> None:
        """Show it and write there; the very next key is for it.

        Args:
            anew: what is typed takes the place of what stands there.
        """
        entry = self.entry
        self.display = True
        self.screen.set_focus(entry)
        entry.selection = Selection(0 if anew else len(entry.value), len(entry.value))

    def close(self) -> None:
        """Hide it; what is written stays."""
        self.display = False

    def take(self) -> str:
        """What is written; the line is empty then."""
        text = self.entry.value
        self.entry.clear()
        return text

    def tell(self, text: str) -> None:
        """Something at the end of the line."""
        self.query_one(".aside", Static).update(text)
