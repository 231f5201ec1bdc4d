"""One generation of a run's worker on the event loop: launch, output, input, interrupts and retirement.

The rules are in hopline.wire.worker.controller; here bytes, timers and processes are joined to them.
"""

import asyncio

from hopline.wire.worker.controller import Controller
from hopline.wire.worker.messages import (
    Fatal,
    InterruptResult,
    ShutdownStarted,
    StdinResult,
    WorkerExited,
    WorkerSignaled,
    WorkerStarted,
)
from hopline.wire.worker.reports import Fault, Report, StreamEnded
from hopline.worker import survivors
from hopline.worker.backlog import Backlog
from hopline.worker.generation import InterruptReceipt, Observer, Retirement, WorkerLaunch, tell
from hopline.worker.input import WorkerInput
from hopline.worker.ladder import Ladder
from hopline.worker.launch import Launcher, explained, relay_command, start
from hopline.worker.pipes import CommandPipe, DiagnosticPipe, EventPipe
from hopline.worker.runners import Runner, choose
from hopline.worker.survivors import Descendants

__all__ = ["InterruptReceipt", "Observer", "Retirement", "WorkerHandle", "WorkerLaunch"]

DRAIN_SECONDS = 0.25
"""How long the event stream may stay open after its launcher was reaped: somebody else holds it then."""

MAX_BACKLOG_BYTES = 32 * 1024 * 1024
"""Most output taken while it is held, to reach receipts behind it: what a relay and its pipe hold, three times."""


