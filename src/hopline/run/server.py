"""One run, served: the live server that owns worker, journal and record, from its first event to its leaving.

Everything happens on one loop thread; only the journal's writer is a thread beside it.
"""

import asyncio
import contextlib
import logging
import shlex
import signal
from collections.abc import Callable

from hopline.clock import rfc3339
from hopline.errors import HoplineError, Unavailable
from hopline.journal.journal import Journal
from hopline.records import RunRecord, RunSpec
from hopline.run.answers import Answers
from hopline.run.channel import Channel
from hopline.run.commits import Commits
from hopline.run.connection import serve
from hopline.run.controller import Controller
from hopline.run.ending import StopOrder
from hopline.run.environment import worker_environment
from hopline.run.folder import made_aside
from hopline.run.generation import Generation, Handle
from hopline.run.leaving import Leaving
from hopline.run.places import RunPlaces
from hopline.run.recorder import Recorder, first_record
from hopline.run.reports import Dropped, GoingOn, JournalFact, Waiting, create_journal
from hopline.run.status import Move
from hopline.run.store import RunStore
from hopline.run.subscriptions import Subscriptions
from hopline.run.web import RunWeb
from hopline.serve.memory import MemoryClient, MemoryListener
from hopline.serve.unix import UnixListener
from hopline.wire.client.payloads import JournalDropped, RunStarted, ServerReady
from hopline.worker.handle import WorkerHandle, WorkerLaunch

ROOM_POLL_SECONDS = 0.25
"""How often room on the disk is looked for while the worker is held back."""
START_COMMIT_SECONDS = 5.0
"""How long the journal may take for the first events before the start is given up."""

log = logging.getLogger(__name__)


