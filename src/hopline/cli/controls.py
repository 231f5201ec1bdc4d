"""Commands that a view has sent and that are not answered yet, each on a connection of its own.

So a stop never waits behind an interrupt's receipt, and neither behind output.
"""

from hopline.client import Connection
from hopline.client.connection import accepted, answer
from hopline.client.peers import Peer
from hopline.errors import HoplineError, RunGone
from hopline.wire.client.requests import CommandInterrupt, CommandResize, CommandStop


class Controls:
    """Sends interrupts and stops without waiting.

    Args:
        peer: the run.
    """

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._open: dict[int, tuple[Connection, str]] = {}
        self._size: tuple[int, int] | None = None
        """The last size asked for, while it waits for the answer to an earlier one."""
        self._resizing = False

    def wait_on(self) -> list[int]:
        """Descriptors whose readability `receive` is called for."""
        return list(self._open)

    def interrupt(self) -> str | None:
        """Ask for SIGINT to the worker. Returns a sentence when it could not even be asked."""
        return self._send(CommandInterrupt(), "interrupt")

    def stop(self) -> str | None:
        """Ask for the run's end. Returns a sentence when it could not even be asked."""
        return self._send(CommandStop(), "stop")

    def resize(self, columns: int, rows: int) -> str | None:
        """Ask for a size of the worker's terminal, one at a time and the last one last.

        Returns a sentence when it could not even be asked.
        """
        if self._resizing:
            self._size = (columns, rows)
            return None
        trouble = self._send(CommandResize(columns=columns, rows=rows), "resize")
        self._resizing = trouble is None
        return trouble

    def receive(self, descriptor: int) -> str | None:
        """What there is to say about the command on `descriptor`; None while its answer is incomplete."""
        connection, action = self._open[descriptor]
        try:
            if connection.fill() and (line := connection.take_line()) is None:
                return None
            sentence = self._sentence(action, None if connection.ended else line, connection.peer)
        except HoplineError as error:
            sentence = f"{action} not delivered: {error}"
        del self._open[descriptor]
        connection.close()
        return self._resized() if action == "resize" else sentence

    def close(self) -> None:
        """Hang up on all of them."""
        for connection, _ in self._open.values():
            connection.close()
        self._open.clear()

    def _send(self, request: CommandInterrupt | CommandResize | CommandStop, action: str) -> str | None:
        try:
            connection = self._peer.connect()
            connection.send(request)
        except HoplineError as error:
            return f"{action} not sent: {error}"
        self._open[connection.fileno()] = (connection, action)
        return None

    def _resized(self) -> str | None:
        """A size was answered; what came of it is seen."""
        self._resizing = False
        size, self._size = self._size, None
        return None if size is None else self.resize(*size)

    def _sentence(self, action: str, line: bytes | None, peer: str) -> str:
        if line is None:
            raise RunGone("the run's server left before it answered")
        accepted(answer(line, peer))
        if action == "stop":
            return "stop accepted; waiting for the worker to end"
        return "interrupt delivered; Ctrl-C again within 2 s stops the run"
