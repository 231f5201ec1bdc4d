"""A relay that breaks the wire, dies, or does not leave: the generation fails by force and is still accounted for."""

import asyncio
import signal
import time

import psutil
import pytest
from generation_rig import PYTHON, generation, needs_bwrap, open_descriptors, run, scripted_relay, subreaper, zombies

from hopline.wire.worker.messages import WorkerExited, WorkerSignaled
from hopline.worker import ladder
from hopline.worker.launch import Launcher

OBEDIENT = (
    "\nwhile (command := hear()) and command['kind'] != 'shutdown': pass\nclose()\nsay('worker_signaled', signal=9)\n"
)


@pytest.fixture
def quick_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds become tenths."""
    monkeypatch.setattr(ladder, "RELAY_SECONDS", 0.2)
    monkeypatch.setattr(ladder, "TERM_SECONDS", 0.6)
    monkeypatch.setattr(ladder, "KILL_SECONDS", 0.5)


@pytest.mark.parametrize(
    ("script", "token"),
    [
        ("say('worker_started', pid=1)\nos.write(1, b'nonsense\\n')", "WW-STRICT"),
        ("say('stdout', data='x')", "WW-STARTED-FIRST"),
        ("say('worker_started', pid=1)\nsay('stdout_closed')\nsay('stdout', data='x')", "WW-TERMINAL-ORDER"),
        ("say('worker_started', pid=1)\nsay('interrupt_result', request_id=1)", "WW-PHASE"),
        ("say('worker_started', pid=1)\nsay('ready')", "WW-PHASE"),
    ],
)
def test_a_violation_retires_the_generation_by_force(script: str, token: str) -> None:
    """WW-FORCED-RETIREMENT"""

    async def test() -> None:
        async with generation(relay=scripted_relay(script + OBEDIENT)) as (handle, witness):
            retirement = await handle.wait()
            assert retirement.fault is not None and token in retirement.fault
            assert len(witness.outcomes) == 1

    run(test())


def test_a_worker_out_of_order_still_has_its_output_and_outcome_told() -> None:
    script = "say('worker_started', pid=1)\nsay('ready')\nsay('completed')\nsay('stdout', data='late')" + OBEDIENT

    async def test() -> None:
        async with generation(relay=scripted_relay(script), sideband=True) as (handle, witness):
            retirement = await handle.wait()
            assert "WW-PHASE" in (retirement.fault or "")
            assert witness.stdout == b"late"
            assert retirement.outcome == WorkerSignaled(signal=9)

    run(test())


def test_the_shutdown_of_a_forced_retirement_gives_no_grace() -> None:
    script = (
        "say('worker_started', pid=1)\nsay('ready')\nsay('stdout', data=json.dumps(hear()))\n"
        "close()\nsay('worker_exited', code=0)\n"
    )

    async def test() -> None:
        async with generation(relay=scripted_relay(script)) as (handle, witness):
            await handle.wait()
            assert witness.stdout == b'{"kind": "shutdown", "grace_millis": 0}'

    run(test())


def test_nothing_follows_a_command_that_forced_retirement_cut_short() -> None:
    """WW-ABORTED-FRAME: the pipe is closed inside the frame instead."""
    script = (
        "say('worker_started', pid=1)\ntime.sleep(0.3)\nsay('ready')\n"
        "data = sys.stdin.buffer.read()\n"
        "say('stdout', data=str(data.count(b'shutdown')) + ' ' + str(data.endswith(b'\\n')))\nclose()\n"
        "say('worker_exited', code=0)\n"
    )

    async def test() -> None:
        async with generation(relay=scripted_relay(script)) as (handle, witness):
            sender = asyncio.create_task(handle.send_input(b"x" * 1_000_000))
            retirement = await handle.wait()
            assert witness.stdout == b"0 False"
            assert retirement.outcome == WorkerExited(code=0)
            await asyncio.gather(sender, return_exceptions=True)

    run(test())


def test_an_end_inside_a_frame_is_a_fault() -> None:
    """WW-NEWLINE"""
    relay = scripted_relay("say('worker_started', pid=1)\nos.write(1, b'{\"kind\":\"stdout\"')\n")

    async def test() -> None:
        async with generation(relay=relay) as (handle, witness):
            retirement = await handle.wait()
            assert "WW-NEWLINE" in (retirement.fault or "")
            assert "left with status 0 before it told" in (retirement.fault or "")
            assert witness.outcomes == [None] and not retirement.clean

    run(test())


def test_what_a_lost_relay_said_on_stderr_is_part_of_the_fault() -> None:
    async def test() -> None:
        async with generation(relay=scripted_relay("sys.exit('the reason')")) as (handle, _):
            retirement = await handle.wait()
            assert retirement.fault == ("the relay left with status 1 before it told how the worker ended; the reason")

    run(test())


@pytest.mark.usefixtures("quick_ladder")
@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("while True: time.sleep(1)", -signal.SIGTERM),
        ("signal.signal(15, signal.SIG_IGN)\nwhile True: time.sleep(1)", -signal.SIGKILL),
    ],
)
def test_a_launcher_that_does_not_leave_is_terminated_and_then_killed(script: str, status: int) -> None:
    async def test() -> None:
        async with generation(relay=scripted_relay("say('worker_started', pid=1)\n" + script)) as (handle, witness):
            await witness.until(lambda: witness.pid)
            begun = time.monotonic()
            handle.retire(0.1)
            retirement = await handle.wait()
            assert retirement.launcher_status == status
            assert time.monotonic() - begun < 2
            assert witness.outcomes == [None]

    run(test())


@pytest.mark.usefixtures("quick_ladder")
def test_a_launcher_that_cannot_be_ended_is_given_up_and_nothing_is_known_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Launcher, "signal", lambda launcher, number: True)

    async def test() -> None:
        async with subreaper(), generation(relay=scripted_relay("while True: time.sleep(1)")) as (handle, witness):
            handle.retire(0)
            retirement = await handle.wait()
            assert retirement.launcher_status is None
            assert "could not be ended" in (retirement.fault or "")
            assert retirement.descendants.state == "unknown"
            assert witness.outcomes == [None]

    run(test())


@pytest.mark.usefixtures("quick_ladder")
def test_a_relay_that_ended_its_events_but_stays_is_made_to_leave() -> None:
    relay = scripted_relay("say('worker_started', pid=1)\nos.close(1)\nwhile True: time.sleep(1)")

    async def test() -> None:
        async with generation(relay=relay) as (handle, _):
            assert (await handle.wait()).launcher_status == -signal.SIGTERM

    run(test())


@pytest.mark.usefixtures("quick_ladder")
def test_a_relay_that_told_the_outcome_but_stays_is_made_to_leave() -> None:
    relay = scripted_relay(
        "say('worker_started', pid=1)\nclose()\nsay('worker_exited', code=4)\nwhile True: time.sleep(1)"
    )

    async def test() -> None:
        async with generation(relay=relay) as (handle, _):
            retirement = await handle.wait()
            assert retirement.outcome == WorkerExited(code=4)
            assert retirement.launcher_status == -signal.SIGTERM

    run(test())


def test_the_launchers_exit_is_noticed_although_a_descendant_holds_its_streams() -> None:
    relay = scripted_relay(
        "say('worker_started', pid=1)\nsubprocess.Popen(['sleep', '60'])\nsay('stdout', data='x')\n"
        "close()\nsay('worker_exited', code=0)\n"
    )

    async def test() -> None:
        async with subreaper(), generation(relay=relay) as (handle, witness):
            begun = time.monotonic()
            retirement = await handle.wait()
            assert time.monotonic() - begun < 2
            assert witness.stdout == b"x" and retirement.outcome == WorkerExited(code=0)
            assert not retirement.clean
            assert [survivor.name for survivor in retirement.descendants.processes] == ["sleep"]

    run(test())


def test_a_killed_relay_loses_the_outcome_but_leaves_no_worker_and_no_zombie() -> None:
    async def test() -> None:
        async with (
            subreaper(),
            generation("sh", "-c", "trap '' PIPE HUP; echo up; while :; do sleep 0.05; done") as (
                handle,
                witness,
            ),
        ):
            await witness.until(lambda: witness.stdout)
            psutil.Process(witness.pid).parent().kill()  # type: ignore[union-attr] # it is alive
            retirement = await handle.wait()
            assert retirement.outcome is None and witness.outcomes == [None]
            assert retirement.launcher_status == -signal.SIGKILL
            assert "status -9" in (retirement.fault or "")
            assert not psutil.pid_exists(witness.pid)
            assert retirement.descendants.state == "gone"
            assert zombies() == []

    run(test())


def test_a_killed_worker_has_its_signal_told() -> None:
    async def test() -> None:
        async with generation("sleep", "60") as (handle, witness):
            await witness.until(lambda: witness.pid)
            psutil.Process(witness.pid).kill()
            retirement = await handle.wait()
            assert retirement.outcome == WorkerSignaled(signal=9) and retirement.clean

    run(test())


def test_what_a_killed_relay_had_written_is_still_told() -> None:
    async def test() -> None:
        async with generation(*PYTHON, "import os, time; os.write(1, b'x' * 50_000); time.sleep(60)") as (
            handle,
            witness,
        ):
            await witness.until(lambda: witness.stdout)
            psutil.Process(witness.pid).parent().kill()  # type: ignore[union-attr] # it is alive
            await handle.wait()
            assert witness.stdout.startswith(b"x")

    run(test())


@pytest.mark.parametrize(
    ("script", "outcome", "clean", "status"),
    [
        ("close()", None, False, 0),
        ("close()\nsay('worker_exited', code=0)\nos._exit(3)", WorkerExited(code=0), True, 3),
        ("say('worker_exited', code=0)", WorkerExited(code=0), False, 0),
        ("hear()\nsay('shutdown_started')\nclose()", None, False, 0),
        ("close()\nsay('worker_exited', code=9)\nos.kill(os.getpid(), 9)", WorkerExited(code=9), True, -9),
    ],
    ids=["closures only", "relay fails", "outcome only", "acceptance only", "relay killed"],
)
def test_no_observation_stands_for_another(script: str, outcome: WorkerExited | None, clean: bool, status: int) -> None:
    """WW-SEPARATE-FACTS"""

    async def test() -> None:
        async with generation(relay=scripted_relay("say('worker_started', pid=1)\n" + script)) as (handle, witness):
            if "hear" in script:
                handle.retire(1)
            retirement = await handle.wait()
            assert witness.outcomes == [outcome] and retirement.outcome == outcome
            assert (retirement.clean, retirement.launcher_status) == (clean, status)
            assert (retirement.fault is None) == (outcome is not None)

    run(test())


def test_a_receipt_that_comes_too_late_touches_nobody_else() -> None:
    """WW-OLD-GENERATION: neither a later interrupt, nor a generation with the same numbers."""
    script = (
        "say('worker_started', pid=1)\nfirst = hear()\nsecond = hear()\n"
        "say('interrupt_result', request_id=first['request_id'])\ntime.sleep(0.2)\n"
        "say('interrupt_result', request_id=second['request_id'], error='no')\nhear()\n"
    )

    async def test() -> None:
        async with generation(relay=scripted_relay(script)) as (late, _):
            assert (await late.interrupt(0.05)).error == "no receipt within 0.05 s"
            async with generation("sleep", "60") as (other, _):
                second, delivered = await asyncio.gather(late.interrupt(), other.interrupt())
                assert (second.delivered, second.error) == (False, "no")
                assert delivered.delivered

    run(test())


@pytest.mark.parametrize("runner", ["direct", pytest.param("bwrap", marks=needs_bwrap)])
def test_the_result_comes_only_when_everything_of_the_generation_is_over(runner: str) -> None:
    """WW-REPLACEMENT: launcher reaped, pipes closed, cleanup known."""

    async def test() -> None:
        async with subreaper():
            await _one_short_life(runner)
            before = open_descriptors()
            await _one_short_life(runner)
            assert open_descriptors() == before

    run(test())


async def _one_short_life(runner: str) -> None:
    async with generation("sh", "-c", "echo x; exec sleep 60", runner=runner) as (handle, witness):
        await witness.until(lambda: witness.stdout)
        handle.retire(0)
        retirement = await handle.wait()
        assert psutil.Process().children() == []
        assert retirement.descendants.state == "gone"
