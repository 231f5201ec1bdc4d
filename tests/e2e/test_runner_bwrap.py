"""The bubblewrap runner, really run: everything of a run ends with its namespace, and that is proven."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest
from generation_rig import generation, needs_bwrap, open_descriptors, run, subreaper, zombies

from hopline.errors import Refused, Unavailable
from hopline.wire.worker.messages import WorkerExited, WorkerSignaled
from hopline.worker import bwrap, runners

pytestmark = needs_bwrap

DAEMON = (
    "import os, sys, time\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork() == 0:\n"
    "        os.environ.clear(); os.execv('/bin/sleep', ['sleep', sys.argv[1]])\n"
    "    os._exit(0)\n"
    "os.wait()\n"
    "print(os.getpid(), flush=True)\n"
)


def sleepers(argument: str) -> list[int]:
    return [p.pid for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", argument]]


def test_a_double_forked_daemon_is_gone_when_the_result_is_known() -> None:
    async def test() -> None:
        async with (
            subreaper(),
            generation(sys.executable, "-S", "-c", DAEMON, "6001", runner="bwrap") as (
                handle,
                witness,
            ),
        ):
            retirement = await handle.wait()
            assert witness.runner == "bwrap"
            assert retirement.outcome == WorkerExited(code=0) and retirement.clean
            assert retirement.descendants.state == "gone"
            assert retirement.descendants.how.startswith("pid namespace ")
            assert sleepers("6001") == [] and zombies() == []

    run(test())


def test_output_input_interrupt_and_status_are_as_without_it() -> None:
    async def test() -> None:
        script = "trap 'echo got it' INT; read x; echo $x; while :; do sleep 0.02; done"
        async with generation("sh", "-c", script, runner="bwrap") as (handle, witness):
            await handle.send_input(b"hello\n")
            await witness.until(lambda: b"hello" in witness.stdout)
            assert (await handle.interrupt()).delivered
            await witness.until(lambda: b"got it" in witness.stdout)
            handle.retire(0.1)
            assert (await handle.wait()).outcome == WorkerSignaled(signal=9)

    run(test())


def test_the_pid_is_of_the_namespace_and_nothing_here_is_signalled_by_it() -> None:
    """WW-PID-LOCAL"""

    async def test() -> None:
        async with generation("sh", "-c", "echo $$; exec sleep 60", runner="bwrap") as (handle, witness):
            await witness.until(lambda: witness.stdout)
            assert witness.pid == int(witness.stdout)
            assert witness.pid < 100
            bystander = psutil.Process(1).create_time()
            handle.retire(0)
            await handle.wait()
            assert psutil.Process(1).create_time() == bystander

    run(test())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_everything_ends_with_a_launcher_that_is_killed(number: int) -> None:
    async def test() -> None:
        script = "trap '' TERM HUP INT; setsid sleep 6002 & echo up; while :; do sleep 0.02; done"
        async with subreaper(), generation("sh", "-c", script, runner="bwrap") as (handle, witness):
            await witness.until(lambda: witness.stdout)
            [launcher] = psutil.Process().children()
            assert launcher.name() == "bwrap"
            launcher.send_signal(number)
            retirement = await handle.wait()
            assert retirement.outcome is None and retirement.fault is not None
            assert retirement.descendants.state == "gone"
            assert sleepers("6002") == [] and zombies() == []

    run(test())


def test_everything_ends_when_the_relay_is_killed() -> None:
    async def test() -> None:
        async with (
            subreaper(),
            generation("sh", "-c", "setsid sleep 6003 & echo up; wait", runner="bwrap") as (
                handle,
                witness,
            ),
        ):
            await witness.until(lambda: witness.stdout)
            [relay] = [
                child
                for child in psutil.Process().children(recursive=True)
                if child.name() != "bwrap" and "hopline.worker.relay" in " ".join(child.cmdline())
            ]
            relay.kill()
            retirement = await handle.wait()
            assert retirement.outcome is None
            assert retirement.descendants.state == "gone"
            assert sleepers("6003") == []

    run(test())


def test_a_launch_that_fails_leaves_nothing() -> None:
    async def test() -> None:
        async with generation("true", runner="bwrap") as (handle, _):
            await handle.wait()
        before = open_descriptors()
        async with generation("no-such-program", runner="bwrap") as (handle, witness):
            retirement = await handle.wait()
            assert witness.told == ["fatal", "ended"]
            assert retirement.descendants.state == "gone"
        assert open_descriptors() == before

    run(test())


def test_auto_takes_bwrap_where_it_works_whatever_the_workers_path_is() -> None:
    async def test() -> None:
        async with generation("/bin/true", runner="auto", env={"PATH": "/nowhere"}) as (handle, witness):
            await handle.wait()
            assert witness.runner == "bwrap"

    run(test())


@pytest.fixture
def machine_without_bwrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(runners, "_bwrap_works", False)
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.fixture
def machine_with_broken_bwrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(runners, "_bwrap_works", False)
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.parametrize(
    ("machine", "reason"),
    [("machine_without_bwrap", "not installed"), ("machine_with_broken_bwrap", "No permissions")],
)
def test_a_machine_where_bwrap_does_not_work_says_so_and_auto_goes_without(
    request: pytest.FixtureRequest, machine: str, reason: str
) -> None:
    request.getfixturevalue(machine)

    async def test() -> None:
        async with generation("/bin/true", runner="auto") as (handle, witness):
            await handle.wait()
            assert witness.runner == "direct"
        with pytest.raises(Unavailable, match=reason):
            async with generation("/bin/true", runner="bwrap"):
                pass
        with pytest.raises(Refused, match="no runner"):
            async with generation("/bin/true", runner="chroot"):
                pass

    run(test())


def test_a_launcher_that_names_no_namespace_proves_nothing() -> None:
    async def test() -> None:
        runner = bwrap.BwrapRunner()
        runner.launched(started=True)
        found = await runner.descendants("", worker_reaped=True)
        assert found.state == "unknown"

    run(test())


def test_a_namespace_whose_first_process_is_gone_has_ended_whoever_has_its_pid_now() -> None:
    async def test() -> None:
        for pid in (os.getpid(), 2**22 - 1):
            runner = bwrap.BwrapRunner()
            os.write(runner.pass_fds[0], b'{"child-pid": %d, "pid-namespace": 1}\n' % pid)
            runner.launched(started=True)
            await asyncio.sleep(0)
            found = await runner.descendants("", worker_reaped=True)
            assert (found.state, found.how) == ("gone", "pid namespace 1 ended")

    run(test())


def test_a_namespace_that_lingers_is_killed() -> None:
    async def test() -> None:
        child = await asyncio.create_subprocess_exec("sleep", "60")
        namespace = os.stat(f"/proc/{child.pid}/ns/pid").st_ino  # noqa: PTH116 # /proc does not block
        runner = bwrap.BwrapRunner()
        os.write(runner.pass_fds[0], b'{"child-pid": %d, "pid-namespace": %d}\n' % (child.pid, namespace))
        runner.launched(started=True)
        found = await runner.descendants("", worker_reaped=True)
        assert found.state == "gone"
        assert await child.wait() == -signal.SIGKILL

    run(test())
