"""The listing of every run, kept current by one poll for everybody and pushed to whoever listens (WG-LISTING)."""

import asyncio
import socket

import msgspec

from hopline.clock import rfc3339
from hopline.roster import LocalRuns, Roster
from hopline.serve.gateway import faults
from hopline.serve.gateway.carrier import NotText, PeerGone, WebSocketCarrier
from hopline.serve.gateway.rows import Row, RunsFrame, changes, row_of

WATCHED_SECONDS = 1.0
"""Between two looks while anybody listens."""
UNWATCHED_SECONDS = 5.0
"""Between two looks otherwise: often enough that rates have a past when somebody comes."""
SILENT_SECONDS = 5.0
"""The longest a listener hears nothing: a page tells by it that the gateway is there."""
MAX_FRAME_ROWS = 100
"""Rows of one frame, which keeps it well below the stream's cap."""


class RunBoard:
    """Looks at the runs and tells what has changed. `watch` keeps it current; `serve` feeds one listener.

    Args:
        only: the one run that is listed; None for all.
    """

    def __init__(self, only: str | None = None) -> None:
        self._runs = LocalRuns(only)
        self._roster = Roster()
        self._rows: dict[str, Row] = {}
        self._changed = asyncio.Condition()
        self._looked = asyncio.Event()
        self._wanted = asyncio.Event()
        self._listeners = 0

    async def watch(self) -> None:
        """Look again and again, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            self._rows = await asyncio.to_thread(self._look, loop.time())
            self._looked.set()
            async with self._changed:
                self._changed.notify_all()
            self._wanted.clear()
            try:
                async with asyncio.timeout(WATCHED_SECONDS if self._listeners else UNWATCHED_SECONDS):
                    await self._wanted.wait()
            except TimeoutError:
                continue

    async def serve(self, carrier: WebSocketCarrier) -> bytes | None:
        """Feed one listener until it leaves; what it sends is dropped. Returns a last word for it."""
        self._listeners += 1
        try:
            async with asyncio.TaskGroup() as tasks:
                feeding = tasks.create_task(self._feed(carrier))
                last = await _until_gone(carrier)
                feeding.cancel()
        finally:
            self._listeners -= 1
        return last

    def _look(self, now: float) -> dict[str, Row]:
        self._roster = self._runs.look(now)
        return {run_id: row_of(seen) for run_id, seen in self._roster.rows.items()}

    async def _feed(self, carrier: WebSocketCarrier) -> None:
        self._wanted.set()
        await self._looked.wait()
        told: dict[str, Row] = {}
        full = True
        while True:
            now = self._rows
            rows, removed = changes(told, now)
            told = now
            try:
                for start in range(0, max(len(rows), 1), MAX_FRAME_ROWS):
                    await carrier.send(self._frame(rows[start : start + MAX_FRAME_ROWS], removed, full))
                    removed, full = [], False
            except PeerGone:
                return
            await self._something_new(told)

    async def _something_new(self, told: dict[str, Row]) -> None:
        try:
            async with asyncio.timeout(SILENT_SECONDS), self._changed:
                await self._changed.wait_for(lambda: self._rows != told)
        except TimeoutError:
            return

    def _frame(self, rows: list[Row], removed: list[str], full: bool) -> bytes:
        return msgspec.json.encode(
            RunsFrame(
                full=full,
                hostname=socket.gethostname(),
                now=rfc3339(),
                rows=rows,
                removed=removed,
                unreadable=list(self._roster.unreadable),
                older=self._roster.older,
            )
        )


async def _until_gone(carrier: WebSocketCarrier) -> bytes | None:
    try:
        while True:
            await carrier.receive()
    except NotText:
        return faults.invalid_frame()
    except PeerGone:
        return None
