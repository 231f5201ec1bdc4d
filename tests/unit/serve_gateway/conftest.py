"""A loop whose clock jumps to the next timer when nothing is ready, and a WebSocket connection that obeys a test."""

import asyncio
import selectors
import socket
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosedOK


class JumpingSelector(selectors.DefaultSelector):
    """Never waits: the time that it would have waited passes at once."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = super().select(0)
        if not ready and timeout:
            self.passed += timeout
        return ready


class JumpingLoop(asyncio.SelectorEventLoop):
    """Real callbacks, simulated time."""

    def __init__(self) -> None:
        self.jumping = JumpingSelector()
        super().__init__(self.jumping)

    def time(self) -> float:
        return self.jumping.passed


class FakeTransport:
    """Remembers that it was aborted."""

    def __init__(self, connection: "FakeConnection") -> None:
        self._connection = connection
        self._drops_what_is_queued = False

    def get_extra_info(self, name: str) -> "FakeTransport":
        assert name == "socket"
        return self

    def setsockopt(self, level: int, option: int, value: bytes) -> None:
        assert (level, option, value) == (socket.SOL_SOCKET, socket.SO_LINGER, bytes((1, 0, 0, 0, 0, 0, 0, 0)))
        self._drops_what_is_queued = True

    def abort(self) -> None:
        assert self._drops_what_is_queued
        self._connection.happened.append("aborted")
        self._connection.gone.set()


class FakeConnection:
    """A peer that stalls or answers as a test says; what happened to it is in `happened`."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.transport = FakeTransport(self)
        self.happened: list[str] = []
        self.gone = asyncio.Event()
        self.inbox: asyncio.Queue[str | bytes] = asyncio.Queue()
        self.takes = asyncio.Event()
        self.takes.set()
        self.pongs = True

    async def recv(self) -> str | bytes:
        message = asyncio.ensure_future(self.inbox.get())
        over = asyncio.ensure_future(self.gone.wait())
        try:
            await asyncio.wait({message, over}, return_when=asyncio.FIRST_COMPLETED)
            if message.done():
                return message.result()
            raise ConnectionClosedOK(None, None)
        finally:
            message.cancel()
            over.cancel()

    async def send(self, message: bytes, *, text: bool) -> None:
        assert text
        self.happened.append(message.decode())
        await self.takes.wait()
        if self.gone.is_set():
            raise ConnectionClosedOK(None, None)

    async def ping(self) -> "asyncio.Future[float]":
        self.happened.append(f"ping at {self.loop.time():g}")
        await self.takes.wait()
        pong: asyncio.Future[float] = self.loop.create_future()
        if self.pongs:
            pong.set_result(0.0)
        return pong

    async def close(self) -> None:
        self.happened.append("close")
        await self.takes.wait()
        self.gone.set()


@pytest.fixture
def in_simulated_time() -> Callable[[Callable[[], Coroutine[Any, Any, Any]]], float]:
    """Runs a coroutine function to its end; returns how many simulated seconds passed."""

    def run(main: Callable[[], Coroutine[Any, Any, Any]]) -> float:
        loop = JumpingLoop()
        try:
            loop.run_until_complete(main())
            return loop.time()
        finally:
            loop.close()

    return run


@pytest.fixture
def new_connection() -> type[FakeConnection]:
    """Makes fake connections inside the loop."""
    return FakeConnection
