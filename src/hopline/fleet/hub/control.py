"""The control socket: one owner asks, one operation at a time a connection (docs/wire/hub.md)."""

import asyncio
import contextlib
import logging
import os
import socket
import struct
from collections import deque
from collections.abc import Mapping
from typing import cast

import msgspec

from hopline.errors import HoplineError, Refused
from hopline.fleet.ports import Operation
from hopline.wire.hub.frames import MAX_LINE_BYTES, HubError, HubReply, HubRequest, decode_request, encode

MAX_CONNECTIONS = 64
"""Commands that are connected at a time; one more is told so."""

MAX_WAITING = 8
"""Requests that a connection may send before the first of them is answered."""

WRITE_SECONDS = 10.0
"""How long an asker may take nothing of what is written to it before it is cut."""

ENDING = "hub_ends"
"""The code of an answer that will not come."""

log = logging.getLogger("hopline.hub.control")


class ControlServer:
    """Answers the command line.

    Args:
        operations: by name; a name that is not there is refused with the nearest known one.
        tasks: the group that operations run in.
    """

    def __init__(self, operations: Mapping[str, Operation], tasks: asyncio.TaskGroup) -> None:
        self._operations = operations
        self._tasks = tasks
        self._askers: set[_Asker] = set()
        self._server: asyncio.Server | None = None

    async def listen(self, bound: socket.socket) -> None:
        """Start to accept on `bound`, which listens, does not block, and is owned from now on."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_unix_server(lambda: _Asker(self), sock=bound)

    async def close(self) -> None:
        """Accept nobody more, give up what is under way, hang up."""
        if self._server is not None:
            self._server.close()
        for asker in list(self._askers):
            asker.hang_up()

    def came(self, asker: "_Asker") -> HubError | None:
        """A connection was made. Returns why it is refused."""
        if len(self._askers) >= MAX_CONNECTIONS:
            return HubError(f"the hub serves {MAX_CONNECTIONS} commands at a time; end one and try again.")
        self._askers.add(asker)
        return None

    def went(self, asker: "_Asker") -> None:
        """A connection was lost."""
        self._askers.discard(asker)

    def start(self, asker: "_Asker", request: HubRequest) -> asyncio.Task[None]:
        """Run what was asked."""
        return self._tasks.create_task(self._answer(asker, request))

    def outlives(self, request: HubRequest) -> bool:
        """Whether what was asked goes on when the asker leaves."""
        operation = self._operations.get(request.op)
        return operation is not None and operation.outlives_asker

    async def _answer(self, asker: "_Asker", request: HubRequest) -> None:
        try:
            operation = self._operations.get(request.op)
            if operation is None:
                raise Refused(f"the hub knows no operation {request.op[:80]!r}; restart it: hopline hub stop")
            args = msgspec.json.decode(request.args, type=operation.args)
            result = await operation.run(args, asker.progress)
            reply = encode(HubReply(result=msgspec.Raw(msgspec.json.encode(result))))
            if len(reply) > MAX_LINE_BYTES:
                raise Refused(f"the answer to {request.op} has {len(reply)} bytes, over {MAX_LINE_BYTES}.")
        except msgspec.MsgspecError as error:
            reply = encode(HubReply(error=HubError(f"{request.op}: {error}", 2, "invalid_value")))
        except HoplineError as error:
            code = error.code if isinstance(error, Refused) else "failed"
            reply = encode(HubReply(error=HubError(str(error), error.exit_status, code)))
        except OSError as error:
            reply = encode(HubReply(error=HubError(f"{error.filename or request.op}: {error.strerror or error}")))
        except Exception as error:  # the top of an operation's task: one operation fails, the hub goes on
            log.exception("%s failed", request.op)
            reply = encode(HubReply(error=HubError(f"{request.op} failed inside the hub: {error!r}; see hub.log.")))
        asker.answered(reply)


class _Asker(asyncio.Protocol):
    """One connected command."""

    def __init__(self, server: ControlServer) -> None:
        self._server = server
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._waiting: deque[HubRequest] = deque()
        self._task: asyncio.Task[None] | None = None
        self._request: HubRequest | None = None
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        refusal = self._server.came(self)
        if refusal is None and _uid(self._transport) not in (os.getuid(), 0):
            refusal = HubError("this hub answers its own user only.", 5)
        if refusal is not None:
            self._refuse(refusal)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\n")) >= 0:
            line = bytes(self._received[:end])
            del self._received[: end + 1]
            try:
                self._waiting.append(decode_request(line))
            except msgspec.MsgspecError as error:
                self._refuse(HubError(f"that is no request: {error}", 2, "invalid_value"))
                return
        if len(self._received) > MAX_LINE_BYTES or len(self._waiting) > MAX_WAITING:
            self._refuse(HubError(f"a request has at most {MAX_LINE_BYTES} bytes, {MAX_WAITING} at a time.", 2))
            return
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timing()
        self._transport = None
        self._waiting.clear()
        if self._task is not None and self._request is not None and not self._server.outlives(self._request):
            self._task.cancel()
        self._server.went(self)

    def pause_writing(self) -> None:
        if self._transport is not None:
            self._deadline = asyncio.get_running_loop().call_later(WRITE_SECONDS, self._transport.abort)

    def resume_writing(self) -> None:
        self._stop_timing()

    def progress(self, news: msgspec.Struct) -> None:
        """Tell the asker how far it is; dropped while it reads nothing."""
        if self._transport is not None and self._deadline is None:
            self._transport.write(encode(HubReply(progress=msgspec.Raw(msgspec.json.encode(news)))))

    def answered(self, reply: bytes) -> None:
        """The operation has ended."""
        self._task = self._request = None
        if self._transport is not None:
            self._transport.write(reply)
            self._next()

    def hang_up(self) -> None:
        """The hub leaves."""
        if self._task is not None:
            self._task.cancel()
        if self._transport is not None:
            if self._request is not None:
                error = HubError(f"the hub was told to end before it answered {self._request.op}.", 1, ENDING)
                self._transport.write(encode(HubReply(error=error)))
            self._transport.close()

    def _next(self) -> None:
        if self._task is None and self._waiting:
            self._request = self._waiting.popleft()
            self._task = self._server.start(self, self._request)

    def _refuse(self, error: HubError) -> None:
        if self._transport is not None:
            self._waiting.clear()
            self._received.clear()
            self._transport.write(encode(HubReply(error=error)))
            self._transport.close()

    def _stop_timing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _uid(transport: asyncio.Transport) -> int:
    with contextlib.suppress(OSError):
        credentials = transport.get_extra_info("socket").getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")
        )
        return int(struct.unpack("3i", credentials)[1])
    return -1
