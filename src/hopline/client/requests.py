"""One control connection: requests one after another, dialled when it is needed and again when it was lost.

Reads, and pause and resume, are sent again with a new request id after a loss; other commands and chats never are,
since whether the first took effect is not known (frontend reference 2, "Upstream client retry policy").
"""

import asyncio
import os

import msgspec

from hopline.client.channels import Channel
from hopline.client.connection import ANSWER_SECONDS, accepted
from hopline.client.dialling import Dialler
from hopline.client.frames import read_response
from hopline.errors import HoplineError, RunGone, Unavailable
from hopline.wire.client.requests import CommandPause, CommandResume, QueryChat, Request, encode_request
from hopline.wire.client.responses import Response


class Unanswered(Unavailable):
    """The connection was lost after a command was sent: whether it took effect is not known."""


def labelled(request: Request, client_id: str, request_id: str = "") -> bytes:
    """`request` as one message, with a fresh id unless one is given, and the client's own (WP-IDENTITY)."""
    request_id = request_id or os.urandom(16).hex()
    return encode_request(msgspec.structs.replace(request, request_id=request_id, client_id=client_id))[:-1]


class RequestConnection:
    """Asks one run. Requests wait for one another; whoever must not wait has a connection of its own.

    Args:
        dialler: connects.
        client_id: names this client on every request.
    """

    def __init__(self, dialler: Dialler, client_id: str) -> None:
        self._dialler = dialler
        self._client_id = client_id
        self._channel: Channel | None = None
        self._turn = asyncio.Lock()
        self._why_lost = ""

    async def ask(self, request: Request, seconds: float | None = ANSWER_SECONDS) -> Response:
        """The Response to `request`, once it is one of success.

        Args:
            seconds: how long it may take; None for as long as the worker wants.

        Raises Refused when it failed, Unanswered when a command's fate is not known, and what dialling raises.
        """
        async with self._turn:
            response = await self._attempt(request, seconds)
            if response is None and _repeatable(request):
                response = await self._attempt(request, seconds)
        if response is None:
            if not _repeatable(request):
                raise Unanswered(f"{self._why_lost} Whether the run took the command is not known.")
            raise RunGone(self._why_lost)
        return accepted(response)

    async def close(self) -> None:
        """Hang up; the next `ask` dials again."""
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()

    async def _attempt(self, request: Request, seconds: float | None) -> Response | None:
        """One sending of the request; None when the connection was lost after it."""
        channel = await self._connected()
        request_id = os.urandom(16).hex()
        message = labelled(request, self._client_id, request_id)
        try:
            async with asyncio.timeout(seconds):
                await channel.send(message)
                return await self._answer(channel, request_id)
        except TimeoutError:
            await self.close()
            raise Unavailable(f"the run's server did not answer within {seconds:g} s; try: hopline doctor") from None
        except RunGone as gone:
            self._why_lost = str(gone)
            await self.close()
            return None
        except BaseException:
            await self.close()
            raise

    async def _answer(self, channel: Channel, request_id: str) -> Response | None:
        while (line := await channel.receive()) is not None:
            response = read_response(line)
            if response.request_id == request_id:
                return response
        told = await channel.explain()
        await self.close()
        self._dialler.forget()
        self._why_lost = "the run's server left before it answered." if told is None else str(told)
        return None

    async def _connected(self) -> Channel:
        if self._channel is not None and self._channel.ended:
            await self.close()
            self._dialler.forget()
        if self._channel is None:
            try:
                self._channel = await self._dialler.dial()
            except HoplineError:
                self._dialler.forget()
                raise
        return self._channel


def _repeatable(request: Request) -> bool:
    """Whether doing it twice is as good as once."""
    if isinstance(request, QueryChat):
        return False
    return not request.mutating or isinstance(request, CommandPause | CommandResume)
