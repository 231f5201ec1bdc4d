"""A generation from launch to its one result, against the real relay."""

import asyncio
import errno
import os
import resource
import signal
import time
from pathlib import Path

import psutil
import pytest
from generation_rig import PYTHON, RUN_ID, Witness, generation, needs_bwrap, open_descriptors, run, subreaper, zombies

from hopline.errors import Refused, Unavailable
from hopline.wire.worker.messages import Completed, ConsoleOutput, Ready, WorkerExited, WorkerSignaled
from hopline.worker.handle import WorkerHandle, WorkerLaunch


def test_both_streams_and_the_outcome_are_told_in_order_and_the_end_is_clean() -> None:
    async def test() -> None:
        async with (
            subreaper(),
            generation("sh", "-c", r"printf 'a\377b\303\251'; printf err >&2; exit 7") as (
                handle,
                witness,
            ),
        ):
            retirement = await handle.wait()
            assert witness.told[0] == "started" and witness.told[-1] == "ended"
            assert (witness.stdout, witness.stderr) == (b"a\xffb\xc3\xa9", b"err")
            assert witness.outcomes == [WorkerExited(code=7)]
            assert retirement.outcome == WorkerExited(code=7)
            assert (retirement.launcher_status, retirement.clean, retirement.fault) == (0, True, None)
            assert (retirement.descendants.state, retirement.descendants.processes) == ("gone", [])
            assert retirement.descendants.how == "subreaper and environment marker"
            assert await handle.wait() is retirement

    run(test())


def test_without_a_subreaper_nothing_found_is_called_unknown() -> None:
    async def test() -> None:
        async with generation("true") as (handle, _):
            assert (await handle.wait()).descendants.state == "unknown"

    run(test())


def test_the_signal_that_ended_the_worker_is_told() -> None:
    async def test() -> None:
        async with generation("sh", "-c", "kill -SEGV $$") as (handle, witness):
            assert (await handle.wait()).outcome == WorkerSignaled(signal=signal.SIGSEGV)
            assert witness.runner == "direct"

    run(test())


@pytest.mark.parametrize("program", ["no-such-program-here", "/etc/passwd", "/"])
def test_a_program_that_cannot_be_started_is_fatal_and_has_no_outcome(program: str) -> None:
    async def test() -> None:
        async with generation(program) as (handle, witness):
            retirement = await handle.wait()
            assert witness.told == ["fatal", "ended"]
            assert witness.outcomes == [None] and retirement.outcome is None
            assert retirement.fault == witness.fatal[0] and program in retirement.fault
            assert not retirement.clean

    run(test())


def launch_of(
    argv: list[str], cwd: str = "/", env: dict[str, str] | None = None, runner: str = "direct"
) -> WorkerLaunch:
    return WorkerLaunch(RUN_ID, 1, argv, cwd, dict(os.environ) if env is None else env, runner)


@pytest.mark.parametrize(
    ("launch", "said"),
    [
        (launch_of(["true"], cwd="/no/such/folder"), "cannot enter /no/such/folder"),
        (launch_of(["true"], cwd="/etc/passwd"), "cannot enter /etc/passwd"),
        (launch_of(["nul\0byte"]), "cannot be a command line"),
        (launch_of(["true"], env={"A=B": "C"}), "cannot be a command line"),
        (launch_of(["true", "x" * 3_000_000]), "too long"),
        (launch_of(["true"], runner="docker"), "no runner"),
    ],
    ids=["cwd gone", "cwd a file", "NUL", "environment", "too long", "runner"],
)
@pytest.mark.parametrize("runner", ["direct", pytest.param("bwrap", marks=needs_bwrap)])
def test_what_cannot_be_launched_is_refused_and_leaves_nothing(launch: WorkerLaunch, said: str, runner: str) -> None:
    async def test() -> None:
        before = open_descriptors()
        chosen = launch if launch.runner == "docker" else launch_of(launch.argv, launch.cwd, launch.env, runner)
        with pytest.raises(Refused, match=said):
            await WorkerHandle.launch(chosen, Witness())
        assert open_descriptors() == before
        assert psutil.Process().children() == []

    run(test())


@pytest.mark.parametrize("runner", ["direct", pytest.param("bwrap", marks=needs_bwrap)])
def test_no_descriptors_left_is_said_and_leaves_nothing(runner: str) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)

    async def test() -> None:
        async with generation("true", runner=runner) as (handle, _):
            await handle.wait()
        before = open_descriptors()
        for spare in range(20):
            resource.setrlimit(resource.RLIMIT_NOFILE, (before + spare, limits[1]))
            try:
                handle = await WorkerHandle.launch(launch_of(["true"], runner=runner), Witness())
            except Unavailable as refusal:
                assert "Too many open files" in str(refusal)
                assert open_descriptors() == before
                assert psutil.Process().children() == []
            else:
                assert spare >= 6
                handle.retire(0)
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
                await handle.wait()
                return
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    run(test())