class RunServer:
    """Serves one new run.

    Args:
        spec: what to run.
        places: its socket is bound here, its folder claimed while the run is served already.

    Raises HoplineError or OSError when something of it cannot be had; the caller undoes `places` then.
    """

    def __init__(self, spec: RunSpec, places: RunPlaces) -> None:
        self._spec = spec
        self._places = places
        self._loop = asyncio.get_running_loop()
        self._bound = places.bind()
        self._commits = Commits(lambda: self._store.committed_sequence)
        self._store = RunStore(spec.id, self._commits.notify)
        self._journal: Journal | None = None
        self._recorder = Recorder(self._store, first_record(spec, places.folder, self._bound.getsockname()))
        self._controller = Controller(self._recorder, self._launch, spec.stop_grace_seconds)
        self._subscriptions = Subscriptions(self._store, spec.id, self._recorder.fold)
        self._answers = Answers(self._store, self._recorder.fold, self._commits, self._controller)
        self._commits.listen(self._committed)
        self._leaving = Leaving(self._store, self._commits, self._subscriptions, spec.attached)
        self._inside: MemoryListener | None = None
        self._web = RunWeb(spec, self._recorder, self.connect)

    async def run(self, started: Callable[[RunRecord], None]) -> None:
        """From the first event to the last subscriber's leaving. `started` is told once the run is served.

        Until the state folder answers the events are in memory and no worker is started. Raises HoplineError or OSError
        before `started` was called when the folder cannot be had or the worker not launched.
        """
        refusal: HoplineError | OSError | None = None
        async with asyncio.TaskGroup() as tasks:
            listener = UnixListener(self._serve, tasks, self._spec.unix_write_deadline_seconds)
            self._inside = MemoryListener(self._serve, tasks)
            await listener.listen(self._bound)
            try:
                self._recorder.event("server_started")
                await self._attach_journal()
                await self._web.open()
                self._record_start()
                await self._commit_start()
                generation = await self._controller.start()
                await self._serve_until_settled(generation, started, listener, tasks)
            except (HoplineError, OSError) as error:
                refusal = error
            finally:
                await self._web.close()
                listener.stop()
                self._inside.stop()
                self._places.release_socket()
                listener.hang_up()
                self._inside.hang_up()
                self._close_journal()
        if refusal is not None:
            raise refusal

    def connect(self) -> MemoryClient:
        """A client's end of a new connection inside this process. Raises Unavailable before `run` and after its end."""
        if self._inside is None:
            raise Unavailable("the run does not serve yet.")
        return self._inside.connect()

    async def _serve_until_settled(
        self,
        generation: Generation,
        started: Callable[[RunRecord], None],
        listener: UnixListener,
        tasks: asyncio.TaskGroup,
    ) -> None:
        self._publish_now()
        self._handle_signals()
        started(self._recorder.record)
        looking = tasks.create_task(self._look_after(listener))
        await self._controller.run(generation)
        self._recorder.change(ended_at=rfc3339(), waiting=None)
        await self._leaving.until_committed()
        self._publish_now()
        await self._leaving.until_settled()
        looking.cancel()

    async def _attach_journal(self) -> None:
        making = asyncio.ensure_future(made_aside(self._make_journal))
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, making.cancel)
        try:
            self._journal = await making
        except asyncio.CancelledError:
            raise Unavailable("the run was ended before its state folder had answered.") from None
        self._recorder.attach(self._store, self._journal)

    def _make_journal(self) -> Journal:
        self._places.claim_folder()
        return create_journal(
            self._spec, self._places.folder, self._commits.notify, self._told, store_id=self._store.store_id
        )

    def _record_start(self) -> None:
        spec, recorder = self._spec, self._recorder
        recorder.event("run_started", RunStarted(input=shlex.join(spec.command)))
        recorder.move(Move.ATTACH)
        recorder.event("server_ready", ServerReady())

    async def _commit_start(self) -> None:
        """No worker is started whose run is not on record: what a crash leaves must say that there was one."""
        last = self._store.last_sequence
        await self._commits.past(last - 1, START_COMMIT_SECONDS)
        if self._store.committed_sequence < last:
            raise Unavailable("the journal does not take the run's first events; make room on its disk and try again.")
        self._recorder.publish()

    def _handle_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._asked_to_end, number)

    def _asked_to_end(self, number: signal.Signals) -> None:
        self._leaving.signalled(self._controller.over)
        self._controller.end_run(StopOrder(f"its server got {number.name}", int(number)))

    async def _launch(self, generation: Generation) -> Handle:
        spec = self._spec
        launch = WorkerLaunch(
            run_id=spec.id,
            generation=generation.number,
            argv=spec.command,
            cwd=spec.cwd,
            env=worker_environment(spec, generation.number),
            runner=spec.runner,
            terminal=self._terminal(),
        )
        return await WorkerHandle.launch(launch, generation)

    def _terminal(self) -> tuple[int, int] | None:
        """(columns, rows) of the worker's terminal, as it was last; None when it gets pipes."""
        record = self._recorder.record
        return None if record.columns is None or record.rows is None else (record.columns, record.rows)

    async def _serve(self, channel: Channel) -> None:
        await serve(channel, self._answers, self._subscriptions)

    def _committed(self) -> None:
        self._controller.release_if_room()
        self._subscriptions.wake()
        self._publish()

    def _publish(self) -> None:
        try:
            self._recorder.committed()
        except OSError as error:
            log.error("cannot write the record: %s", error)

    def _told(self, fact: JournalFact) -> None:
        """From the writer thread."""
        with contextlib.suppress(RuntimeError):  # the loop may have closed
            self._loop.call_soon_threadsafe(self._journal_changed, fact)

    def _journal_changed(self, fact: JournalFact) -> None:
        match fact:
            case Dropped(first, last, size):
                data = JournalDropped(first_sequence=first, last_sequence=last, bytes=size)
                self._recorder.event("journal_dropped", data)
            case Waiting(reason):
                self._recorder.warn("The worker waits: the journal takes nothing more.", reason)
                self._recorder.change(waiting=reason)
                self._publish_now()
            case GoingOn():
                self._recorder.warn("The worker goes on: the journal has room again.")
                self._recorder.change(waiting=None)
                self._controller.release_if_room()

    def _publish_now(self) -> None:
        try:
            self._recorder.publish()
        except OSError as error:
            log.error("cannot write the record: %s", error)

    async def _look_after(self, listener: UnixListener) -> None:
        """Look for room on the disk, and for our socket: the folder of sockets may be cleared under a living run."""
        while True:
            await asyncio.sleep(ROOM_POLL_SECONDS)
            self._controller.release_if_room()
            if not self._places.socket_stands():
                await self._listen_again(listener)

    async def _listen_again(self, listener: UnixListener) -> None:
        try:
            await listener.listen(self._places.bind())
        except (HoplineError, OSError) as error:
            log.error("the socket is gone and cannot be made anew: %s", error)
        else:
            log.warning("the socket was gone and has been made anew")

    def _close_journal(self) -> None:
        if self._journal is None:
            return
        report = self._journal.close()
        if report.unwritten_events:
            log.error("%d events could not be written: %s", report.unwritten_events, report.reason)
