"""Carries the journal's commits from its writer thread to the loop, many into one."""

import asyncio
from collections.abc import Callable


class Commits:
    """Tells the loop that the journal has more; one turn of the loop tells once, however many commits it saw.

    Args:
        committed: the newest committed sequence at present.
    """

    def __init__(self, committed: Callable[[], int]) -> None:
        self._committed = committed
        self._loop = asyncio.get_running_loop()
        self._told = False
        self._listeners: list[Callable[[], None]] = []
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []

    def notify(self) -> None:
        """From any thread: something was committed."""
        if not self._told:
            self._told = True
            self._loop.call_soon_threadsafe(self._tell)

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` on the loop after commits."""
        self._listeners.append(listener)

    async def past(self, sequence: int, seconds: float | None = None) -> bool:
        """Wait until something after `sequence` is committed. Returns False when `seconds` pass first."""
        if self._committed() > sequence:
            return True
        future: asyncio.Future[None] = self._loop.create_future()
        entry = (sequence, future)
        self._waiting.append(entry)
        try:
            await asyncio.wait_for(future, seconds)
        except TimeoutError:
            return False
        finally:
            if entry in self._waiting:
                self._waiting.remove(entry)
        return True

    def _tell(self) -> None:
        self._told = False
        for listener in self._listeners:
            listener()
        if self._waiting:
            committed = self._committed()
            for sequence, future in self._waiting:
                if sequence < committed and not future.done():
                    future.set_result(None)
