"""Follows a run: one connection at a time, dialled again when it is lost, its events given exactly once and in order.

What to do is decided by `resume` and `checkpoints`; this connects, waits and hands over.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Self

from hopline.client.channels import Channel
from hopline.client.checkpoints import CheckpointAssembler, Fault
from hopline.client.connection import accepted
from hopline.client.dialling import Dialler
from hopline.client.frames import read_message
from hopline.client.items import Executions, Finished, Item, Position, Rebootstrapped
from hopline.client.requests import labelled
from hopline.client.resume import GaveUp, Resume, StartOver
from hopline.client.silence import NothingComes, Silence
from hopline.errors import ConnectDenied, ConnectFailed, HoplineError, Refused, RunGone, Unavailable, UsageError
from hopline.wire.client.events import RunEvent
from hopline.wire.client.responses import Code, Response
from hopline.wire.client.streams import (
    ActiveExecutionsChunk,
    EventBatch,
    ProtocolError,
    ServerMessage,
    SingleEvent,
    Subscribed,
)

ACKNOWLEDGE_SECONDS = 30.0
"""How long the server may take to accept a subscription."""


class StreamFailed(Unavailable):
    """The server ended the stream and said why; dialling again would not help."""


class _Lost(Exception):
    """This connection is over; `sentence` says why."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class EventStream(AsyncIterator[Item]):
    """An asynchronous iterator over a run's events and what becomes of the connection, until the run is over.

    Reading slowly holds back nothing but this stream. `position` is where to go on from, at any time.

    Args:
        dialler: connects.
        resume: where to begin, and how often to try.
        client_id: names this client on every request.
        follow: go on until the run ends; else stop once everything there was at the beginning has been given.
    """

    def __init__(self, dialler: Dialler, resume: Resume, client_id: str, *, follow: bool = True) -> None:
        self._dialler = dialler
        self._resume = resume
        self._client_id = client_id
        self._follow = follow
        self._channel: Channel | None = None
        self._assembler = CheckpointAssembler()
        self._silence = Silence(dialler, client_id)
        self._ready: deque[Item] = deque()
        self._given: Position | None = None
        self._executions: tuple[bytes, ...] = ()
        self._begun = False
        self._finished = False
        self._hurried = asyncio.Event()

    @property
    def position(self) -> Position:
        """The last event that was given, and its store: pass it to `events(after=...)` to go on from here."""
        return self._resume.position if self._given is None else self._given

    @property
    def finished(self) -> bool:
        """Whether nothing more will be given."""
        return self._finished and not self._ready

    @property
    def latest_sequence(self) -> int:
        """The newest event that the server has told of."""
        return self._resume.latest_sequence

    @property
    def run_id(self) -> str:
        """The run that answers; "" until it is known."""
        return self._resume.run_id

    async def __anext__(self) -> Item:
        """The next item. Raises Unavailable once the run cannot be reached, Refused when it does not want us."""
        while not self._ready:
            self._given = None
            if self._finished:
                raise StopAsyncIteration
            await self._advance()
        item = self._ready.popleft()
        if isinstance(item, RunEvent):
            self._given = replace(self._resume.position, sequence=item.sequence)
        elif isinstance(item, Rebootstrapped):
            self._given = Position(0, item.store_id)
        return item

    def hurry(self) -> None:
        """While it waits to dial again: do it now."""
        self._hurried.set()

    async def aclose(self) -> None:
        """Hang up. Safe to call at any time; what was read and not given is dropped, `position` stays."""
        self._given = self.position
        self._ready.clear()
        self._finished = True
        await self._hang_up()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _advance(self) -> None:
        """One step further: a connection, or a message of it."""
        try:
            if self._channel is None:
                await self._connect()
            else:
                await self._take_message(self._channel)
        except _Lost as lost:
            await self._lose(lost.sentence)
        except (ConnectDenied, UsageError, StreamFailed, Refused):
            self._finished = True
            await self._hang_up()
            raise
        except HoplineError as error:
            if not self._begun:
                self._finished = True
                await self._hang_up()
                raise
            await self._lose(str(error))
        except BaseException:
            await self._hang_up()
            raise

    async def _connect(self) -> None:
        deadline = self._resume.next_deadline()
        loop = asyncio.get_running_loop()
        if deadline is not None:
            await self._wait(deadline - loop.time())
        self._assembler = CheckpointAssembler()
        self._silence = Silence(self._dialler, self._client_id)
        self._channel = await self._dialler.dial()
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                await self._subscribe(self._channel)
        except TimeoutError:
            raise _Lost(f"the server did not accept within {ACKNOWLEDGE_SECONDS:g} s.") from None

    async def _wait(self, seconds: float) -> None:
        self._hurried.clear()
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                await self._hurried.wait()
        except TimeoutError:
            return

    async def _subscribe(self, channel: Channel) -> None:
        while True:
            await channel.send(labelled(self._resume.request(), self._client_id))
            match await self._message(channel):
                case Subscribed(run_id=run_id, latest_sequence=latest):
                    self._resume.acknowledged(run_id, latest)
                    return
                case Response() as response:
                    busy = response.diagnostic is not None and response.diagnostic.code == Code.TOO_MANY_CONNECTIONS
                    if busy:
                        raise _Lost(response.error or "it serves too many connections.")
                    if not self._resume.rejected():
                        accepted(response)
                        raise ConnectFailed("the server answered a subscription with a Response.")
                case ProtocolError() as error:
                    self._fail(error)
                case _:
                    raise _Lost("the server did not acknowledge the subscription.")

    async def _take_message(self, channel: Channel) -> None:
        try:
            message = await self._message(channel)
        except NothingComes:
            await self._finish()
            return
        match message:
            case EventBatch() as batch:
                await self._fold(batch)
            case ActiveExecutionsChunk() as chunk:
                self._take(self._assembler.chunk(chunk))
            case SingleEvent() as single:
                self._take(self._assembler.other())
                self._give(self._resume.receive_event(single.event))
            case ProtocolError() as error:
                self._fail(error)
            case _:
                raise _Lost("the server sent something else than events.")
        if self._complete():
            await self._finish()

    async def _finish(self) -> None:
        self._finished = True
        self._ready.append(Finished(self._resume.position, self._resume.over))
        await self._hang_up()

    async def _fold(self, batch: EventBatch) -> None:
        outcome = self._assembler.batch(batch)
        if isinstance(outcome, Fault):
            raise _Lost(f"{outcome.reason}.")
        folded = self._resume.receive(batch)
        if isinstance(folded, StartOver):
            await self._hang_up()
            return
        self._give(folded)
        if self._resume.applied:
            self._take(outcome)

    def _give(self, folded: "list[Item] | Fault | StartOver") -> None:
        if isinstance(folded, Fault):
            raise _Lost(f"{folded.reason}.")
        if isinstance(folded, list):
            self._begun = True
            if any(isinstance(item, Rebootstrapped) for item in folded[:2]):
                self._executions = ()
            self._ready.extend(folded)

    def _take(self, outcome: Executions | Fault | None) -> None:
        """What the assembler made of a message: the list is an item only when it has changed."""
        if isinstance(outcome, Fault):
            raise _Lost(f"{outcome.reason}.")
        if outcome is None:
            return
        executions = tuple(bytes(execution) for execution in outcome.executions)
        if executions != self._executions:
            self._executions = executions
            self._ready.append(outcome)

    def _complete(self) -> bool:
        if not self._resume.caught_up:
            return False
        return self._resume.over or not self._follow or self._dialler.live is False

    async def _message(self, channel: Channel) -> ServerMessage | Response:
        if self._dialler.live is None and self._resume.caught_up:
            line = await self._silence.receive(channel, self._resume.position.sequence)
        else:
            line = await channel.receive()
        if line is None:
            told = await channel.explain()
            if told is not None:
                raise told
            raise _Lost("the server closed the connection.")
        return read_message(line)

    def _fail(self, error: ProtocolError) -> None:
        """The close that follows is no outage, so no Disconnected tells of it, unless trying again may help."""
        diagnostic = error.diagnostic
        if diagnostic is not None and diagnostic.retryability == "automatic" and self._begun:
            raise _Lost(error.message)
        kind = {Code.NOT_FOUND: RunGone, Code.PERMISSION_DENIED: ConnectDenied}.get(error.code, StreamFailed)  # type: ignore[call-overload]  # a code we do not know is a plain string
        hint = f" {diagnostic.hint}" if diagnostic is not None and diagnostic.hint else ""
        raise kind(f"the server ended the stream: {error.message}{hint}")

    async def _lose(self, sentence: str) -> None:
        await self._hang_up()
        self._dialler.forget()
        told = self._resume.lost(sentence, asyncio.get_running_loop().time())
        if isinstance(told, GaveUp):
            self._finished = True
            raise Unavailable(told.sentence)
        self._ready.append(told)

    async def _hang_up(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()
