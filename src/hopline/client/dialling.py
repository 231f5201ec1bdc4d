"""Connects to where a target says the run is, again and again to the same run, and knows whether it still lives."""

import asyncio
import os
import socket
from collections.abc import Callable
from typing import Protocol

from hopline.client.channels import Channel, LineChannel
from hopline.client.connection import Connection, connect
from hopline.client.host import FarRun
from hopline.client.targets import Gateway, LocalRun, OverSsh, SocketPath, Target
from hopline.client.websocket import WebSocketChannel
from hopline.records import RunRecord

SERVER = "the run's server"


class Dialler(Protocol):
    """One run to connect to."""

    @property
    def record(self) -> RunRecord | None:
        """The run as it was last looked up; None where nobody tells."""

    live: bool | None
    """Whether the run's own server answers, as of the last `dial`; None when that cannot be known."""

    async def find(self) -> None:
        """Look the run up, so that every `dial` reaches the same one. Raises RunGone, UsageError or Unavailable."""

    async def dial(self) -> Channel:
        """A new connection. Raises HoplineError."""

    def forget(self) -> None:
        """A connection was lost: whether the run lives is to be found out again."""

    async def close(self) -> None:
        """Let go of what no connection has taken."""


class LocalDialler:
    """A run of this machine; reopened read-only once it has ended."""

    def __init__(self, target: LocalRun) -> None:
        self._run = target.run
        self.record: RunRecord | None = None
        self.live: bool | None = None

    async def find(self) -> None:
        """See Dialler."""
        from hopline.records import resolve

        self.record = await asyncio.to_thread(resolve, self._run if self.record is None else self.record.id)

    async def dial(self) -> Channel:
        """See Dialler."""
        if self.record is None:
            await self.find()
        return await LineChannel.over(await _in_thread(self._connect), SERVER)

    def forget(self) -> None:
        """See Dialler."""

    async def close(self) -> None:
        """See Dialler."""

    def _connect(self) -> socket.socket:
        from hopline.client import dial
        from hopline.records import is_live, read_record

        assert self.record is not None
        connected = _socket_of(dial(self.record))
        self.live = is_live(self.record.id)
        self.record = read_record(self.record.id)
        return connected


class SocketDialler:
    """Whoever listens at a path."""

    def __init__(self, target: SocketPath) -> None:
        self._path = target.path
        self.record: RunRecord | None = None
        self.live: bool | None = None

    async def find(self) -> None:
        """See Dialler."""

    async def dial(self) -> Channel:
        """See Dialler."""
        connected = await _in_thread(lambda: _socket_of(connect(self._path)))
        return await LineChannel.over(connected, f"the server at {self._path}")

    def forget(self) -> None:
        """See Dialler."""

    async def close(self) -> None:
        """See Dialler."""


class SshDialler:
    """A run of another machine, through `hopline bridge` there."""

    def __init__(self, target: OverSsh) -> None:
        self._run = FarRun(target)
        self._turn = asyncio.Lock()
        self._current = False
        self.live: bool | None = None

    @property
    def record(self) -> RunRecord | None:
        """See Dialler."""
        return self._run.record

    async def find(self) -> None:
        """See Dialler."""
        async with self._turn:
            await self._look()

    async def dial(self) -> Channel:
        """See Dialler."""
        async with self._turn:
            if not self._current:
                await self._look()
            ssh = await asyncio.to_thread(self._run.connect)
        return await LineChannel.over(ssh.take_socket(), f"the bridge on {ssh.host}", ssh.explain, ssh.close)

    def forget(self) -> None:
        """See Dialler."""
        self._current = False

    async def close(self) -> None:
        """See Dialler."""
        await asyncio.to_thread(self._run.close)

    async def _look(self) -> None:
        await asyncio.to_thread(self._run.find)
        self.live = self._run.live
        self._current = True


class GatewayDialler:
    """A run behind a gateway."""

    def __init__(self, target: Gateway) -> None:
        self._target = target
        self.record: RunRecord | None = None
        self.live: bool | None = None

    async def find(self) -> None:
        """See Dialler."""

    async def dial(self) -> Channel:
        """See Dialler."""
        return await WebSocketChannel.dial(self._target)

    def forget(self) -> None:
        """See Dialler."""

    async def close(self) -> None:
        """See Dialler."""


def dialler_for(target: Target) -> Dialler:
    """What connects to `target`."""
    match target:
        case LocalRun():
            return LocalDialler(target)
        case SocketPath():
            return SocketDialler(target)
        case OverSsh():
            return SshDialler(target)
        case Gateway():
            return GatewayDialler(target)


def _socket_of(connection: Connection) -> socket.socket:
    """The connected socket of a blocking connection that has read nothing yet."""
    connected = socket.socket(fileno=os.dup(connection.fileno()))
    connection.close()
    return connected


async def _in_thread(connect: Callable[[], socket.socket]) -> socket.socket:
    """What `connect` gives; when the caller is cancelled meanwhile, it is closed once it comes."""
    connecting = asyncio.ensure_future(asyncio.to_thread(connect))
    try:
        return await asyncio.shield(connecting)
    except asyncio.CancelledError:
        connecting.add_done_callback(_close_late)
        raise


def _close_late(connecting: "asyncio.Future[socket.socket]") -> None:
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().close()
