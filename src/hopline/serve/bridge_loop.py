"""Runs a bridge over real descriptors: one poll, at most one read or write an end and turn, no other thread."""

import os
import select
import socket
import time
from collections.abc import Callable

from hopline.serve.bridge import Bridge, BridgeLimits, State, Wait
from hopline.serve.bridge_outcomes import ChannelEnd
from hopline.serve.dialing import hang_up
from hopline.serve.stdio import Output


def copy(
    server: socket.socket,
    client_in: int,
    client_out: Output,
    limits: BridgeLimits,
    *,
    already: bytes = b"",
    now: Callable[[], float] = time.monotonic,
) -> ChannelEnd:
    """Copy bytes both ways until one end is done, then close the connection.

    Args:
        server: a connected nonblocking stream socket; taken over.
        client_in: read only after poll says that there is something, so its flags stay as they are.
        client_out: stdout; stays the caller's to close.
        limits: the bounds.
        already: what the client sent before the bridge began.
        now: the monotonic clock.
    """
    loop = _Loop(Bridge(limits, now(), already), server, client_in, client_out, limits.read_bytes)
    try:
        while (end := loop.bridge.end) is None:
            loop.turn(now)
        return end
    finally:
        hang_up(server)


class _Loop:
    def __init__(self, bridge: Bridge, server: socket.socket, client_in: int, client_out: Output, size: int) -> None:
        self.bridge = bridge
        self._server = server
        self._in = client_in
        self._out = client_out
        self._size = size

    def turn(self, now: Callable[[], float]) -> None:
        """Wait for what the bridge waits for, do it, and let it judge the time.

        What was just read is written at once: mostly there is room, and a poll is saved.
        """
        ready, hung_up = self._wait(now())
        moment = now()
        if ready & Wait.WRITE_CLIENT:
            self._write_client(moment)
        if ready & self.bridge.waits & Wait.READ_SERVER:
            self._read_server(moment)
        if ready & self.bridge.waits & Wait.WRITE_SERVER:
            self._write_server(moment)
        if hung_up and self.bridge.end is None:
            self.bridge.client_hung_up()
        if ready & self.bridge.waits & Wait.READ_CLIENT:
            self._read_client(moment)
        elif not ready and self.bridge.next_deadline() is None and self.bridge.end is None:
            self.bridge.receive_eof_from_client()
        if self.bridge.end is None:
            self.bridge.on_time(moment)

    def _wait(self, now: float) -> tuple[Wait, bool]:
        """What is ready, of what the bridge waits for; and whether stdout lost its reader while nothing was due there.

        Only what is waited for is polled: a closed end that nobody reads yet would be reported without end.
        """
        waits, deadline = self.bridge.waits, self.bridge.next_deadline()
        server, out = self._server.fileno(), self._out.fileno()
        poller = select.poll()
        if to_or_from_server := waits & (Wait.READ_SERVER | Wait.WRITE_SERVER):
            poller.register(server, _events(to_or_from_server))
        if waits & Wait.READ_CLIENT:
            poller.register(self._in, select.POLLIN)
        if self.bridge.state is not State.FLUSHING:
            poller.register(out, _events(waits & Wait.WRITE_CLIENT))
        found = dict(poller.poll(0 if deadline is None else max(0.0, deadline - now) * 1000))
        ready = Wait(0)
        if found.get(server, 0) & ~select.POLLOUT:
            ready |= Wait.READ_SERVER
        if found.get(server, 0) & ~select.POLLIN:
            ready |= Wait.WRITE_SERVER
        if self._in in found:
            ready |= Wait.READ_CLIENT
        if out in found:
            ready |= Wait.WRITE_CLIENT
        return ready & waits, out in found and not waits & Wait.WRITE_CLIENT

    def _read_client(self, now: float) -> None:
        try:
            data = os.read(self._in, self._size)
        except BlockingIOError:
            return
        except OSError as error:
            self.bridge.client_failed(error)
            return
        if data:
            self.bridge.receive_from_client(data, now)
            self._write_server(now)
        else:
            self.bridge.receive_eof_from_client()

    def _read_server(self, now: float) -> None:
        try:
            data = self._server.recv(self._size)
        except BlockingIOError:
            return
        except OSError as error:
            self.bridge.server_read_failed(error)
            return
        if data:
            self.bridge.receive_from_server(data, now)
            self._write_client(now)
        else:
            self.bridge.receive_eof_from_server()

    def _write_client(self, now: float) -> None:
        try:
            self.bridge.client_took(self._out.write(self.bridge.to_client.pending), now)
        except OSError as error:
            self.bridge.client_failed(error)

    def _write_server(self, now: float) -> None:
        if not self.bridge.waits & Wait.WRITE_SERVER:
            return
        try:
            self.bridge.server_took(self._server.send(self.bridge.to_server.pending), now)
        except BlockingIOError:
            return
        except OSError as error:
            self.bridge.server_write_failed(error)


def _events(waits: Wait) -> int:
    reading = select.POLLIN if waits & (Wait.READ_SERVER | Wait.READ_CLIENT) else 0
    return reading | (select.POLLOUT if waits & (Wait.WRITE_SERVER | Wait.WRITE_CLIENT) else 0)
