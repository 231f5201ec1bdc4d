"""The run server's ends of a launcher's pipes, on the event loop: nonblocking, never more than one read at a time."""

import asyncio
import os
from collections.abc import Callable

from hopline.wire.worker.commands import CommandWriter

READ_BYTES = 512 * 1024
"""Most bytes taken from the relay in one turn of the loop."""

MAX_DRAIN_BYTES = 16 * 1024 * 1024
"""Most bytes taken from a pipe that stays open without its launcher."""

DIAGNOSTIC_BYTES = 4096
"""How much of the end of the launcher's stderr is kept."""

_MAX_DIAGNOSTIC_READS = 64


class CommandPipe:
    """Writes what a generation's CommandWriter holds whenever the pipe takes it, and closes the pipe at its end."""

    def __init__(self, descriptor: int, writer: CommandWriter) -> None:
        self._descriptor = descriptor
        self._writer = writer
        self._loop = asyncio.get_running_loop()
        self._waiting = False
        self._closed = False

    def flush(self) -> None:
        """Write what can be written now; the rest follows by itself. Called whenever the writer got something new."""
        if self._closed:
            return
        while True:
            frame = self._writer.pending(self._loop.time())
            if not frame:
                break
            try:
                self._writer.sent(os.write(self._descriptor, frame))
            except BlockingIOError:
                self._wait()
                return
            except OSError:
                # The relay is gone; its exit tells.
                self._writer.abort()
        if self._writer.finished:
            self.close()
        elif self._waiting:
            self._waiting = False
            self._loop.remove_writer(self._descriptor)

    def close(self) -> None:
        """Close the pipe, whatever was still to be written. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._waiting = False
        self._loop.remove_writer(self._descriptor)
        os.close(self._descriptor)

    def _wait(self) -> None:
        if not self._waiting:
            self._waiting = True
            self._loop.add_writer(self._descriptor, self.flush)


class EventPipe:
    """Gives the relay's bytes to `receive` as they come, unless paused, and calls `end` at their end.

    Attributes:
        ended: set when the stream ended, or was closed.
    """

    def __init__(self, descriptor: int, receive: Callable[[bytes], None], end: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._receive = receive
        self._end = end
        self._loop = asyncio.get_running_loop()
        self._reading = False
        self.ended = asyncio.Event()

    def set_reading(self, reading: bool) -> None:
        """Start or stop taking bytes."""
        if self.ended.is_set() or reading == self._reading:
            return
        self._reading = reading
        if reading:
            self._loop.add_reader(self._descriptor, self._read)
        else:
            self._loop.remove_reader(self._descriptor)

    async def ends_within(self, seconds: float) -> bool:
        """Read to the end; if that does not come in time, take what is there, close the pipe and say False.

        Meant for a pipe whose writer is gone: only somebody who inherited it can hold it open.
        """
        try:
            async with asyncio.timeout(seconds):
                await self.ended.wait()
        except TimeoutError:
            taken = 0
            while not self.ended.is_set() and taken < MAX_DRAIN_BYTES and (count := self._read()):
                taken += count
        ended = self.ended.is_set()
        self.close()
        return ended

    def close(self) -> None:
        """Close the pipe, whatever it still holds. Idempotent."""
        if not self.ended.is_set():
            self.set_reading(False)
            os.close(self._descriptor)
            self.ended.set()

    def _read(self) -> int:
        try:
            data = os.read(self._descriptor, READ_BYTES)
        except BlockingIOError:
            return 0
        if data:
            self._receive(data)
        else:
            self.close()
            self._end()
        return len(data)


class DiagnosticPipe:
    """Keeps the end of what the launcher says on stderr."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._tail = b""
        self._loop = asyncio.get_running_loop()
        self._open = True
        self._loop.add_reader(descriptor, self._read)

    def close(self) -> str:
        """Close the pipe and return the last line that holds anything, for a person. Idempotent."""
        for _ in range(_MAX_DIAGNOSTIC_READS):
            if not self._open or not self._read():
                break
        self._end()
        lines = self._tail.decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _read(self) -> bool:
        try:
            data = os.read(self._descriptor, DIAGNOSTIC_BYTES)
        except BlockingIOError:
            return False
        self._tail = (self._tail + data)[-DIAGNOSTIC_BYTES:]
        if not data:
            self._end()
        return bool(data)

    def _end(self) -> None:
        if self._open:
            self._open = False
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
