"""Runs the worker: one generation at a time, from its launch to the proof that it is over, and what people ask of it.

Facts are recorded as they are told and never inferred from one another: an interrupt's receipt, the worker's outcome,
what became of descendants, the run's status (docs/wire/client.md, "Events of a run").
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Unpack

from hopline.errors import HoplineError, Refused
from hopline.ids import new_store_id
from hopline.run.ending import LastGeneration, StopOrder, ending_of
from hopline.run.generation import Generation, Handle
from hopline.run.recorder import Recorder
from hopline.run.status import Move, RunStatus, ended
from hopline.wire.client.diagnostics import Code, diagnosed
from hopline.wire.client.events import EnvelopeFields
from hopline.wire.client.payload import Payload
from hopline.wire.client.payloads import RunInterrupted
from hopline.wire.client.responses import Ack

Launch = Callable[[Generation], Awaitable[Handle]]
"""Starts the worker of one generation, which observes it. Raises HoplineError when it cannot."""

log = logging.getLogger(__name__)


class Controller:
    """Owns the run's generations and its status.

    Args:
        recorder: where everything that happens is kept.
        launch: starts one generation.
        grace_seconds: how long a worker may take to leave when nobody says otherwise.
    """

    def __init__(self, recorder: Recorder, launch: Launch, grace_seconds: float) -> None:
        self._recorder = recorder
        self._launch = launch
        self._grace = grace_seconds
        self._generation: Generation | None = None
        self._handle: Handle | None = None
        self._stop: StopOrder | None = None
        self._restart = False
        self._retire_within: float | None = None
        self._holding = False

    async def start(self) -> Generation:
        """Launch the first generation. Raises HoplineError when it cannot be."""
        return await self._begin(1)

    async def run(self, generation: Generation) -> None:
        """From the first generation to the recorded end of the run."""
        while True:
            assert self._handle is not None
            last = await self._retirement(generation, self._handle)
            if not self._restart or self._stop is not None:
                break
            self._restart = False
            self._recorder.change(generation=generation.number + 1, descendants=None, survivors=0)
            try:
                generation = await self._begin(generation.number + 1)
            except HoplineError as error:
                log.error("generation %d did not start: %s", generation.number + 1, error)
                last = LastGeneration(False, None, str(error))
                break
            self._recorder.event("control", text="/restart", status="consumed")
        self._end(last)

    def stop(self, grace_seconds: float | None) -> Ack:
        """Retire the worker and end the run as stopped. A second time, and after the end, it changes nothing."""
        self.end_run(StopOrder("stopped"), grace_seconds)
        return Ack("stop", "consumed" if ended(self._recorder.status) else "pending")

    def end_run(self, order: StopOrder, grace_seconds: float | None = None) -> None:
        """As `stop`, for any reason."""
        if self._stop is not None or ended(self._recorder.status):
            return
        self._stop = order
        self._recorder.move(Move.STOP)
        self._recorder.event("control", text="/stop", status="pending")
        self._retire(grace_seconds)

    def restart(self, grace_seconds: float | None) -> Ack:
        """Retire this generation; the next starts once it is gone. Raises Refused when the run is ending."""
        self._worker()
        if not self._restart:
            self._restart = True
            self._recorder.event("control", text="/restart", status="pending")
            self._retire(grace_seconds)
        return Ack("restart", "pending")

    async def interrupt(self) -> Ack:
        """SIGINT to the direct worker; returns when the signal is proven delivered. Raises Refused otherwise."""
        handle = self._worker()
        self._recorder.event("control", text="/interrupt", status="pending")
        receipt = await handle.interrupt()
        if receipt.delivered:
            self._recorder.event("control", text="/interrupt", status="delivered")
            return Ack("interrupt", "delivered")
        known = "The interrupt was not delivered" if receipt.delivered is False else "Not known if it was delivered"
        summary = f"{known}: {receipt.error or 'no receipt'}."
        diagnostic = diagnosed(new_store_id(), Code.OPERATION_FAILED, summary, scope="run")
        self._recorder.event("control", text="/interrupt", status="failed", diagnostic=diagnostic)
        raise Refused(summary, code=Code.OPERATION_FAILED)

    async def input(self, data: bytes, close: bool) -> Ack:
        """Bytes for the worker's stdin, then its end if asked; returns when they are accepted. Raises Refused.

        `delivered` when the bytes are known to be in the worker's input, `accepted` when they wait for it to read.
        """
        handle = self._worker()
        delivered = await handle.send_input(data) if data else False
        if close:
            await handle.close_input()
        return Ack("input", "delivered" if delivered else "accepted")

    def without_agent(self, action: str, text: str) -> Ack:
        """What pause, resume and steer do to a plain command: nothing, and the record says so (decision 0024).

        Raises Refused for a pause before the worker is there.
        """
        status = self._recorder.status
        if action == "pause" and status is RunStatus.STARTING:
            raise Refused("The run is starting; pause it once it runs.", code=Code.OPERATION_FAILED)
        if not ended(status):
            summary = f"Nothing to {action}: this run is a plain command, without an agent."
            diagnostic = diagnosed(
                new_store_id(), Code.OPERATION_FAILED, summary, scope="run", severity="warning", retryability="never"
            )
            self.note("control", text=text, status="cancelled", diagnostic=diagnostic)
        return Ack(action, "consumed" if action == "resume" else "pending")

    def resize(self, columns: int, rows: int) -> Ack:
        """The size of the worker's terminal. Raises Refused when it has none, or when there is no worker."""
        handle = self._worker()
        record = self._recorder.record
        if not record.pty:
            raise Refused("This worker has no terminal; start one with hopline run --pty.", code=Code.NO_TERMINAL)
        handle.resize(columns, rows)
        if (record.columns, record.rows) != (columns, rows):
            self._recorder.event("control", text=f"/resize {columns}x{rows}", status="consumed")
            self._recorder.change(columns=columns, rows=rows)
        return Ack("resize", "accepted")

    def note(self, kind: str, data: Payload | None = None, **fields: Unpack[EnvelopeFields]) -> int | None:
        """Record what somebody asked. Returns the event's sequence.

        None when nothing was recorded: once the run has ended, its end stays the last word; and questions take no room
        on a disk that has none.
        """
        if ended(self._recorder.status) or not self._recorder.journal.room():
            return None
        return self._recorder.event(kind, data, **fields)

    def hold_if_full(self) -> None:
        """After output was recorded: hold the worker back when the journal has no room."""
        if not self._holding and self._handle is not None and not self._recorder.journal.room():
            self._holding = True
            self._handle.hold_output()

    def release_if_room(self) -> None:
        """After the journal moved on: let the worker go on when there is room again."""
        if self._holding and self._handle is not None and self._recorder.journal.room():
            self._holding = False
            self._handle.release_output()

    async def _begin(self, number: int) -> Generation:
        generation = Generation(number, self._recorder, self.hold_if_full)
        self._generation = generation
        self._handle = await self._launch(generation)
        if self._retire_within is not None:
            self._handle.retire(self._retire_within)
        return generation

    async def _retirement(self, generation: Generation, handle: Handle) -> LastGeneration:
        retirement = await handle.wait()
        self._handle = None
        self._holding = False
        self._retire_within = None
        return generation.retired(retirement)

    def _retire(self, grace_seconds: float | None) -> None:
        grace = self._grace if grace_seconds is None else grace_seconds
        self._retire_within = grace
        if self._handle is not None:
            self._handle.retire(grace)

    def _worker(self) -> Handle:
        if self._handle is None or self._generation is None or self._generation.outcome is not None:
            raise Refused("There is no worker: it has ended.", code=Code.WORKER_ENDED)
        if self._stop is not None:
            raise Refused("The run is being stopped.", code=Code.WORKER_ENDED)
        return self._handle

    def _end(self, last: LastGeneration) -> None:
        recorder = self._recorder
        ending = ending_of(self._stop, last)
        recorder.move(ending.move)
        if self._stop is not None:
            recorder.event("control", text="/stop", status="consumed")
        diagnostic = None
        if ending.summary:
            diagnostic = diagnosed(new_store_id(), ending.code, ending.summary, detail=ending.detail, scope="run")
        match ending.kind:
            case "run_interrupted":
                assert self._stop is not None
                data = RunInterrupted(reason=self._stop.reason, signal=self._stop.signal)
                recorder.event(ending.kind, data, status="interrupted", diagnostic=diagnostic)
            case "run_failed":
                recorder.event(ending.kind, status="failed", diagnostic=diagnostic)
            case _:
                recorder.event(ending.kind, status="completed")

    @property
    def over(self) -> bool:
        """Whether the run's end is recorded."""
        return ended(RunStatus(self._recorder.status))
