"""The ways to a scenario's run: its socket, gateways before it and inside it, memory, the bridge, here or over ssh."""

import asyncio
import random
import socket
from contextlib import AsyncExitStack
from pathlib import Path

from conformance_peers import BridgePeer, LinePeer, MemoryPeer, Peer, Pieces, WebSocketPeer
from conformance_run import RUN_ID, ScenarioRun
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from hopline.serve.gateway.credentials import KEY_BYTES, Credentials
from hopline.serve.gateway.limits import GatewayLimits
from hopline.serve.gateway.server import Gateway, GatewayOptions
from hopline.serve.gateway.upstream import Dialer, LineUpstream, Upstream


class InsideDialer:
    """Reaches the run in memory, as the gateway of `hopline run --web` does."""

    def __init__(self, run: ScenarioRun) -> None:
        self._run = run

    async def dial(self, run_id: str) -> Upstream:
        return self._run.inside.connect()


class SocketDialer:
    """Reaches the run through its Unix socket, as a gateway in another process does."""

    def __init__(self, path: Path, limits: GatewayLimits) -> None:
        self._path, self._limits = path, limits

    async def dial(self, run_id: str) -> Upstream:
        loop = asyncio.get_running_loop()
        _, upstream = await loop.create_unix_connection(lambda: LineUpstream(self._limits), str(self._path))
        return upstream


class Carriers:
    """Connects a scenario's clients to its run.

    Args:
        run: it listens.
        stack: everything that is opened is closed with it.
        pieces: how messages are cut.
        seed: of what is cut at random.
        window: what the system receives ahead of a WebSocket client; None for what it likes.
        ssh: what stands before a command that runs behind an sshd.
    """

    def __init__(
        self,
        run: ScenarioRun,
        stack: AsyncExitStack,
        pieces: Pieces,
        seed: int = 1,
        window: int | None = None,
        ssh: list[str] | None = None,
    ) -> None:
        self._run, self._stack, self._pieces, self._window, self._ssh = run, stack, pieces, window, ssh
        self._rng = random.Random(seed)
        self._gateway: Gateway | None = None

    async def connect(self, carrier: str) -> Peer:
        """A new connection."""
        path, pieces, rng = self._run.path, self._pieces, self._rng
        match carrier:
            case "unix":
                peer: Peer = LinePeer(*await asyncio.open_unix_connection(str(path), limit=1 << 16), pieces, rng)
            case "bridge":
                peer = await BridgePeer.start(path, pieces, rng)
            case "ssh":
                peer = await BridgePeer.start(path, pieces, rng, self._ssh)
            case "websocket":
                dialer: Dialer = SocketDialer(path, GatewayLimits())
                peer = WebSocketPeer(await self._websocket(dialer), pieces, rng)
            case "web":
                peer = WebSocketPeer(await self._websocket(InsideDialer(self._run)), pieces, rng)
            case "memory":
                peer = MemoryPeer(self._run.inside.connect())
            case _:
                raise ValueError(f"nothing carries {carrier}")
        self._stack.push_async_callback(peer.close)
        return peer

    async def url(self) -> str:
        """What a client of a gateway before the run's socket is given."""
        if self._gateway is None:
            self._gateway = await self._open_gateway(SocketDialer(self._run.path, GatewayLimits()))
        return f"http://127.0.0.1:{self._gateway.port}/?token=t0ken"

    async def _websocket(self, dialer: Dialer) -> ClientConnection:
        if self._gateway is None:
            self._gateway = await self._open_gateway(dialer)
        port = self._gateway.port
        connected = socket.socket()
        if self._window is not None:
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._window)
        connected.connect(("127.0.0.1", port))
        connected.setblocking(False)
        return await connect(
            f"ws://127.0.0.1:{port}/ws?token=t0ken",
            origin=Origin(f"http://127.0.0.1:{port}"),
            sock=connected,
            compression=None,
            proxy=None,
            max_size=None,
            max_queue=(4, 1),
            ping_interval=None,
        )

    async def _open_gateway(self, dialer: Dialer) -> Gateway:
        web = self._run.path.parent
        (web / "index.html").touch()
        options = GatewayOptions(port=0, web=web, single_run=RUN_ID)
        gateway = Gateway(options, dialer, Credentials("t0ken", bytes(KEY_BYTES)))
        await gateway.open()
        self._stack.push_async_callback(gateway.close)
        return gateway
