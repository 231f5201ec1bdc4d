"""The rules of a run's life, with workers that do what the test says (docs/wire/client.md, "Events of a run")."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from run_fakes import FakeRun

from hopline.errors import Refused, Unavailable
from hopline.run.ending import StopOrder
from hopline.wire.client.responses import Ack
from hopline.wire.worker.messages import WorkerExited, WorkerSignaled
from hopline.wire.worker.output import OutputChunk
from hopline.worker.generation import InterruptReceipt
from hopline.worker.survivors import Descendants, Survivor

BEGUN = [("run_status_changed", "running"), ("worker_started", 1)]


def running(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, 10))


def test_a_worker_that_exits_with_zero_completes_the_run(tmp_path: Path) -> None:
    async def scenario() -> None:
        run = FakeRun(tmp_path)
        (await run.start()).end(WorkerExited(0))
        await run.over()
        assert run.told() == [
            *BEGUN,
            ("worker_exited", 1, 0),
            ("worker_retired", 1),
            ("run_status_changed", "completed"),
            ("run_finished",),
        ]
        assert (run.recorder.record.status, run.recorder.record.exit_code) == ("completed", 0)

    running(scenario())


@pytest.mark.parametrize(
    ("outcome", "event", "summary"),
    [
        (WorkerExited(3), ("worker_exited", 1, 3), "The worker exited with status 3."),
        (WorkerSignaled(11), ("worker_signaled", 1, 11), "The worker was ended by signal 11."),
    ],
)
def test_any_other_end_fails_the_run(
    tmp_path: Path, outcome: WorkerExited | WorkerSignaled, event: tuple[Any, ...], summary: str
) -> None:
    async def scenario() -> None:
        run = FakeRun(tmp_path)
        (await run.start()).end(outcome)
        await run.over()
        assert run.told() == [
            *BEGUN,
            event,
            ("worker_retired", 1),
            ("run_status_changed", "failed"),
            ("run_failed", summary),
        ]

    running(scenario())


def test_a_worker_whose_relay_died_is_lost_and_no_outcome_is_made_up(tmp_path: Path) -> None:
    async def scenario() -> None:
        run = FakeRun(tmp_path)
        (await run.start()).end(None, "the relay left in the middle of a frame")
        await run.over()
        kinds = [one[0] for one in run.told()]
        assert "worker_exited" not in kinds and "worker_signaled" not in kinds
        assert kinds[-1] == "run_failed"

    running(scenario())


def test_a_stop_retires_the_worker_and_ends_the_run_as_stopped(tmp_path: Path) -> None:
    async def scenario() -> None:
        run = FakeRun(tmp_path)
        worker = await run.start()
        assert run.controller.stop(0.5) == Ack("stop", "pending")
        assert run.controller.stop(9.0) == Ack("stop", "pending")
        assert worker.calls == [("retire", 0.5)]
        worker.end(WorkerSignaled(9))
        await run.over()
        assert run.controller.stop(None) == Ack("stop", "consumed")
        assert run.told() == [
            *BEGUN,
            ("run_status_changed", "stopping"),
            ("/stop", "pending"),
            ("worker_signaled", 1, 9),
            ("worker_retired", 1),
            ("run_status_changed", "stopped"),
            ("/stop", "consumed"),
            ("run_interrupted", "stopped", None),
        ]

    running(scenario())


def test_a_stop_without_a_grace_takes_the_runs_own(tmp_path: Path) -> None:
    async def scenario() -> None:
        run = FakeRun(tmp_path)
        worker = await run.start()
        run.controller.stop(None)
        assert worker.calls == [("retire", 5.0)]
        worker.end(WorkerExited(0))
        await run.over()
        assert run.told()[-1] == ("run_interrupted", "stopped", None)

    running(scenario())


def test_a_signal_to_the_server_is_named_in_the_end(tmp_path: Path) -> None:
    async def scenario() -> None:
        run = FakeRun(tmp_path)
        worker = await run.start()
        run.controller.end_run(StopOrder("its server got SIGTERM", 15))
        worker.end(WorkerSignaled(15))
        await run.over()
        assert run.told()[-1] == ("run_interrupted", "its server got SIGTERM", 15)

    running(scenario())


def test_a_restart_waits_for_the_retirement_and_never_has_two_generations(tmp_path: Path) -> None:
    async def scenario() -> None:
        run = FakeRun(tmp_path)
        first = await run.start()
        assert run.controller.restart(2.0) == Ack("restart", "pending")
        assert run.controller.restart(2.0) == Ack("restart", "pending")
        await run.turns()
        assert first.calls == [("retire", 2.0)] and len(run.workers) == 1
        first.generation.worker_ended(WorkerExited(0))
        await run.turns()
        assert len(run.workers) == 1
        first.retired(WorkerExited(0))
        await run.turns()
        assert len(run.workers) == 2
        assert run.recorder.record.descendants is None
        second = run.workers[1]
        assert second.calls == []
        second.generation.worker_started(101, "direct")
        second.end(WorkerExited(0))
        await run.over()
        assert run.recorder.record.generation == 2
        assert run.told() == [
            *BEGUN,
            ("/restart", "pending"),
            ("worker_exited", 1, 0),
            ("worker_retired", 1),
            ("/restart", "consumed"),
            ("worker_started", 2),
            ("worker_exited", 2, 0),
            ("worker_retired", 2),
            ("run_status_changed", "completed"),
            ("run_finished",),
        ]

    running(scenario())


def test_a_stop_beats_a_restart_that_is_under_way(tmp_path: Path) -> None:
    async def scenario() -> None:
        run = FakeRun(tmp_path)
        worker = await run.start()
        run.controller.restart(2.0)
        run.controller.stop(1.0)
        worker.end(WorkerExited(0))
        await run.over()
        assert len(run.workers) == 1
        assert run.told()[-1] == ("run_interrupted", "stopped", None)

    running(scenario())


def test_a_restart_that_cannot_launch_fails_the_run(tmp_path: Path) -> None:
    async def scenario() -> None:
        run = FakeRun(tmp_path)
        worker = await run.start()
        run.controller.restart(None)
        run.refuse_next = Unavailable("no processes left")
        worker.end(WorkerExited(0))
        await run.over()
        assert run.told()[-1] == ("run_failed", "The worker could not be started.")

    running(scenario())


def test_an_interrupt_is_recorded_as_asked_and_as_delivered(tmp_path: Path) -> None:
    async def scenario() -> None:
        run = FakeRun(tmp_path)
        worker = await run.start()
        assert await run.controller.interrupt() == Ack("interrupt", "delivered")
        assert run.controller.over is False
        worker.end(WorkerExited(0))
        await run.over()
        assert run.told()[2:4] == [("/interrupt", "pending"), ("/interrupt", "delivered")]

    running(scenario())


def test_an_interrupt_without_a_receipt_is_refused_and_recorded_as_failed(tmp_path: Path) -> None:
    async def scenario() -> None:
        run = FakeRun(tmp_path)
        worker = await run.start()
        worker.receipt = InterruptReceipt(None, "no receipt within 2 s")
        with pytest.raises(Refused, match="Not known if it was delivered: no receipt within 2 s"):
            await run.controller.interrupt()
        worker.end(WorkerExited(0))
        await run.over()
        assert ("/interrupt", "failed") in run.told()

    running(scenario())


def test_input_goes_to_the_worker_and_then_its_end(tmp_path: Path) -> None:
    async def scenario() -> None:
        run = FakeRun(tmp_path)
        worker = await run.start()
        assert await run.controller.input(b"a", False) == Ack("input", "accepted")
        assert await run.controller.input(b"b", True) == Ack("input", "accepted")
        assert worker.calls == [("input", b"a"), ("input", b"b"), ("close", None)]
        with pytest.raises(Refused) as refused:
            await run.controller.input(b"c", False)
        assert refused.value.code == "input_closed"
        worker.end(WorkerExited(0))
        await run.over()
        run.told()

    running(scenario())


def test_a_size_goes_to_the_worker_and_a_new_one_is_recorded(tmp_path: Path) -> None:
    async def scenario() -> None:
        run = FakeRun(tmp_path)
        run.recorder.change(pty=True, columns=80, rows=24)
        worker = await run.start()
        for size in ((80, 24), (100, 30)):
            assert run.controller.resize(*size) == Ack("resize", "accepted")
        assert worker.calls == [("resize", (80, 24)), ("resize", (100, 30))]
        assert (run.recorder.record.columns, run.recorder.record.rows) == (100, 30)
        worker.end(WorkerExited(0))
        await run.over()
        with pytest.raises(Refused, match="no worker"):
            run.controller.resize(80, 24)
        assert [entry for entry in run.told() if entry[0].startswith("/")] == [("/resize 100x30", "consumed")]

    running(scenario())


def test_commands_after_the_workers_end_are_refused_with_a_code(tmp_path: Path) -> None:
    async def scenario() -> None:
        run = FakeRun(tmp_path)
        worker = await run.start()
        worker.generation.worker_ended(WorkerExited(0))
        for ask in (run.controller.interrupt, lambda: run.controller.input(b"x", False)):
            with pytest.raises(Refused) as refused:
                await ask()
            assert refused.value.code == "worker_ended"
        with pytest.raises(Refused) as refused:
            run.controller.restart(None)
        assert refused.value.code == "worker_ended"
        worker.retired(WorkerExited(0))
        await run.over()
        run.told()

    running(scenario())


def test_output_waits_for_room_in_the_journal_and_goes_on_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        run = FakeRun(tmp_path)
        worker = await run.start()
        has_room = False
        monkeypatch.setattr(run.journal, "room", lambda: has_room)
        for offset in range(3):
            worker.generation.worker_output(OutputChunk("stdout", offset, 1, b"x"))
        run.controller.release_if_room()
        assert worker.calls == [("hold", None)]
        has_room = True
        run.controller.release_if_room()
        run.controller.release_if_room()
        assert worker.calls == [("hold", None), ("release", None)]
        worker.end(WorkerExited(0))
        await run.over()
        assert run.told().count(("subprocess_output",)) == 3

    running(scenario())


def test_survivors_are_recorded_with_what_names_them(tmp_path: Path) -> None:
    async def scenario() -> None:
        run = FakeRun(tmp_path)
        worker = await run.start()
        worker.descendants = Descendants("remaining", "subreaper", [Survivor(7, "sleep", "2026-01-01T00:00:00Z", 3.5)])
        worker.end(WorkerExited(0))
        await run.over()
        run.told()
        text = b"".join(path.read_bytes() for path in (run.journal.folder / "segments").iterdir())
        assert b'"state":"remaining","processes":[{"pid":7,"name":"sleep"' in text
        assert b'"start_time":3.5' in text
        assert (run.recorder.record.descendants, run.recorder.record.survivors) == ("remaining", 1)

    running(scenario())


def test_a_relay_failure_is_a_warning_and_the_reason_of_the_end(tmp_path: Path) -> None:
    async def scenario() -> None:
        run = FakeRun(tmp_path)
        run.recorder.move("attach")  # type: ignore[arg-type]  # a move by its word
        generation = await run.controller.start()
        task = asyncio.create_task(run.controller.run(generation))
        generation.worker_fatal("cannot execute: no such file")
        run.workers[0].end(None)
        await asyncio.wait_for(task, 5)
        told = run.told()
        assert ("framework_warning",) in told
        assert told[-1] == ("run_failed", "The worker could not be started.")

    running(scenario())
