"""A run whose every connection is scripted: what each dial gives, or why it fails."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from hopline.client.channels import Channel
from hopline.errors import HoplineError, RunGone
from hopline.records import RunRecord
from hopline.wire.client.requests import decode_request

Step = bytes | float | BaseException | Callable[[dict[str, Any]], bytes]
"""A message to give; seconds to wait; an error to raise; or a function of the last request, for what echoes it."""


class ScriptedChannel:
    """Gives its steps one by one, then ends, or waits for ever when the last is `...`."""

    def __init__(self, steps: Iterable[Any]) -> None:
        self._steps = deque(steps)
        self.sent: list[dict[str, Any]] = []
        self._due: float | None = None
        self.closed = False
        self.gone = False
        self.why: HoplineError | None = None

    @property
    def ended(self) -> bool:
        return self.gone

    async def send(self, message: bytes) -> None:
        if self.gone:
            raise RunGone("the server has left.")
        decode_request(message)
        self.sent.append(msgspec.json.decode(message))

    async def receive(self) -> bytes | None:
        await asyncio.sleep(0)
        if not self._steps:
            return None
        await self._wait(self._steps[0])
        step = self._steps.popleft()
        if isinstance(step, float):
            self._due = None
            return await self.receive()
        if isinstance(step, BaseException):
            raise step
        return step(self.sent[-1]) if callable(step) else step

    async def _wait(self, step: Any) -> None:
        """Whoever gives up waiting meanwhile has taken nothing."""
        if step is ...:
            await asyncio.Event().wait()
        if isinstance(step, float):
            now = asyncio.get_running_loop().time()
            self._due = now + step if self._due is None else self._due
            await asyncio.sleep(self._due - now)

    async def explain(self) -> HoplineError | None:
        return self.why

    async def close(self) -> None:
        self.closed = True


class ScriptedDialler:
    """Dials what it was given, in order; an error stands for a dial that fails. Past the end every dial fails."""

    def __init__(self, *dials: Iterable[Any] | HoplineError, live: bool | None = None) -> None:
        self._dials = deque(dials)
        self.record: RunRecord | None = None
        self.live = live
        self.channels: list[ScriptedChannel] = []
        self.dialled_at: list[float] = []
        self.forgotten = 0

    async def find(self) -> None:
        """Nothing to look up."""

    async def dial(self) -> Channel:
        self.dialled_at.append(asyncio.get_running_loop().time())
        if not self._dials:
            raise RunGone("nothing listens.")
        script = self._dials.popleft()
        if isinstance(script, HoplineError):
            raise script
        self.channels.append(ScriptedChannel(script))
        return self.channels[-1]

    async def close(self) -> None:
        """Nothing was kept."""

    def forget(self) -> None:
        self.forgotten += 1

    @property
    def subscribed(self) -> list[tuple[int, int | None, str]]:
        """(cursor, tail, store id) of every subscribe that was sent, in order."""
        return [
            (sent.get("after_sequence", 0), sent.get("tail"), sent.get("store_id", ""))
            for channel in self.channels
            for sent in channel.sent
        ]
