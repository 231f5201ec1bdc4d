"""Waits for a state folder without holding anything up: it may be on a volume that does not answer."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")


async def made_aside(make: Callable[[], Made]) -> Made:
    """What `make` returns or raises, called on a thread that does not keep the process alive.

    Cancelled, the thread is left to itself: a system call that does not answer cannot be ended.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Made] = loop.create_future()

    def tell(result: Made | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]  # None only beside an error, or when it is what was made

    def work() -> None:
        result, error = None, None
        try:
            result = make()
        except BaseException as raised:  # noqa: BLE001  # raised again where it is awaited
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop may have closed
            loop.call_soon_threadsafe(tell, result, error)

    threading.Thread(target=work, name="state-folder", daemon=True).start()
    return await future
