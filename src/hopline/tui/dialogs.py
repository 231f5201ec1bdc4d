"""What stands over the view for a moment: the question before something is ended, and the keys."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from hopline.tui.steering import GRACE_SECONDS

GRACES = ((1.0, "1 second"), (GRACE_SECONDS, "10 seconds"), (60.0, "1 minute"), (600.0, "10 minutes"))

LIST_KEYS = (
    ("j k", "next and previous run"),
    ("Enter", "open the run"),
    ("g G", "first and last run"),
    ("/", "search the runs"),
    ("Esc", "leave the search"),
    ("q", "leave"),
)

RUN_KEYS = (
    ("j k", "a line down and up; also the arrows, PgUp, PgDn and the wheel"),
    ("g G", "to the top, to live"),
    ("/ n N", "find, next older, next newer"),
    ("i", "write to the worker's input: Enter sends, Ctrl-D ends it, Esc is done"),
    (". Ctrl-C", "interrupt the worker"),
    ("s r", "stop the run, restart the worker; asks first"),
    ("t p c", "steer, pause, resume an agent; it takes them at its next boundary"),
    ("a", "sit at the worker's own screen (run --pty); Ctrl-\\ comes back"),
    ("1 to 5", "output, turns, trace, events, proven"),
    ("l", "reconnect now"),
    ("Esc q", "back, leave: the run goes on"),
)


class Ending(ModalScreen[float | None]):
    """Asks once before a worker is ended, and says what that ends. The answer is the grace in seconds, or None.

    Args:
        verb: Stop or Restart.
        name: the run's.
        ends: what it ends, in words.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n,q", "leave", "Cancel"),
        Binding("left,h", "grace(-1)", "Less"),
        Binding("right,l", "grace(1)", "More"),
        Binding("y", "confirm", "Yes"),
    ]

    def __init__(self, verb: str, name: str, ends: str) -> None:
        super().__init__()
        self._verb, self._name, self._ends = verb, name, ends
        self._grace = [seconds for seconds, _ in GRACES].index(GRACE_SECONDS)

    def compose(self) -> ComposeResult:
        """The question, the grace, and the answers."""
        rest = "Its record stays." if self._verb == "Stop" else "Its command is then started again in the same run."
        with Vertical(classes="dialog"):
            yield Static(f"{self._verb} {self._name}?", classes="title", markup=False)
            yield Static(f"This ends {self._ends}. {rest}", markup=False)
            yield Static(self._grace_text(), id="grace", markup=False)
            with Horizontal(classes="answers"):
                yield Button(self._verb, id="yes", compact=True)
                yield Button("Cancel", id="no", compact=True)

    def on_mount(self) -> None:
        """Enter says yes."""
        self.set_focus(self.query_one("#yes"))

    def on_button_pressed(self, pressed: Button.Pressed) -> None:
        """The answer."""
        self.dismiss(GRACES[self._grace][0] if pressed.button.id == "yes" else None)

    def action_confirm(self) -> None:
        """Yes."""
        self.dismiss(GRACES[self._grace][0])

    def action_leave(self) -> None:
        """No."""
        self.dismiss(None)

    def action_grace(self, step: int) -> None:
        """Another grace."""
        self._grace = max(0, min(len(GRACES) - 1, self._grace + step))
        self.query_one("#grace", Static).update(self._grace_text())

    def _grace_text(self) -> str:
        return f"It may take ‹ {GRACES[self._grace][1]} › to leave; then it is killed."


class Keys(ModalScreen[None]):
    """The keys that mean something here."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter,space", "leave", "Close")]

    def __init__(self, keys: tuple[tuple[str, str], ...]) -> None:
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        """A line a key."""
        lines = "\n".join(f"{keys:<10} {words}" for keys, words in self._keys)
        with Vertical(classes="dialog"):
            yield Static("Keys", classes="title")
            yield Static(lines, markup=False)

    def on_click(self) -> None:
        """A click anywhere closes it."""
        self.dismiss(None)

    def action_leave(self) -> None:
        """Close it."""
        self.dismiss(None)
