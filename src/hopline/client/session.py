"""`hopline.client.open`: one run, from anywhere, for asyncio: follow it, look back, and steer it.

Each role has a connection of its own, dialled when it is first used (docs/guide/python-client.md).
"""

import asyncio
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import msgspec

from hopline.client.connection import ANSWER_SECONDS
from hopline.client.dialling import Dialler, dialler_for
from hopline.client.facts import RunFacts, fold
from hopline.client.items import Finished, Position, Rebootstrapped
from hopline.client.requests import RequestConnection
from hopline.client.resume import BACKOFF_SECONDS, Resume
from hopline.client.stream import EventStream
from hopline.client.targets import Target, parse_target
from hopline.errors import ConnectFailed
from hopline.records import RunRecord
from hopline.wire.client.events import RunEvent, decode_events
from hopline.wire.client.requests import (
    MAX_POLL_MILLIS,
    Command,
    CommandInput,
    CommandInterrupt,
    CommandRestart,
    CommandStop,
    Query,
    QueryChat,
    QueryEvents,
    QuerySnapshot,
    Request,
)
from hopline.wire.client.responses import Response, RunSnapshot

INPUT_PIECE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a command proved, and no more.

    Args:
        action: interrupt, input, stop or restart.
        status: `delivered`: the system took the signal, or the bytes are in the worker's input. `accepted`: the bytes
            wait for the worker to make room. `pending`: it will be done, and events tell what becomes of it.
            `consumed`: there was nothing left to do.
        at: the server's time, RFC 3339.
    """

    action: str
    status: str
    at: str


class Run:
    """One run. Use it as an asynchronous context manager; leaving it hangs up and changes nothing about the run.

    Args:
        dialler: connects to it.
        client_id: names this client on every request it makes, also after a reconnect.
        backoff_seconds: the waits before each attempt to reconnect.
    """

    def __init__(
        self, dialler: Dialler, client_id: str = "", backoff_seconds: Sequence[float] = BACKOFF_SECONDS
    ) -> None:
        self.client_id = client_id or "hopline-py-" + os.urandom(8).hex()
        self._dialler = dialler
        self._backoff = tuple(backoff_seconds)
        self._control = RequestConnection(dialler, self.client_id)
        self._input = RequestConnection(dialler, self.client_id)
        self._streams: list[EventStream] = []

    @property
    def record(self) -> RunRecord | None:
        """The run as it was last looked up: id, name, command; None for a socket or a gateway."""
        return self._dialler.record

    async def look(self) -> RunRecord | None:
        """Look the run up again: its record as it is now. Over ssh this takes a channel."""
        await self._dialler.find()
        return self.record

    def events(self, *, after: Position | int = 0, tail: int | None = None, follow: bool = True) -> EventStream:
        """The run's events and what becomes of the connection, as an asynchronous iterator.

        Args:
            after: begin after this event; a Position resumes exactly, and tells when that is not possible.
            tail: begin with at most this many of the newest events, with the spine before them. A reader that falls
                further behind than this is told so and skips what it missed.
            follow: go on until the run ends; else stop once everything there was at the beginning has been given.

        Raises, while iterating: Unavailable once it cannot reconnect, RunGone, ConnectDenied, Refused.
        """
        start = after if isinstance(after, Position) else Position(after)
        self._streams = [stream for stream in self._streams if not stream.finished]
        stream = EventStream(self._dialler, Resume(start, tail, self._backoff), self.client_id, follow=follow)
        self._streams.append(stream)
        return stream

    async def snapshot(self) -> RunSnapshot:
        """The fold of the run's events: its status, up to which event."""
        response = await self._control.ask(QuerySnapshot())
        if response.snapshot is None:
            raise ConnectFailed("the run's server answered without a snapshot.")
        return response.snapshot

    async def history(self, *, after: int = 0, before: int | None = None, wait_seconds: float = 0.0) -> list[RunEvent]:
        """Recorded events with after < sequence < before, oldest first; at most one Response's worth.

        Args:
            wait_seconds: wait up to this long (at most 30) for a first one.
        """
        millis = min(MAX_POLL_MILLIS, math.ceil(wait_seconds * 1000))
        query = QueryEvents(after_sequence=after, before_sequence=before, timeout_ms=millis)
        response = await self._control.ask(query, ANSWER_SECONDS + wait_seconds)
        try:
            return decode_events(response.events)
        except (msgspec.MsgspecError, ValueError) as error:
            raise ConnectFailed(f"the run's server sent events that cannot be read: {error}") from error

    async def interrupt(self) -> Receipt:
        """SIGINT to the worker. Returns once the signal is proven delivered; raises Refused otherwise."""
        return await self._command(CommandInterrupt())

    async def send(self, data: bytes | str) -> Receipt:
        """Write to the worker's standard input. Returns once there was room for all of it under way.

        Raises Refused when the worker's input is closed.
        """
        whole = data.encode() if isinstance(data, str) else data
        receipt = Receipt("input", "accepted", "")
        for start in range(0, len(whole), INPUT_PIECE_BYTES):
            piece = whole[start : start + INPUT_PIECE_BYTES]
            receipt = await self._command(CommandInput(bytes_base64=piece), self._input, None)
        return receipt

    async def close_input(self) -> Receipt:
        """End the worker's standard input, after what was sent."""
        return await self._command(CommandInput(close=True), self._input, None)

    async def stop(self, *, grace_seconds: float | None = None) -> Receipt:
        """Ask for the run's end. `pending` means that it was accepted; `until_over` waits for what becomes of it.

        Args:
            grace_seconds: how long the worker may take to leave before it is killed; None for the run's setting.
        """
        return await self._command(CommandStop(grace_ms=_millis(grace_seconds)))

    async def restart(self, *, grace_seconds: float | None = None) -> Receipt:
        """Retire the worker and, once it is gone, start its command again in the same run."""
        return await self._command(CommandRestart(grace_ms=_millis(grace_seconds)))

    async def ask(self, request: Query | Command, seconds: float | None = ANSWER_SECONDS) -> Response:
        """The Response to any other request of the wire (docs/wire/client.md, "Requests").

        A chat has a connection of its own and may take as long as it likes, so that nothing waits behind it.

        Args:
            seconds: how long it may take.

        Raises Refused when it failed, and Unanswered when what became of a command is not known.
        """
        if not isinstance(request, QueryChat):
            return await self._control.ask(request, seconds)
        connection = RequestConnection(self._dialler, self.client_id)
        try:
            return await connection.ask(request, None)
        finally:
            await connection.close()

    async def facts(self) -> RunFacts:
        """What is proven about the run and its workers at this moment."""
        async with self.events(tail=1, follow=False) as stream:
            return await _folded(stream, lambda facts: False)

    async def until_over(self, seconds: float | None = None) -> RunFacts:
        """Wait for the run's end. Returns what is proven then: the worker's end and its descendants' are two facts.

        Args:
            seconds: how long to wait; None for as long as it takes. Raises TimeoutError past it.
        """
        async with asyncio.timeout(seconds), self.events(tail=1) as stream:
            return await _folded(stream, lambda facts: facts.ended is not None)

    async def close(self) -> None:
        """Hang up every connection."""
        streams, self._streams = self._streams, []
        for stream in streams:
            await stream.aclose()
        await self._control.close()
        await self._input.close()
        await self._dialler.close()

    async def __aenter__(self) -> Self:
        await self._dialler.find()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _command(
        self, request: Request, connection: RequestConnection | None = None, seconds: float | None = ANSWER_SECONDS
    ) -> Receipt:
        response = await (connection or self._control).ask(request, seconds)
        if response.ack is None:
            raise ConnectFailed("the run's server answered a command without an acknowledgement.")
        return Receipt(response.ack.action, response.ack.status, response.timestamp)


def open_run(target: str | Target, *, client_id: str = "", backoff_seconds: Sequence[float] = BACKOFF_SECONDS) -> Run:
    """The run at `target`: a RUN of this machine, a socket's path, a gateway's URL, or ssh://HOST/RUN.

    Nothing is connected yet; `async with` looks the run up.

    Args:
        client_id: a stable name for this client; made up when empty.
        backoff_seconds: the waits before each attempt to reconnect.

    Raises UsageError for a target that cannot be understood.
    """
    found = parse_target(target) if isinstance(target, str) else target
    return Run(dialler_for(found), client_id, backoff_seconds)


async def _folded(stream: EventStream, enough: Callable[[RunFacts], bool]) -> RunFacts:
    facts = RunFacts()
    async for item in stream:
        if isinstance(item, RunEvent):
            facts = fold(facts, item)
            if enough(facts):
                break
        elif isinstance(item, Rebootstrapped):
            facts = RunFacts()
        elif isinstance(item, Finished):
            break
    return facts


def _millis(seconds: float | None) -> int | None:
    return None if seconds is None else math.ceil(seconds * 1000)
