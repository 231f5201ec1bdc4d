"""Whole messages to and from a run behind a gateway: text frames over its WebSocket."""

import asyncio
from typing import TYPE_CHECKING

from hopline.client.channels import CLOSE_SECONDS, WRITE_SECONDS
from hopline.errors import ConnectDenied, HoplineError, RunGone, Unavailable
from hopline.wire.client.streams import MAX_LINE_BYTES

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

    from hopline.client.targets import Gateway

OPEN_SECONDS = 10.0
"""How long the handshake may take."""

PING_SECONDS = 20.0
"""How long a connection may be silent before the gateway is probed, and how long its answer may take."""

WRITE_BUFFER_BYTES = 32_768
RECEIVE_QUEUE = (4, 1)


class WebSocketChannel:
    """Text messages over a gateway's WebSocket."""

    def __init__(self, connection: "ClientConnection", peer: str) -> None:
        self.peer = peer
        self._connection = connection
        self._over = False

    @classmethod
    async def dial(cls, gateway: "Gateway") -> "WebSocketChannel":
        """Connect. Raises ConnectDenied when the gateway refuses us, RunGone when it has no such run, Unavailable."""
        from websockets.asyncio.client import connect
        from websockets.exceptions import InvalidHandshake, InvalidStatus
        from websockets.typing import Origin

        try:
            connection = await connect(
                gateway.url,
                origin=Origin(gateway.origin),
                compression=None,
                user_agent_header=None,
                proxy=None,
                open_timeout=OPEN_SECONDS,
                ping_interval=PING_SECONDS,
                ping_timeout=PING_SECONDS,
                close_timeout=CLOSE_SECONDS,
                max_size=MAX_LINE_BYTES,
                max_queue=RECEIVE_QUEUE,
                write_limit=WRITE_BUFFER_BYTES,
            )
        except InvalidStatus as refused:
            raise _refusal(refused.response.status_code, refused.response.body, gateway.origin) from refused
        except (InvalidHandshake, OSError, TimeoutError) as error:
            raise Unavailable(
                f"the gateway at {gateway.origin} does not answer: {str(error) or 'no answer'}"
            ) from error
        return cls(connection, f"the gateway at {gateway.origin}")

    @property
    def ended(self) -> bool:
        """See Channel."""
        return self._over

    async def explain(self) -> HoplineError | None:
        """See Channel."""
        return None

    async def send(self, message: bytes) -> None:
        """See Channel."""
        from websockets.exceptions import ConnectionClosed

        try:
            async with asyncio.timeout(WRITE_SECONDS):
                await self._connection.send(message, text=True)
        except TimeoutError:
            raise Unavailable(f"{self.peer} takes no requests; is it still there?") from None
        except ConnectionClosed as closed:
            self._over = True
            raise RunGone(f"{self.peer} has closed the connection.") from closed

    async def receive(self) -> bytes | None:
        """See Channel."""
        from websockets.exceptions import ConnectionClosed

        try:
            message = await self._connection.recv(decode=False)
        except ConnectionClosed:
            self._over = True
            return None
        return message

    async def close(self) -> None:
        """See Channel."""
        self._over = True
        await self._connection.close()


def _refusal(status: int, body: bytes | bytearray | None, origin: str) -> HoplineError:
    said = bytes(body or b"").decode("utf-8", "replace").strip().partition("\n")[0]
    match status:
        case 401 | 403 | 421:
            return ConnectDenied(f"the gateway at {origin} refused: {said or status}")
        case 404:
            return RunGone(f"the gateway at {origin} has no such run; copy the URL that hopline web prints.")
        case _:
            return Unavailable(f"the gateway at {origin} answered {status}: {said or 'nothing more'}")
