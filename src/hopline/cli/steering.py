"""What a signal at an attached view means. Pure: the time is an argument, and the answer is a value.

Ctrl-C interrupts the worker; a second one within two seconds stops the run; one more while it is stopping leaves the
view. Ctrl-\\ and a closed terminal only detach: the run goes on without a watcher (DESIGN, "Command line").
"""

from enum import Enum, auto

SECOND_WITHIN_SECONDS = 2.0
"""A second Ctrl-C this soon after the first stops the run."""


class Key(Enum):
    """What reached the view."""

    INTERRUPT = auto()
    """Ctrl-C, SIGINT."""
    QUIT = auto()
    """Ctrl-\\, SIGQUIT."""
    HANGUP = auto()
    """The terminal went away, SIGHUP."""
    TERMINATE = auto()
    """SIGTERM."""
    RESIZE = auto()
    """The terminal has another size, SIGWINCH."""


class Act(Enum):
    """What the view does next."""

    INTERRUPT = auto()
    """Ask the server to interrupt the worker and say what became of it."""
    STOP = auto()
    """Ask the server to stop the run, then wait for its end."""
    DETACH = auto()
    """Leave and say how to come back."""
    DISMISS = auto()
    """As DETACH, because SIGTERM said so."""
    ABANDON = auto()
    """Leave although a stop is under way; it goes on without us."""
    VANISH = auto()
    """Leave without a word: nobody is there to read it."""
    RESIZE = auto()
    """Tell the worker's terminal the size of ours, if it is shown raw."""


class Steering:
    """Remembers the last Ctrl-C and whether a stop was asked for."""

    def __init__(self) -> None:
        self._interrupted_at: float | None = None
        self.stopping = False
        """Whether this view asked for the stop, so that its exit status is 130."""

    def receive(self, key: Key, now: float) -> Act:
        """The act that `key` means at monotonic time `now`, in seconds."""
        match key:
            case Key.HANGUP:
                return Act.VANISH
            case Key.RESIZE:
                return Act.RESIZE
            case Key.QUIT:
                return Act.DETACH
            case Key.TERMINATE:
                return Act.DISMISS
            case Key.INTERRUPT if self.stopping:
                return Act.ABANDON
            case Key.INTERRUPT if self._interrupted_at is None or now - self._interrupted_at > SECOND_WITHIN_SECONDS:
                self._interrupted_at = now
                return Act.INTERRUPT
            case Key.INTERRUPT:
                self.stopping = True
                return Act.STOP
