"""What a run left behind without an enclosure: found in two ways, told how, ended by pid and start time."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from generation_rig import RUN_ID, generation, run, subreaper, zombies

from hopline.clock import parse_rfc3339
from hopline.worker import processes, survivors

DAEMON = (
    "import os, sys, time\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork() == 0: time.sleep(60)\n"
    "    os._exit(0)\n"
)


@pytest.fixture
def other_run() -> str:
    return "ffffffffffff"


def test_a_double_forked_daemon_is_found_and_named() -> None:
    async def test() -> None:
        async with subreaper(), generation(sys.executable, "-S", "-c", DAEMON + "os.wait()") as (handle, witness):
            descendants = (await handle.wait()).descendants
            assert descendants.state == "remaining"
            assert descendants.how == "subreaper and environment marker"
            [survivor] = descendants.processes
            process = psutil.Process(survivor.pid)
            assert survivor.name == process.name()
            assert abs(parse_rfc3339(survivor.started_at) - process.create_time()) < 2
            assert survivor.pid != witness.pid

    run(test())


def test_the_subreaper_finds_a_survivor_that_wiped_its_environment() -> None:
    async def test() -> None:
        async with subreaper(), generation("sh", "-c", "env -i setsid sleep 60 & sleep 0.1") as (handle, _):
            descendants = (await handle.wait()).descendants
            assert [survivor.name for survivor in descendants.processes] == ["sleep"]

    run(test())


def test_the_marker_finds_a_survivor_that_another_process_adopted() -> None:
    """Without a subreaper the orphan goes to the machine's first process."""

    async def test() -> None:
        async with generation("sh", "-c", "setsid sleep 60 & sleep 0.1") as (handle, _):
            descendants = (await handle.wait()).descendants
            assert descendants.state == "remaining" and descendants.how == "environment marker"
            [survivor] = descendants.processes
            assert psutil.Process(survivor.pid).ppid() != os.getpid()
            assert survivors.end(survivor.pid, survivor.start_time, 1).state == "ended"

    run(test())


def test_the_server_of_another_run_and_what_it_started_are_no_survivors(other_run: str) -> None:
    nested = f"HOPLINE_RUN= HOPLINE_SERVER={other_run} setsid sh -c 'env -u HOPLINE_SERVER sleep 60; :' & sleep 0.2"

    async def test() -> None:
        async with subreaper(), generation("sh", "-c", nested) as (handle, _):
            descendants = (await handle.wait()).descendants
            assert (descendants.state, descendants.processes) == ("gone", [])

    run(test())


def test_what_a_nested_run_left_behind_is_that_runs_own(other_run: str) -> None:
    async def test() -> None:
        nested = f"HOPLINE_RUN={other_run} setsid sleep 60 & sleep 0.2"
        async with subreaper(), generation("sh", "-c", nested) as (handle, _):
            assert (await handle.wait()).descendants.state == "gone"
            assert [survivor.name for survivor in survivors.find(other_run).processes] == ["sleep"]

    run(test())


def test_a_worker_of_another_run_is_no_survivor(other_run: str) -> None:
    async def test() -> None:
        async with generation("sleep", "60", run_id=other_run) as (_, witness), generation("true") as (handle, _):
            await witness.until(lambda: witness.pid)
            assert (await handle.wait()).descendants.processes == []

    run(test())


def test_a_process_that_is_dying_when_its_relay_leaves_is_no_survivor() -> None:
    """The writer gets SIGPIPE only once the relay has closed the stream."""

    async def test() -> None:
        async with subreaper():
            for _ in range(5):
                async with generation("sh", "-c", "while :; do echo x || exit; done & sleep 0.02") as (handle, _):
                    assert (await handle.wait()).descendants.state == "gone"

    run(test())


def test_orphans_are_reaped_as_they_end_while_the_worker_lives() -> None:
    async def test() -> None:
        script = "for i in 1 2 3 4 5; do (setsid sh -c 'exit 0' &) ; done; echo done; exec sleep 60"
        async with subreaper(), generation("sh", "-c", script) as (_, witness):
            await witness.until(lambda: witness.stdout)
            for _ in range(500):
                await asyncio.sleep(0.01)
                if not zombies():
                    break
            assert zombies() == []

    run(test())


def test_adopting_orphans_never_takes_a_child_that_was_started_as_its_own() -> None:
    async def test() -> None:
        async with subreaper():
            mine = survivors.start_own(["sh", "-c", "exit 5"])
            await asyncio.to_thread(os.waitid, os.P_PID, mine.pid, os.WEXITED | os.WNOWAIT)
            assert survivors.reap_adopted() == 0
            assert survivors.find(RUN_ID).processes == []
            assert mine.poll() == 5
            survivors.disown(mine.pid)

    run(test())


def test_nothing_is_reaped_in_a_process_that_is_no_subreaper() -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert survivors.reap_adopted() == 0
    assert child.wait() == 0


@pytest.mark.parametrize(
    ("script", "number"),
    [("exec sleep 60", signal.SIGTERM), ("trap '' TERM; while :; do sleep 0.02; done", signal.SIGKILL)],
)
def test_a_survivor_is_ended_by_term_and_then_by_kill(script: str, number: int) -> None:
    child = subprocess.Popen(["sh", "-c", script + "; :" if "trap" in script else script])
    try:
        process = processes.look_up(child.pid)
        assert process is not None
        time.sleep(0.2)
        ending = survivors.end(child.pid, process.start_time, 0.3)
        assert (ending.state, ending.signal) == ("ended", number)
    finally:
        child.kill()
        child.wait()


def test_a_pid_that_belongs_to_another_process_now_is_left_alone() -> None:
    child = subprocess.Popen(["sleep", "60"])
    try:
        process = processes.look_up(child.pid)
        assert process is not None
        assert survivors.end(child.pid, process.start_time - 1, 0.1).state == "other"
        assert child.poll() is None
    finally:
        child.kill()
        child.wait()


def test_a_survivor_that_is_gone_already_is_said_to_be() -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    process = processes.look_up(child.pid)
    assert process is not None and process.ended
    assert survivors.end(child.pid, process.start_time, 0.1).state == "gone"
    child.wait()
    assert survivors.end(child.pid, process.start_time, 0.1).state == "gone"


def test_every_survivor_of_a_generation_can_be_ended_as_it_was_named() -> None:
    async def test() -> None:
        async with subreaper(), generation("sh", "-c", "setsid sleep 60 & setsid sleep 61 & sleep 0.1") as (handle, _):
            found = (await handle.wait()).descendants.processes
            assert len(found) == 2
            for survivor in found:
                ending = survivors.end(survivor.pid, survivor.start_time, 1)
                assert ending.state == "ended"
            assert survivors.find(RUN_ID).state == "gone"
            assert zombies() == []

    run(test())


def test_unreadable_processes_are_said_to_be_unknown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(processes, "PROC", tmp_path)
    found = survivors.find(RUN_ID)
    assert found.state == "unknown" and "/proc cannot be read" in found.how
