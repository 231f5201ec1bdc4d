"""A subscription on its own connection: the acknowledgement first, then frames until somebody leaves."""

from hopline.client.connection import ANSWER_SECONDS, Connection, accepted
from hopline.errors import ConnectFailed, RunGone, Unavailable
from hopline.wire.client.requests import Subscribe
from hopline.wire.client.responses import Response, ResponseRefused
from hopline.wire.client.streams import ProtocolError, Subscribed, decode_server_line


class Subscription:
    """Takes `connection` over and waits for the acknowledgement.

    Args:
        connection: a fresh one; closed with the subscription.
        after: the cursor, the last sequence already folded.
        tail: at most this many of the newest events, with the spine before them; a reader that falls further
            behind than this skips what it missed. None for every event past the cursor.
        store_id: the store that `after` counts in; "" when unknown.
        seconds: how long the acknowledgement may take.

    Raises Refused when the server rejects it, RunGone when it leaves instead.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        after: int = 0,
        tail: int | None = None,
        store_id: str = "",
        seconds: float = ANSWER_SECONDS,
    ) -> None:
        self.connection = connection
        connection.send(Subscribe(after_sequence=after, tail=tail, store_id=store_id))
        line = connection.receive(seconds)
        if line is None:
            raise RunGone(f"{connection.peer} left before the subscription began; look at it: hopline ls --all")
        try:
            message = decode_server_line(line)
        except ResponseRefused as error:
            raise ConnectFailed(f"{connection.peer}: {error}") from error
        if isinstance(message, Response):
            accepted(message)
        if isinstance(message, ProtocolError):
            raise Unavailable(f"{connection.peer} cannot replay the run: {message.message}")
        if not isinstance(message, Subscribed):
            raise ConnectFailed(f"{connection.peer} did not acknowledge the subscription.")
        self.run_id = message.run_id
        self.latest_sequence = message.latest_sequence
        """The last sequence when it was accepted: frames up to it are history."""

    def fileno(self) -> int:
        """The descriptor to wait on before `fill`."""
        return self.connection.fileno()

    def next_frame(self, seconds: float) -> bytes | None:
        """The next frame's bytes; None when the server has left. Raises Unavailable when none comes in time."""
        return self.connection.receive(seconds)

    def close(self) -> None:
        """Leave the stream."""
        self.connection.close()
