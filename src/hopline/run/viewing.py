"""A finished run, or one whose server died, served again read-only by a short-lived server on the same socket path."""

import asyncio
import signal
from collections.abc import Callable

import msgspec

from hopline.journal.view import JournalView
from hopline.records import JOURNAL_FOLDER, RunRecord, read_record, shown_status
from hopline.run.answers import Answers
from hopline.run.connection import serve
from hopline.run.fold import fold_of
from hopline.run.places import RunPlaces
from hopline.run.subscriptions import Subscriptions
from hopline.serve.unix import UnixChannel, UnixListener
from hopline.settings import load_settings

LEAVE_SECONDS = 1.0
"""How long it stays after its last client has left."""
FIRST_CLIENT_SECONDS = 30.0
"""How long it waits for its first client."""


class ViewServer:
    """Serves the record of one run. The caller holds its view lock, and the run has no live server.

    Raises HoplineError or OSError when the journal or the socket cannot be had.
    """

    def __init__(self, run_id: str, places: RunPlaces) -> None:
        self._places = places
        self._view = JournalView.open(places.folder / JOURNAL_FOLDER)
        self._bound = places.bind()
        record = read_record(run_id)
        self._record = msgspec.structs.replace(record, status=shown_status(record))
        fold = fold_of(self._view)
        self._subscriptions = Subscriptions(self._view, record.run_id, fold)
        self._answers = Answers(self._view, fold, None, None)

    async def run(self, started: Callable[[RunRecord], None]) -> None:
        """Until nobody has been connected for a second. `started` is told once clients may come."""
        loop = asyncio.get_running_loop()
        changed = asyncio.Event()
        leaving = asyncio.Event()

        def leave() -> None:
            leaving.set()
            changed.set()

        async with asyncio.TaskGroup() as tasks:
            listener = UnixListener(self._serve, tasks, load_settings().unix_write_deadline_seconds)
            listener.count_changed = changed.set
            await listener.listen(self._bound)
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, leave)
            started(self._record)
            patience = FIRST_CLIENT_SECONDS
            while not leaving.is_set():
                changed.clear()
                try:
                    await asyncio.wait_for(changed.wait(), None if listener.count else patience)
                except TimeoutError:
                    break
                patience = LEAVE_SECONDS
            listener.stop()
            self._places.release_socket()
            listener.hang_up()
        self._view.close()

    async def _serve(self, channel: UnixChannel) -> None:
        await serve(channel, self._answers, self._subscriptions)
