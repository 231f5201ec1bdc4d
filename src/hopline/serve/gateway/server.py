"""The gateway: binds loopback, decides each request, serves the page, and carries WebSockets to runs.

One component over a `Dialer`: in front of every run of this machine, or of one (docs/wire/gateway.md; WG-LOOPBACK).
"""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from pathlib import Path
from typing import cast

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from hopline.errors import Unavailable
from hopline.serve.gateway import answers
from hopline.serve.gateway.access import Allowed, Denied, Gate
from hopline.serve.gateway.answers import Answer
from hopline.serve.gateway.assets import Assets
from hopline.serve.gateway.board import RunBoard
from hopline.serve.gateway.carrier import PeerGone, WebSocketCarrier
from hopline.serve.gateway.connection import GatewayConnection, asked, connections_of, written
from hopline.serve.gateway.credentials import NONCE_BYTES, TOKEN_BYTES, Credentials, new_token
from hopline.serve.gateway.limits import GatewayLimits
from hopline.serve.gateway.origins import Admission
from hopline.serve.gateway.passage import first_to_end, pass_messages
from hopline.serve.gateway.peers import owner_of
from hopline.serve.gateway.targets import Asset, Health, Page, Rotate, RunSocket, RunsSocket
from hopline.serve.gateway.upstream import Dialer
from hopline.serve.gateway.waiting_room import WaitingRoom

log = logging.getLogger(__name__)

OnRotate = Callable[[Credentials], None]
"""Keeps new credentials before they count. Raises OSError, and then the old ones stay."""


@dataclass(frozen=True, slots=True)
class GatewayOptions:
    """What one gateway is for.

    Attributes:
        port: on 127.0.0.1; 0 for any free one.
        web: the folder of the page.
        origins: further web origins, as `parse_origin` gives them.
        single_run: the one run that is served, also behind `/ws`; None for the gateway to every run.
        allowed_uids: users whose processes may connect; None when nobody is asked.
    """

    port: int
    web: Path
    origins: tuple[str, ...] = ()
    single_run: str | None = None
    allowed_uids: frozenset[int] | None = None
    limits: GatewayLimits = field(default_factory=GatewayLimits)


