"""The host program: requests as JSON lines on stdin, until one of them turns it into the bridge to a run.

So one ssh connection lists, attaches and needs nothing else installed or listening (docs/wire/bridge.md).
"""

import os
import secrets
import select
import socket
import time
from collections.abc import Callable

from msgspec import UNSET

from hopline.clock import rfc3339
from hopline.errors import HoplineError, Refused, UsageError
from hopline.serve.bridge import CLOSES, BridgeLimits
from hopline.serve.bridge_loop import copy
from hopline.serve.bridge_outcomes import ChannelEnd, Outcome
from hopline.serve.dialing import dial
from hopline.serve.host_listing import list_instances, list_logs
from hopline.serve.host_messages import (
    MAX_LINE_BYTES,
    Connected,
    HostRequest,
    HostRequestRefused,
    HostResponse,
    InstancesList,
    LogsList,
    RunConnect,
    RunConnected,
    decode_host_request,
    encode_host_reply,
)
from hopline.serve.stdio import Output
from hopline.wire.client.responses import Code, diagnosed

DialInstance = Callable[[str], socket.socket | ChannelEnd]
"""Connects to the run with this id, reopening it when it has ended."""


class MalformedRequest(UsageError):
    """A line is no request of the host program; it gets no word on stdout, and the channel ends (WB-REFUSED-LINE)."""


class _Left(Exception):
    def __init__(self, end: ChannelEnd) -> None:
        super().__init__(end.detail)
        self.end = end


class Host:
    """One channel's host program over descriptors that stay the caller's.

    Args:
        client_in, client_out: stdin, and stdout for nonblocking writes.
        dial_instance: how a run is reached by its id.
        limits: the bounds of the bridge, and of each reply.
    """

    def __init__(self, client_in: int, client_out: Output, dial_instance: DialInstance, limits: BridgeLimits) -> None:
        self._in = client_in
        self._out = client_out
        self._dial_instance = dial_instance
        self._limits = limits
        self._received = bytearray()

    def serve(self) -> ChannelEnd:
        """Answer until the client leaves or the bridge ends. Raises MalformedRequest."""
        try:
            while (line := self._next_line()) is not None:
                try:
                    request = decode_host_request(line)
                except HostRequestRefused as error:
                    raise MalformedRequest(f"the request is refused: {error}") from error
                if isinstance(request, RunConnect):
                    return self._connect(request)
                self._send(encode_host_reply(self._answer(request)))
        except _Left as left:
            return left.end
        return ChannelEnd(Outcome.CLIENT_CLOSED, "stdin reached its end.")

    def _connect(self, request: RunConnect) -> ChannelEnd:
        if request.instance_id is not None:
            server = self._dial_instance(request.instance_id)
        else:
            server = dial(request.socket_path or "", self._limits)
        if isinstance(server, ChannelEnd):
            return server
        try:
            path = request.socket_path or os.fsdecode(server.getpeername())
            request_id, client_id = _identity(request)
            reply = RunConnected(
                request_id=request_id,
                client_id=client_id,
                connected=Connected(instance_id=request.instance_id, socket_path=path),
            )
            self._send(encode_host_reply(reply))
        except BaseException:
            server.close()
            raise
        # What follows the request's newline is the server's (WB-FIRST-LINE).
        return copy(server, self._in, self._out, self._limits, already=bytes(self._received))

    def _answer(self, request: InstancesList | LogsList) -> HostResponse:
        request_id, client_id = _identity(request)
        try:
            if isinstance(request, InstancesList):
                listed = list_instances(request)
                return HostResponse(request_id=request_id, client_id=client_id, timestamp=rfc3339(), instances=listed)
            return HostResponse(
                request_id=request_id, client_id=client_id, timestamp=rfc3339(), logs=list_logs(request)
            )
        except (OSError, HoplineError) as error:
            code = error.code if isinstance(error, Refused) else Code.OPERATION_FAILED
            found = diagnosed(secrets.token_hex(16), code, str(error))
            return HostResponse(
                request_id=request_id,
                client_id=client_id,
                timestamp=rfc3339(),
                ok=False,
                error=found.summary,
                diagnostic=found,
            )

    def _next_line(self) -> bytes | None:
        """The next request; None when stdin has ended. What follows its newline stays in `_received`."""
        while (end := self._received.find(b"\n")) < 0 and len(self._received) <= MAX_LINE_BYTES:
            data = self._read()
            if not data:
                if self._received:
                    raise MalformedRequest("the request is refused: stdin ended before its newline")
                return None
            self._received += data
        if not 0 <= end <= MAX_LINE_BYTES:
            raise MalformedRequest(f"the request is refused: it is longer than {MAX_LINE_BYTES} bytes")
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    def _read(self) -> bytes:
        poller = select.poll()
        poller.register(self._in, select.POLLIN)
        while True:
            poller.poll()
            try:
                return os.read(self._in, self._limits.read_bytes)
            except BlockingIOError:
                continue
            except OSError as error:
                raise _client_lost(error) from error

    def _send(self, reply: bytes) -> None:
        poller = select.poll()
        poller.register(self._out.fileno(), select.POLLOUT)
        rest = memoryview(reply)
        deadline = time.monotonic() + self._limits.write_deadline_seconds
        while rest:
            if not poller.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise _Left(ChannelEnd(Outcome.CLIENT_STALLED, "stdout took no byte of a reply in time."))
            try:
                written = self._out.write(rest)
            except OSError as error:
                raise _client_lost(error) from error
            if written:
                rest = rest[written:]
                deadline = time.monotonic() + self._limits.write_deadline_seconds


def _client_lost(error: OSError) -> _Left:
    if error.errno in CLOSES:
        return _Left(ChannelEnd(Outcome.CLIENT_CLOSED, "the client closed its end."))
    return _Left(ChannelEnd(Outcome.CLIENT_FAILED, f"stdin or stdout failed: {error.strerror or error}."))


def _identity(request: HostRequest) -> tuple[str, str]:
    return (secrets.token_hex(16) if request.request_id is UNSET else request.request_id), request.client_id
