"""The launcher's last steps: after the worker's allowance the relay gets its own, then SIGTERM, then SIGKILL.

Numbers: worker wire reference, section 10.
"""

import asyncio
import signal
from collections.abc import Callable

RELAY_SECONDS = 2.0
"""What the relay has beyond the worker's grace to drain, reap and flush."""

TERM_SECONDS = 6.0
"""From SIGTERM to SIGKILL."""

KILL_SECONDS = 1.0
"""From SIGKILL until the launcher is given up as not reapable."""


class Ladder:
    """Fixes the deadline of a retirement and climbs until `stop`.

    Args:
        send_signal: signals the launcher unless it was reaped.
        give_up: called when not even SIGKILL ended it in time.
    """

    def __init__(self, send_signal: Callable[[int], object], give_up: Callable[[], object]) -> None:
        self._send_signal = send_signal
        self._give_up = give_up
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._deadline: float | None = None
        self._terminated = False
        self._stopped = False

    @property
    def begun(self) -> bool:
        """Whether a deadline is fixed."""
        return self._deadline is not None

    def begin(self, deadline: float) -> None:
        """Fix the worker's deadline, in the loop's time. A later call can only bring it forward, and not once
        SIGTERM was sent."""
        if self._stopped or self._terminated or (self._deadline is not None and deadline >= self._deadline):
            return
        self._deadline = deadline
        self._climb_at(deadline + RELAY_SECONDS, self._terminate)

    def stop(self) -> None:
        """The launcher was reaped: no step is taken any more."""
        self._stopped = True
        self._cancel()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _terminate(self) -> None:
        self._terminated = True
        self._send_signal(signal.SIGTERM)
        self._climb_at(self._loop.time() + TERM_SECONDS, self._kill)

    def _kill(self) -> None:
        self._send_signal(signal.SIGKILL)
        self._climb_at(self._loop.time() + KILL_SECONDS, self._give_up)

    def _climb_at(self, when: float, step: Callable[[], object]) -> None:
        self._cancel()
        self._timer = self._loop.call_at(when, step)
