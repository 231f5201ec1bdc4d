"""A line to write in at the bottom of a screen, hidden until it is opened."""

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static


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

    class Submitted(Message):
        """Enter was pressed."""

        def __init__(self, row: "EntryRow", text: str) -> None:
            super().__init__()
            self.row, self.text = row, text

    class Ended(Message):
        """Ctrl-D was pressed in the empty input, as in a terminal."""

        def __init__(self, row: "EntryRow") -> None:
            super().__init__()
            self.row = row

    def __init__(self, prompt: str, placeholder: str, aside: str = "", *, id: str) -> None:  # noqa: A002  # Textual's name
        super().__init__(id=id)
        self._prompt, self._placeholder, self._aside = prompt, placeholder, aside

    def compose(self) -> ComposeResult:
        """The line."""
        yield Static(self._prompt, classes="prompt", markup=False)
        yield Input(compact=True, placeholder=self._placeholder)
        yield Static(self._aside, classes="aside")

    @property
    def entry(self) -> Input:
        """Where it is written."""
        return self.query_one(Input)

    def open(self) -> None:
        """Show it and write there; the very next key is for it."""
        self.display = True
        self.screen.set_focus(self.entry)

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

    def on_input_submitted(self, submitted: Input.Submitted) -> None:
        """Enter."""
        submitted.stop()
        self.post_message(self.Submitted(self, submitted.value))

    def on_key(self, event: events.Key) -> None:
        """Ctrl-D deletes to the right, and where there is nothing it is the end."""
        if event.key == "ctrl+d" and not self.entry.value:
            event.stop()
            self.post_message(self.Ended(self))
