"""What this view asks of a run, and how far each request has come. Requests of different kinds never wait for one
another, but input waits for input."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from hopline.client.session import Receipt, Run
from hopline.clock import rfc3339
from hopline.errors import ConnectFailed, HoplineError
from hopline.tui.proofs import Action, Asked
from hopline.wire.client.commands import Command, CommandPause, CommandResume, CommandSteer

GRACE_SECONDS = 10.0
"""How long a worker may take to leave before it is killed, unless a person chooses otherwise."""


class Steering:
    """Sends what a person asks.

    Args:
        run: to whom.
    """

    def __init__(self, run: Run) -> None:
        self.asked: dict[Action, Asked] = {}
        """The latest request of each kind."""
        self.kill_at: float | None = None
        """Monotonic time at which a worker that was told to leave is killed."""
        self._run = run
        self._writing = asyncio.Lock()

    async def interrupt(self) -> bool:
        """SIGINT to the worker. Whether it was delivered."""
        return await self._ask(Action.INTERRUPT, self._run.interrupt)

    async def stop(self, grace_seconds: float) -> bool:
        """The run's end. Whether it was accepted."""
        self.kill_at = asyncio.get_running_loop().time() + grace_seconds
        return await self._ask(Action.STOP, lambda: self._run.stop(grace_seconds=grace_seconds))

    async def restart(self, grace_seconds: float) -> bool:
        """The worker's end, and the next one's start. Whether it was accepted."""
        self.kill_at = asyncio.get_running_loop().time() + grace_seconds
        return await self._ask(Action.RESTART, lambda: self._run.restart(grace_seconds=grace_seconds))

    async def write(self, text: str) -> bool:
        """`text` for the worker's input, after what was sent before. Whether it was accepted."""
        async with self._writing:
            return await self._ask(Action.INPUT, lambda: self._run.send(text.encode("utf-8", "replace")))

    async def end_input(self) -> bool:
        """The end of the worker's input. Whether it was accepted."""
        async with self._writing:
            return await self._ask(Action.INPUT, self._run.close_input)

    async def pause(self) -> bool:
        """A pause at the agent's next boundary. Whether it was accepted."""
        return await self._ask(Action.PAUSE, lambda: self._command(CommandPause()))

    async def resume(self) -> bool:
        """On, now. Whether it was accepted."""
        return await self._ask(Action.RESUME, lambda: self._command(CommandResume()))

    async def steer(self, text: str) -> bool:
        """Words for the agent, taken at its next boundary. Whether they were accepted."""
        return await self._ask(Action.STEER, lambda: self._command(CommandSteer(text=text)))

    async def _command(self, command: Command) -> Receipt:
        response = await self._run.ask(command)
        if response.ack is None:
            raise ConnectFailed("the run's server answered a command without an acknowledgement.")
        return Receipt(response.ack.action, response.ack.status, response.timestamp)

    async def _ask(self, action: Action, request: Callable[[], Awaitable[Receipt]]) -> bool:
        asked = self.asked[action] = Asked(action, rfc3339())
        try:
            receipt = await request()
        except HoplineError as error:
            done = replace(asked, error=str(error))
        else:
            at = receipt.at or rfc3339()
            done = replace(asked, accepted_at=at, delivered_at=at if receipt.status == "delivered" else None)
        if self.asked.get(action) is asked:
            self.asked[action] = done
        return done.error is None
