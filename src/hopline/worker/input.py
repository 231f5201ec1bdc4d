"""A worker's stdin, written to in order by anybody, with back-pressure from the relay's receipts."""

import asyncio
import contextlib
from collections.abc import Callable

from hopline.errors import Refused
from hopline.wire.worker.controller import Controller
from hopline.wire.worker.input_window import INPUT_FRAME_BYTES

RECEIPT_SECONDS = 0.5
"""How long the answer to input waits for the receipts that prove it delivered; a worker may read it much later."""


class WorkerInput:
    """Cuts input into frames and waits for room in the window.

    Args:
        flush: called when the controller's writer has got something.
        terminal: whether stdin is a terminal, whose input goes on after an end.
    """

    def __init__(self, controller: Controller, flush: Callable[[], None], *, terminal: bool = False) -> None:
        self._controller = controller
        self._terminal = terminal
        self._flush = flush
        self._turn = asyncio.Lock()
        self._changed = asyncio.Event()
        self._closed = False

    def changed(self) -> None:
        """A receipt came, or the worker's end: those who wait look again."""
        self._changed.set()

    async def send(self, data: bytes) -> bool:
        """Put all of `data` under way; whether it is known to be in the worker's input, where receipts come soon.

        Raises Refused (input_closed) when stdin is closed, or closes meanwhile.
        """
        async with self._turn:
            self._refuse_closed()
            for first in range(0, len(data), INPUT_FRAME_BYTES):
                piece = data[first : first + INPUT_FRAME_BYTES]
                self._refuse_closed()
                while not self._controller.input.has_room(len(piece)):
                    self._changed.clear()
                    await self._changed.wait()
                    self._refuse_closed()
                self._controller.send_input(piece)
                self._flush()
            return await self._delivered()

    async def close(self) -> None:
        """End stdin after all input sent before; a terminal's goes on after that.

        Raises Refused (input_closed) when it is closed already.
        """
        async with self._turn:
            self._refuse_closed()
            self._closed = not self._terminal
            self._controller.send_input_close()
            self._flush()

    async def _delivered(self) -> bool:
        controller = self._controller
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(RECEIPT_SECONDS):
                while not controller.input.empty and controller.writer.admitting:
                    self._changed.clear()
                    await self._changed.wait()
        self._refuse_failed()
        return controller.input.empty

    def _refuse_closed(self) -> None:
        if self._closed:
            raise Refused("the worker's input was closed; nothing more can be sent to it.", code="input_closed")
        if not self._controller.writer.admitting:
            raise Refused("the worker is ending and takes no more input.", code="input_closed")
        self._refuse_failed()

    def _refuse_failed(self) -> None:
        if failure := self._controller.input.failure:
            raise Refused(f"the worker takes no more input: {failure}.", code="input_closed")
