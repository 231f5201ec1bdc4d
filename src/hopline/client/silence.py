"""Whether a run that says nothing has anybody left to say something; asked where no record of it can be read.

A server that only serves a record answers a long poll at once, because nothing will come; one of a live run waits
(docs/wire/client.md, "Requests"). So a run whose server was killed, and which a gateway has reopened, is told from a
quiet one.
"""

import asyncio

import msgspec

from hopline.client.channels import Channel
from hopline.client.dialling import Dialler
from hopline.client.requests import RequestConnection
from hopline.errors import HoplineError
from hopline.wire.client.requests import QueryEvents

QUIET_SECONDS = 3.0
"""How long nothing comes before it is asked why; once a connection."""

POLL_SECONDS = 10.0
"""How long a live server is to wait with its answer."""

AT_ONCE = 0.8
"""The part of that within which an empty answer was not waited with, however busy the machine."""


class NothingComes(Exception):
    """The run is over without having said so: its server is gone, and what answers has only its record."""


class Silence:
    """Listens to one connection of a stream.

    Args:
        dialler: makes another one, on which is asked.
        client_id: names this client.
    """

    def __init__(self, dialler: Dialler, client_id: str) -> None:
        self._dialler = dialler
        self._client_id = client_id
        self._asked = False

    async def receive(self, channel: Channel, after: int) -> bytes | None:
        """The next message; `after` is the last event there is, as far as is known. Raises NothingComes."""
        if self._asked:
            return await channel.receive()
        try:
            async with asyncio.timeout(QUIET_SECONDS):
                return await channel.receive()
        except TimeoutError:
            self._asked = True
        receiving = asyncio.ensure_future(channel.receive())
        asking = asyncio.ensure_future(self._nothing_comes(after))
        try:
            await asyncio.wait({receiving, asking}, return_when=asyncio.FIRST_COMPLETED)
            if not receiving.done() and asking.result():
                raise NothingComes
            return await receiving
        finally:
            receiving.cancel()
            asking.cancel()
            await asyncio.gather(receiving, asking, return_exceptions=True)

    async def _nothing_comes(self, after: int) -> bool:
        """False also when nobody can be asked: then it is as before."""
        connection = RequestConnection(self._dialler, self._client_id)
        loop = asyncio.get_running_loop()
        try:
            asked = loop.time()
            response = await connection.ask(QueryEvents(after_sequence=after, timeout_ms=int(POLL_SECONDS * 1000)))
            return not msgspec.json.decode(response.events) and loop.time() - asked < POLL_SECONDS * AT_ONCE
        except HoplineError:
            return False
        finally:
            await connection.close()
