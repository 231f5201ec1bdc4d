"""How long a run whose last worker is gone is served on: until its end is kept, and until subscribers have it.

Source: docs/wire/client.md, "Lifetime" (frontend reference 8.3).
"""

import asyncio
import logging

from hopline.run.commits import Commits
from hopline.run.store import RunStore
from hopline.run.subscriptions import Subscriptions

SETTLE_SECONDS = 1.0
"""How long subscribers that have everything may stay after the run's end (reference 8.3)."""
POLL_SECONDS = 0.02
FIRST_SUBSCRIBER_SECONDS = 10.0
"""How long a server that was started attached waits for its starter after the run's end."""
STALLED_SECONDS = 40.0
"""How long subscribers may take nothing after the run's end before they are left."""
COMMIT_POLL_SECONDS = 0.25
"""How often it is asked, while the disk takes nothing, whether there is still time."""
SIGNALLED_COMMIT_SECONDS = 3.0
"""How long a run that a signal ended waits for a full disk to take its last events."""

log = logging.getLogger(__name__)


class Leaving:
    """What is still waited for at the end of a run, and who is in a hurry.

    Args:
        store: the run's events.
        commits: tells that more of them are kept.
        subscriptions: who is to have them.
        attached: whether the starter will subscribe.
    """

    def __init__(self, store: RunStore, commits: Commits, subscriptions: Subscriptions, attached: bool) -> None:
        self._store = store
        self._commits = commits
        self._subscriptions = subscriptions
        self._attached = attached
        self._loop = asyncio.get_running_loop()
        self._signalled = False
        self._at_once = False

    def signalled(self, over: bool) -> None:
        """The server was asked to end; a run that is `over` waits for nothing then, not even for its last events."""
        self._signalled = True
        self._at_once = self._at_once or over

    async def until_committed(self) -> None:
        """A full disk may make this long; a second signal ends it at once, and one that ended the run soon."""
        give_up = self._loop.time() + SIGNALLED_COMMIT_SECONDS
        while self._store.committed_sequence < self._store.last_sequence and not self._at_once:
            if self._signalled and self._loop.time() >= give_up:
                log.error("the run was ended by a signal, and its last events cannot be written")
                return
            await self._commits.past(self._store.last_sequence - 1, COMMIT_POLL_SECONDS)

    async def until_settled(self) -> None:
        """Let subscribers have everything."""
        subscriptions = self._subscriptions
        if self._attached:
            await self._first_subscriber()
        settled_at = stuck_at = self._loop.time()
        progress = subscriptions.progress()
        while subscriptions.count and not self._at_once:
            await asyncio.sleep(POLL_SECONDS)
            now = self._loop.time()
            if not subscriptions.satisfied:
                settled_at = now
            if now - settled_at >= SETTLE_SECONDS:
                return
            before, progress = progress, subscriptions.progress()
            if progress != before:
                stuck_at = now
            if now - stuck_at >= STALLED_SECONDS:
                return

    async def _first_subscriber(self) -> None:
        deadline = self._loop.time() + FIRST_SUBSCRIBER_SECONDS
        while not (self._subscriptions.ever or self._at_once or self._loop.time() >= deadline):  # noqa: ASYNC110  # nothing announces it
            await asyncio.sleep(POLL_SECONDS)
