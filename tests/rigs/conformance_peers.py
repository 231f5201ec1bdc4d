"""The clients' ends of the carriers: whole messages out, whole messages in, and how it ends.

Each is raw on purpose: its framing is its own, a handful of lines that share nothing with the code under test.
"""

import asyncio
import contextlib
import random
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Protocol

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from hopline.serve.memory import MemoryClient

HOPLINE = str(Path(sys.executable).with_name("hopline"))
SECONDS = 5.0
"""How long anything may take that is not told otherwise; reference 12.4 says 2 on an idle machine."""

PIECEMEAL_BYTES = 1 << 16
"""How much of one direction is cut as asked; the rest is cut coarsely, or a megabyte takes a second."""

Pieces = int | Literal["whole", "random"]


class Knife:
    """Cuts one direction of a connection.

    Args:
        pieces: bytes a piece.
        rng: chooses when they are random.
    """

    def __init__(self, pieces: Pieces, rng: random.Random) -> None:
        self.whole = pieces == "whole"
        self._pieces, self._rng = pieces, rng
        self._left = PIECEMEAL_BYTES

    def cut(self, data: bytes) -> Iterator[bytes]:
        """`data` in pieces."""
        if self.whole:
            yield data
            return
        at = 0
        while at < len(data):
            piece = data[at : at + self._size()]
            yield piece
            at += len(piece)
            self._left -= len(piece)

    def _size(self) -> int:
        if self._left <= 0:
            return 50_000
        return self._pieces if isinstance(self._pieces, int) else self._rng.choice((1, 2, 3, 7, 64, 1000, 5000))


class Peer(Protocol):
    """A client's connection."""

    async def send(self, message: bytes) -> None:
        """One whole message."""

    async def send_part(self, data: bytes) -> None:
        """Bytes that end no message, or a binary message."""

    async def end(self) -> None:
        """Say that nothing more comes, and go on reading where the carrier can."""

    async def receive(self) -> bytes | None:
        """The next message; None when the server has closed."""

    async def close(self) -> None:
        """Leave."""


class LinePeer:
    """JSON lines over a stream.

    Args:
        pieces: how both directions are cut.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pieces: Pieces, rng: random.Random
    ) -> None:
        self._reader, self._writer = reader, writer
        self._inward, self._outward = Knife(pieces, rng), Knife(pieces, rng)
        self._lines: deque[bytes] = deque()
        self._parts: list[bytes] = []

    async def send(self, message: bytes) -> None:
        await self.send_part(message + b"\n")

    async def send_part(self, data: bytes) -> None:
        for piece in self._outward.cut(data):
            self._writer.write(piece)
            if len(data) < 5000:
                await asyncio.sleep(0)
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    async def end(self) -> None:
        self._writer.write_eof()

    async def receive(self) -> bytes | None:
        while not self._lines:
            try:
                data = await self._reader.read(1 << 20)
            except ConnectionError:
                return None
            if not data:
                assert not self._parts, f"the stream ended inside a message: {self._parts[-1][-80:]!r}"
                return None
            for piece in self._inward.cut(data):
                self._hold(piece)
        return self._lines.popleft()

    def _hold(self, piece: bytes) -> None:
        while b"\n" in piece:
            end, _, piece = piece.partition(b"\n")
            self._lines.append(b"".join((*self._parts, end)))
            self._parts.clear()
        if piece:
            self._parts.append(piece)

    async def read_some(self, size: int) -> None:
        """Take bytes and forget them."""
        await self._reader.read(size)

    def abort(self) -> None:
        """Be gone without a word."""
        self._writer.transport.abort()

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()


def _started(command: list[str], stdin: socket.socket, stdout: socket.socket) -> "subprocess.Popen[bytes]":
    with stdin, stdout:
        return subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE)


class BridgePeer(LinePeer):
    """The same lines through `hopline bridge --socket PATH`, a process of its own, here or behind `ssh`."""

    process: "subprocess.Popen[bytes]"
    _from_bridge: asyncio.StreamWriter
    _closed = False

    @classmethod
    async def start(cls, path: Path, pieces: Pieces, rng: random.Random, ssh: list[str] | None = None) -> "BridgePeer":
        bridge = [HOPLINE, "bridge", "--socket", str(path)]
        (our_in, its_in), (our_out, its_out) = socket.socketpair(), socket.socketpair()
        process = _started([*(ssh or []), *bridge], its_in, its_out)
        _, to_bridge = await asyncio.open_unix_connection(sock=our_in)
        reader, from_bridge = await asyncio.open_unix_connection(sock=our_out)
        peer = cls(reader, to_bridge, pieces, rng)
        peer.process, peer._from_bridge = process, from_bridge
        return peer

    async def close(self) -> None:
        """End its stdin, take what it still says, and hold it to how a bridge ends."""
        if self._closed:
            return
        self._closed = True
        self._writer.close()
        with contextlib.suppress(OSError):
            while await self._reader.read(1 << 16):
                pass
        self._from_bridge.close()
        status, said = await asyncio.to_thread(self._ended)
        assert (status, bool(said)) in ((0, False), (3, True)), (status, said)

    def abort(self) -> None:
        """End it as a lost machine would."""
        self.process.kill()
        self._closed = True
        self._writer.close()
        self._from_bridge.close()
        self._ended()

    def _ended(self) -> tuple[int, bytes]:
        assert self.process.stderr is not None
        with self.process.stderr as stderr:
            return self.process.wait(SECONDS), stderr.read()


class WebSocketPeer:
    """Text messages through a gateway; cut, a message is sent as fragments."""

    def __init__(self, connection: ClientConnection, pieces: Pieces, rng: random.Random) -> None:
        self.connection = connection
        self._outward = Knife(pieces, rng)

    async def send(self, message: bytes) -> None:
        if self._outward.whole or len(message) > 5000:
            await self.connection.send(message, text=True)
        else:
            await self.connection.send(list(self._outward.cut(message)), text=True)

    async def send_part(self, data: bytes) -> None:
        await self.connection.send(data, text=False)

    async def end(self) -> None:
        raise NotImplementedError("a WebSocket has no half-close")

    async def receive(self) -> bytes | None:
        try:
            message = await self.connection.recv()
        except ConnectionClosed as closed:
            assert closed.rcvd is not None and closed.rcvd.code == 1000, f"no ordinary close: {closed}"
            return None
        assert isinstance(message, str), "a binary frame (WP-FRAME-TYPE)"
        return message.encode()

    async def close(self) -> None:
        await self.connection.close()


class MemoryPeer:
    """Whole messages inside the process."""

    def __init__(self, client: MemoryClient) -> None:
        self._client = client

    async def send(self, message: bytes) -> None:
        await self._client.send(message)

    async def send_part(self, data: bytes) -> None:
        raise NotImplementedError("a message is whole here")

    async def end(self) -> None:
        self._client.end()

    async def receive(self) -> bytes | None:
        return await self._client.receive()

    async def close(self) -> None:
        self._client.close()
