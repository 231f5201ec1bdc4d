"""A screen that a worker's terminal is shown on as it is: our own words wait until the terminal was given back."""

from hopline.cli.raw_terminal import RawTerminal
from hopline.cli.screen import Screen
from hopline.cli.sinks import SinkClosed
from hopline.cli.terminal_modes import TerminalModes

MAX_SENTENCES = 20
"""Of what is said meanwhile, the last so many are shown at the end."""


class RawScreen(Screen):
    """Follows the modes of what it shows, so that they can be undone.

    Args:
        terminal: taken here, given back by `leave`.
        modes: of what the worker wrote before.
    """

    def __init__(self, terminal: RawTerminal, modes: TerminalModes) -> None:
        super().__init__(merged=True)
        self._terminal = terminal
        self._modes = modes
        self._remembered = b""
        self._sentences: list[str] = []
        terminal.take()
        self._remember()

    def begin(self, recent: bytes) -> None:
        """Bring the terminal to where the worker's is: its modes and what it wrote last. Raises SinkClosed."""
        super().show("stdout", self._modes.enter() + recent)

    def show(self, stream: str, data: bytes) -> None:
        """See Screen."""
        self._modes.receive(data)
        self._remember()
        super().show(stream, data)

    def say(self, text: str) -> None:
        """See Screen; at once only when the terminal was given back."""
        if not self._terminal.taken:
            super().say(text)
        elif text not in self._sentences:
            self._sentences = [*self._sentences, text][-MAX_SENTENCES:]

    def leave(self) -> None:
        """See Screen."""
        if not self._terminal.taken:
            return
        try:
            self._out.write_beside(self._modes.undo())
            self._out.drain(1.0)
        except SinkClosed:
            pass
        finally:
            self._terminal.give_back()
        for sentence in self._sentences:
            self.say(sentence)

    def close(self) -> None:
        """See Screen."""
        try:
            self.leave()
        except SinkClosed:
            pass
        finally:
            super().close()

    def _remember(self) -> None:
        undo = self._modes.undo()
        if undo != self._remembered:
            self._remembered = undo
            self._terminal.remember(undo)