class Gateway:
    """Serves from `open` to `close`.

    Args:
        options: what it is for.
        dialer: reaches the runs.
        credentials: what proves its user.
        on_rotate: see OnRotate.
    """

    def __init__(
        self, options: GatewayOptions, dialer: Dialer, credentials: Credentials, on_rotate: OnRotate = lambda _: None
    ) -> None:
        self._options = options
        self._dialer = dialer
        self._credentials = credentials
        self._on_rotate = on_rotate
        self._assets = Assets(options.web)
        self._board = RunBoard(options.single_run)
        self._room = WaitingRoom(options.limits.half_open_connections)
        self._gate: Gate | None = None
        self._common: tuple[tuple[str, str], ...] = ()
        self._server: Server | None = None
        self._watching: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The bound port; valid once open."""
        assert self._gate is not None
        return self._gate.port

    @property
    def half_open(self) -> int:
        """Connections that are no WebSocket, at present."""
        return len(self._room)

    async def open(self) -> None:
        """Bind and serve. Raises Unavailable when the port cannot be had."""
        limits = self._options.limits
        websocket = limits.websocket
        try:
            self._server = await serve(
                self._carry,
                "127.0.0.1",
                self._options.port,
                compression=None,
                process_request=self._answer,
                process_response=self._complete,
                server_header=answers.SERVER_HEADER,
                open_timeout=limits.handshake_seconds,
                ping_interval=None,
                ping_timeout=None,
                close_timeout=websocket.close_timeout_seconds,
                max_size=websocket.receive_frame_bytes,
                max_queue=websocket.receive_queue,
                write_limit=websocket.send_buffer_bytes,
                logger=log,
                create_connection=connections_of(self._room),  # type: ignore[arg-type]  # a factory, as documented
                backlog=limits.backlog,
            )
        except OSError as error:
            raise Unavailable(
                f"cannot listen on 127.0.0.1:{self._options.port}: {error.strerror or error}; choose another port: "
                "--port 0 takes any free one."
            ) from error
        port = next(iter(self._server.sockets)).getsockname()[1]
        admission = Admission.on_port(port, self._options.origins)
        self._common = answers.common_headers(admission)
        self._gate = Gate(port, admission, self._credentials, self._options.single_run)
        self._watching = asyncio.create_task(self._board.watch())

    async def close(self) -> None:
        """Close every connection within the shutdown bound, abort what is left, and stop listening."""
        if self._watching is not None:
            self._watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watching
        if self._server is None:
            return
        self._server.close()
        try:
            async with asyncio.timeout(self._options.limits.shutdown_seconds):
                await self._server.wait_closed()
        except TimeoutError:
            for connection in tuple(self._server.all_connections):
                connection.transport.abort()
            await self._server.wait_closed()

    def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """The HTTP answer to a request, or None to go on with a WebSocket handshake."""
        if self._gate is None:
            return written(Answer(HTTPStatus.SERVICE_UNAVAILABLE, b"The gateway is starting.\n"))
        decision = self._gate.decide(asked(request))
        if isinstance(decision, Allowed) and not isinstance(decision.route, Asset):
            decision = self._by_owner(connection, decision)
        match decision:
            case Denied():
                return written(answers.denial(decision))
            case Allowed(route=RunSocket() | RunsSocket()):
                assert self._server is not None
                if len(self._server.all_connections) >= self._options.limits.websockets:
                    return written(Answer(HTTPStatus.SERVICE_UNAVAILABLE, b"Too many connections are open.\n"))
                cast(GatewayConnection, connection).route = decision.route
                return None
            case Allowed():
                return written(self._plain(decision))

    def _by_owner(self, connection: ServerConnection, allowed: Allowed) -> Allowed | Denied:
        users = self._options.allowed_uids
        if users is None:
            return allowed
        owner = owner_of(connection.local_address, connection.remote_address)
        if owner is None or owner in users:
            return allowed
        return Denied(HTTPStatus.FORBIDDEN, f"This gateway is its user's alone; you are user {owner}.")

    def _plain(self, allowed: Allowed) -> Answer:
        missing = answers.denial(Denied(HTTPStatus.NOT_FOUND, "There is nothing here."))
        match allowed.route:
            case Asset(name):
                found = self._assets.read(name)
                return missing if found is None else Answer(HTTPStatus.OK, *found)
            case Page():
                body = self._assets.page()
                return missing if body is None else answers.page(body, self._granted(allowed))
            case Rotate():
                return self._rotate()
            case Health():
                return answers.health()
            case _:
                return missing

    def _granted(self, allowed: Allowed) -> tuple[tuple[str, str], ...]:
        if not allowed.grants_session:
            return ()
        session = self._credentials.grant(secrets.token_bytes(NONCE_BYTES))
        return answers.session_headers(self.port, session, allowed.cross_origin)

    def _rotate(self) -> Answer:
        assert self._gate is not None
        credentials = replace(self._credentials, token=new_token(secrets.token_bytes(TOKEN_BYTES)))
        try:
            self._on_rotate(credentials)
        except OSError as error:
            return answers.not_rotated(error.strerror or str(error))
        self._credentials = credentials
        self._gate = replace(self._gate, credentials=credentials)
        return answers.rotated()

    def _complete(self, connection: ServerConnection, request: Request, response: Response) -> None:
        """The common headers, on the library's own answers too."""
        for name, value in self._common:
            response.headers[name] = value
        if response.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
            self._room.leave(connection)

    async def _carry(self, connection: ServerConnection) -> None:
        """Own one WebSocket from its handshake to its end."""
        carrier = WebSocketCarrier(connection, self._options.limits.websocket)
        serving: Awaitable[None]
        match cast(GatewayConnection, connection).route:
            case RunSocket(run_id):
                serving = self._serve_run(carrier, run_id or self._options.single_run or "")
            case _:
                serving = self._serve_listing(carrier)
        try:
            await first_to_end(
                asyncio.ensure_future(serving),
                asyncio.ensure_future(carrier.keep_alive()),
                asyncio.ensure_future(connection.wait_closed()),
            )
        finally:
            await carrier.close()

    async def _serve_run(self, carrier: WebSocketCarrier, run_id: str) -> None:
        await pass_messages(carrier, self._dialer, run_id, self._options.limits)

    async def _serve_listing(self, carrier: WebSocketCarrier) -> None:
        last = await self._board.serve(carrier)
        if last is not None:
            with contextlib.suppress(PeerGone):
                await carrier.send(last)