def test_a_launcher_that_cannot_be_watched_is_not_left_running(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_pidfd(pid: int) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    async def test() -> None:
        before = open_descriptors()
        with monkeypatch.context() as scarce:
            scarce.setattr(os, "pidfd_open", no_pidfd)
            with pytest.raises(Unavailable, match="Too many open files"):
                await WorkerHandle.launch(launch_of(["sleep", "60"]), Witness())
        assert open_descriptors() == before
        assert psutil.Process().children() == []

    run(test())


def test_no_thread_left_delays_the_loop_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_thread(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    async def test() -> None:
        monkeypatch.setattr(asyncio, "to_thread", no_thread)
        async with subreaper(), generation("true") as (handle, _):
            assert (await handle.wait()).descendants.state == "gone"

    run(test())


def test_a_worker_that_signals_its_whole_group_does_not_reach_the_server() -> None:
    async def test() -> None:
        async with generation("sh", "-c", "echo up; kill 0; sleep 60") as (handle, witness):
            retirement = await handle.wait()
            assert witness.outcomes == [retirement.outcome] == [WorkerSignaled(signal=signal.SIGTERM)]
            assert (witness.stdout, retirement.clean) == (b"up\n", True)

    run(test())


@pytest.mark.parametrize("runner", ["direct", pytest.param("bwrap", marks=needs_bwrap)])
def test_a_script_that_ends_its_group_when_it_leaves_loses_neither_output_nor_outcome(runner: str) -> None:
    """WW-OWN-GROUP"""
    code = "trap 'kill 0' EXIT; sleep 60 & echo hi; exit 3"

    async def test() -> None:
        async with subreaper(), generation("bash", "-c", code, runner=runner) as (handle, witness):
            retirement = await handle.wait()
            assert retirement.outcome == WorkerSignaled(signal=signal.SIGTERM)
            assert (witness.stdout, retirement.clean, retirement.descendants.state) == (b"hi\n", True, "gone")

    run(test())


def test_descriptors_and_children_do_not_pile_up_over_generations() -> None:
    async def test() -> None:
        async with subreaper():
            before = 0
            for number in range(4):
                async with generation("sh", "-c", "echo x; exit 3") as (handle, _):
                    await handle.wait()
                if number == 0:
                    before = open_descriptors()
            assert open_descriptors() == before
            assert zombies() == []

    run(test())


def test_retirement_closes_stdin_and_a_worker_that_leaves_for_that_is_not_killed() -> None:
    async def test() -> None:
        async with generation("cat") as (handle, witness):
            await witness.until(lambda: witness.pid)
            handle.retire(10)
            assert (await handle.wait()).outcome == WorkerExited(code=0)

    run(test())


def test_a_worker_that_stays_is_killed_at_the_deadline_which_only_the_first_retirement_fixes() -> None:
    async def test() -> None:
        async with generation("sh", "-c", "trap '' TERM INT; echo up; while :; do sleep 0.05; done") as (
            handle,
            witness,
        ):
            await witness.until(lambda: witness.stdout)
            begun = time.monotonic()
            handle.retire(0.5)
            handle.retire(0)
            handle.retire(60)
            retirement = await handle.wait()
            assert retirement.outcome == WorkerSignaled(signal=9)
            assert 0.45 < time.monotonic() - begun < 2
            assert retirement.clean and retirement.fault is None

    run(test())


def test_output_written_before_the_end_is_never_lost() -> None:
    async def test() -> None:
        for number in range(30):
            async with generation("sh", "-c", f"printf {number}; exit {number}") as (handle, witness):
                assert (await handle.wait()).outcome == WorkerExited(code=number)
                assert witness.stdout == str(number).encode()

    run(test())


def test_the_worker_gets_the_environment_and_folder_of_the_launch_and_none_of_the_relays_python(tmp_path: Path) -> None:
    (tmp_path / "msgspec.py").write_text("raise SystemExit('the wrong module')")
    (tmp_path / "hopline").mkdir()

    async def test() -> None:
        env = {"PYTHONHOME": "/nowhere", "PYTHONPATH": str(tmp_path), "MARK": "é"}
        async with generation("sh", "-c", 'pwd; echo "$MARK $HOPLINE_RUN $PYTHONHOME"', cwd=str(tmp_path), env=env) as (
            handle,
            witness,
        ):
            assert (await handle.wait()).outcome == WorkerExited(code=0)
            assert witness.stdout.decode() == f"{tmp_path}\né {RUN_ID} /nowhere\n"

    run(test())


def test_semantic_events_of_a_worker_with_a_sideband_are_told_and_policed() -> None:
    worker = (
        "import os\n"
        "fd = int(os.environ['HOPLINE_SIDEBAND_WRITE_FD'])\n"
        'os.write(fd, b\'{"kind":"ready"}\\n{"kind":"console_output","data":"hi"}\\n\')\n'
        "os.read(0, 1)\n"
        'os.write(fd, b\'{"kind":"completed"}\\n\')\n'
        "import time; time.sleep(60)\n"
    )

    async def test() -> None:
        async with generation(*PYTHON, worker, sideband=True) as (handle, witness):
            await witness.until(lambda: len(witness.events) == 2)
            assert witness.events == [Ready(), ConsoleOutput(data="hi")]
            await handle.send_input(b"x")
            retirement = await handle.wait()
            assert Completed() not in witness.events
            assert retirement.fault is not None and "WW-PHASE" in retirement.fault
            assert retirement.outcome == WorkerSignaled(signal=9)

    run(test())


def test_two_generations_run_side_by_side() -> None:
    async def test() -> None:
        async with generation("sh", "-c", "read x; echo 1$x") as (one, first), generation("cat") as (two, second):
            await two.send_input(b"b")
            await one.send_input(b"a\n")
            await one.wait()
            await two.close_input()
            await two.wait()
            assert (first.stdout, second.stdout) == (b"1a\n", b"b")

    run(test())


def test_waiting_may_be_cancelled_and_the_generation_lives_on() -> None:
    async def test() -> None:
        async with generation("cat") as (handle, witness):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await handle.wait()
            await handle.send_input(b"still here")
            await witness.until(lambda: witness.stdout == b"still here")

    run(test())
