"""The library's connection with what ours adds: its place in the waiting room and the decision that admitted it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from hopline.serve.gateway.access import ROTATE_HEADER, Asked
from hopline.serve.gateway.answers import Answer
from hopline.serve.gateway.targets import Route
from hopline.serve.gateway.waiting_room import WaitingRoom


class GatewayConnection(ServerConnection):
    """One accepted TCP connection; `route` is set once its request is allowed to become a WebSocket."""

    waiting_room: WaitingRoom
    route: Route | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a place in the waiting room."""
        super().connection_made(transport)
        self.waiting_room.enter(self, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self.waiting_room.leave(self)
        super().connection_lost(exc)


def connections_of(room: WaitingRoom) -> Callable[..., GatewayConnection]:
    """What makes the connections of one gateway."""

    def make(*args: Any, **kwargs: Any) -> GatewayConnection:
        connection = GatewayConnection(*args, **kwargs)
        connection.waiting_room = room
        return connection

    return make


def asked(request: Request) -> Asked:
    """What a request says, as values."""
    headers = request.headers
    return Asked(
        method=request.method,
        target=request.path,
        hosts=headers.get_all("Host"),
        origins=headers.get_all("Origin"),
        cookies=headers.get_all("Cookie"),
        fetch_site=headers.get_all("Sec-Fetch-Site"),
        fetch_mode=headers.get_all("Sec-Fetch-Mode"),
        rotate=headers.get_all(ROTATE_HEADER),
    )


def written(answer: Answer) -> Response:
    """An answer as the library sends it; the connection ends after it."""
    status = HTTPStatus(answer.status)
    headers = Headers(
        [
            ("Content-Type", answer.content_type),
            ("Content-Length", str(len(answer.body))),
            ("Connection", "close"),
            *answer.headers,
        ]
    )
    return Response(status.value, status.phrase, headers, answer.body)