class WorkerHandle:
    """Made by `launch`; ended by `retire` or by the worker, and in every case by `wait`."""

    @classmethod
    async def launch(
        cls, launch: WorkerLaunch, observer: Observer, *, relay: list[str] | None = None
    ) -> "WorkerHandle":
        """Start a relay with its worker.

        Args:
            launch: what to start.
            observer: told of everything, from the next turn of the loop on.
            relay: the relay's command line in place of ours, for tests.

        Raises Refused for an unknown runner or a folder that is not there, Unavailable when a runner does not work
        here or no process could be started. A program that cannot be started is told by `worker_fatal`.
        """
        survivors.reap_as_they_end()
        try:
            runner = await choose(launch.runner)
        except OSError as error:
            raise explained(error, launch.runner, launch.cwd) from error
        command = relay or relay_command(launch.argv, sideband=launch.sideband, terminal=launch.terminal)
        started = False
        try:
            launcher = start(runner.command(command), cwd=launch.cwd, env=launch.env, pass_fds=runner.pass_fds)
            started = True
        finally:
            runner.launched(started=started)
        return cls(launch, observer, runner, launcher)

    def __init__(self, launch: WorkerLaunch, observer: Observer, runner: Runner, launcher: Launcher) -> None:
        self._run_id = launch.run_id
        self._observer = observer
        self._runner = runner
        self._launcher = launcher
        self._loop = asyncio.get_running_loop()
        self._controller = Controller(sideband=launch.sideband)
        self._events = EventPipe(launcher.events, self._receive, self._force)
        self._commands = CommandPipe(launcher.commands, self._controller.writer)
        self._diagnostics = DiagnosticPipe(launcher.diagnostics)
        self._ladder = Ladder(launcher.signal, launcher.give_up)
        self._backlog = Backlog(self._tell)
        self._input = WorkerInput(self._controller, self._commands.flush, terminal=launch.terminal is not None)
        self._receipts: dict[int, asyncio.Future[InterruptReceipt]] = {}
        self._outcome: WorkerExited | WorkerSignaled | None = None
        self._fault: str | None = None
        self._clean = False
        self._ending = False
        self._lifted = False
        self._events.set_reading(True)
        self._life = self._loop.create_task(self._live(), name=f"generation {launch.generation} of {launch.run_id}")

    def hold_output(self) -> None:
        """Tell the observer nothing more until `release_output`; the worker comes to wait in its writes.

        Retirement lifts it. Receipts of interrupts are still fetched, within a bound.
        """
        if not self._lifted:
            self._backlog.holding = True
            self._pace()

    def release_output(self) -> None:
        """Go on telling, what was held first."""
        self._backlog.release()
        self._pace()

    async def send_input(self, data: bytes) -> bool:
        """Give bytes to the worker's stdin; returns once they are under way, which takes room in the window.

        True when they are known to be in the worker's input. Raises Refused (input_closed) when stdin is closed, or
        closes meanwhile.
        """
        return await self._input.send(data)

    async def close_input(self) -> None:
        """End the worker's stdin after what was sent before. Raises Refused (input_closed) when it is closed."""
        await self._input.close()

    def resize(self, columns: int, rows: int) -> None:
        """Set the size of the worker's terminal, which it must have; a worker that is ending has none to set."""
        self._controller.send_resize(columns, rows)
        self._commands.flush()

    async def interrupt(self, timeout: float = 2.0) -> InterruptReceipt:  # noqa: ASYNC109 # it bounds a receipt, and cancels nothing
        """Signal the worker (SIGINT) and say whether that was accepted, at most `timeout` seconds later."""
        request_id = self._controller.send_interrupt()
        if request_id is None:
            busy = self._controller.writer.admitting
            return InterruptReceipt(False, "earlier interrupts wait for their receipts" if busy else "the worker ended")
        receipt: asyncio.Future[InterruptReceipt] = self._loop.create_future()
        self._receipts[request_id] = receipt
        self._commands.flush()
        self._pace()
        try:
            return await asyncio.wait_for(receipt, timeout)
        except TimeoutError:
            return InterruptReceipt(None, f"no receipt within {timeout:g} s")
        finally:
            self._receipts.pop(request_id, None)
            self._pace()

    def retire(self, grace_seconds: float) -> None:
        """End the worker: stdin closed and asked to leave at once, killed after the grace. The first call counts.

        Output that is held stays held until the grace is over, so that the worker cannot use it to write on; what is
        under way by then, at most MAX_BACKLOG_BYTES and what the relay and the pipes hold, is told whatever holds.
        """
        if not self._ladder.begun:
            deadline = self._loop.time() + grace_seconds
            self._controller.writer.shut_down(deadline)
            self._end_by(deadline)
            self._loop.call_at(deadline, self._lift)

    async def wait(self) -> Retirement:
        """The one result, for any number of callers: launcher reaped, IO ended, cleanup known (WW-REPLACEMENT)."""
        return await asyncio.shield(self._life)

    def _receive(self, data: bytes) -> None:
        self._take(self._controller.receive(data))
        self._pace()

    def _take(self, reports: list[Report]) -> None:
        for report in reports:
            match report:
                case InterruptResult(request_id=request_id, error=error):
                    self._answer(request_id, error if isinstance(error, str) else None)
                case StdinResult():
                    self._input.changed()
                case Fault():
                    self._fail(str(report))
                case ShutdownStarted():
                    self._answer_all("the worker is being retired")
                case StreamEnded(clean=clean):
                    self._clean = clean
                case WorkerStarted(pid=pid):
                    self._runner.worker_started(pid, self._launcher.pid)
                    self._backlog.add(report)
                case Fatal(message=message):
                    self._fault = self._fault or message
                    self._backlog.add(report)
                case WorkerExited() | WorkerSignaled():
                    self._outcome = report
                    self._backlog.add(report)
                    self._controller.writer.abort()
                    self._end_by(self._loop.time())
                    self._answer_all("the worker has ended")
                case _:
                    self._backlog.add(report)
        self._backlog.pass_on()

    def _tell(self, report: Report) -> None:
        tell(self._observer, report, self._runner.kind)

    def _fail(self, reason: str) -> None:
        """A violation: the generation is retired by force (WW-FORCED-RETIREMENT)."""
        self._fault = self._fault or reason
        self._force()
        self._answer_all("the worker is being retired by force")
        self._lift()

    def _force(self) -> None:
        self._controller.writer.force(self._loop.time())
        self._end_by(self._loop.time())

    def _end_by(self, deadline: float) -> None:
        """Admission has closed: write what remains, wake who waits for room, see that the launcher leaves."""
        self._ladder.begin(deadline)
        self._commands.flush()
        self._input.changed()

    def _lift(self) -> None:
        self._lifted = True
        self.release_output()

    def _answer(self, request_id: int, error: str | None) -> None:
        receipt = self._receipts.pop(request_id, None)
        if receipt is not None and not receipt.done():
            receipt.set_result(InterruptReceipt(error is None, error))

    def _answer_all(self, error: str) -> None:
        for request_id in list(self._receipts):
            self._answer(request_id, error)

    def _pace(self) -> None:
        """Read unless output is held; then only for a receipt that waits behind it, and once the launcher is gone."""
        for_receipt = bool(self._receipts) and self._backlog.size < MAX_BACKLOG_BYTES
        self._events.set_reading(not self._backlog.holding or for_receipt or self._ending)

    async def _live(self) -> Retirement:
        await self._launcher.exited.wait()
        self._ladder.stop()
        self._controller.writer.abort()
        self._commands.close()
        self._ending = True
        self._pace()
        ended = await self._events.ends_within(DRAIN_SECONDS)
        self._take(self._controller.receive_eof())
        self._clean = self._clean and ended
        self._input.changed()
        self._answer_all("the worker has ended")
        await self._backlog.empty.wait()
        said = self._diagnostics.close()
        if self._outcome is None:
            self._fault = self._lost(said)
            self._observer.worker_ended(None)
        status = self._launcher.status
        descendants = await self._runner.descendants(self._run_id, worker_reaped=self._outcome is not None)
        if status is None:
            descendants = Descendants("unknown", "the launcher could not be reaped", descendants.processes)
        return Retirement(self._outcome, status, self._clean, self._fault, descendants)

    def _lost(self, said: str) -> str:
        """Why the worker's end is not known."""
        if self._fault is not None and not self._controller.started:
            return self._fault
        status = self._launcher.status
        how = "could not be ended" if status is None else f"left with status {status}"
        lost = f"the relay {how} before it told how the worker ended"
        return "; ".join(part for part in (self._fault, lost, said) if part)
