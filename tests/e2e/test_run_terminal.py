"""Workers on a terminal, from the handle up to the run server."""

import asyncio

import pytest
from generation_rig import generation, needs_bwrap, run, subreaper
from run_servers import RunningServer

from hopline.wire.worker.messages import WorkerExited, WorkerSignaled

runners = pytest.mark.parametrize("runner", ["direct", pytest.param("bwrap", marks=needs_bwrap)])


@runners
def test_a_generation_on_a_terminal_takes_sizes_input_and_any_number_of_ends(runner: str) -> None:
    """WW-TERMINAL"""
    code = "trap 'stty size' WINCH; stty size; cat; echo again; cat; exit 3"

    async def test() -> None:
        async with subreaper(), generation("bash", "-c", code, runner=runner, terminal=(100, 30)) as (handle, told):
            await told.until(lambda: told.stdout == b"30 100\r\n")
            handle.resize(99, 29)
            await handle.send_input(b"abc\n")
            await handle.close_input()
            await told.until(lambda: told.stdout.endswith(b"again\r\n"))
            await handle.send_input(b"x\n")
            await handle.close_input()
            retirement = await handle.wait()
            assert told.stdout.replace(b"29 99\r\n", b"") == b"30 100\r\nabc\r\nabc\r\nagain\r\nx\r\nx\r\n"
            assert b"29 99\r\n" in told.stdout
            assert (retirement.outcome, retirement.clean, told.stderr) == (WorkerExited(3), True, b"")
            assert retirement.descendants.state == "gone"

    run(test())


@runners
def test_a_retired_generation_hangs_up(runner: str) -> None:
    """WW-TERMINAL"""

    async def test() -> None:
        async with (
            subreaper(),
            generation("sh", "-c", "echo up; cat", runner=runner, terminal=(80, 24)) as (
                handle,
                told,
            ),
        ):
            await told.until(lambda: told.stdout)
            handle.retire(10)
            assert (await handle.wait()).outcome == WorkerSignaled(1)

    run(test())


def test_a_relay_that_is_killed_takes_the_terminal_with_it() -> None:
    async def test() -> None:
        async with subreaper(), generation("sh", "-c", "echo up; cat", terminal=(80, 24)) as (handle, told):
            await told.until(lambda: told.stdout)
            handle._launcher.signal(9)
            assert (await asyncio.wait_for(handle.wait(), 10)).descendants.state == "gone"

    run(test())


def test_a_run_tells_its_size_and_its_next_generation_begins_with_the_last_one() -> None:
    server = RunningServer("sh", "-c", "stty size; read line", pty=True, columns=100, rows=30, env={"COLUMNS": "1"})
    assert (server.record["pty"], server.record["columns"], server.record["rows"]) == (True, 100, 30)
    client = server.dial()
    assert client.ask(type="command.resize", columns=90, rows=20)["ack"] == {"action": "resize", "status": "accepted"}
    client.ask(type="command.restart")
    found: list[str] = []
    after = 0
    while len(found) < 2:
        for event in client.ask(type="query.events", after_sequence=after, timeout_ms=5000)["events"]:
            after = event["sequence"]
            if event["type"] == "subprocess_output":
                found.append(event["data"]["content"])
    assert found == ["30 100\r\n", "20 90\r\n"]
    assert (server.record_now()["columns"], server.record_now()["rows"]) == (90, 20)
    client.ask(type="command.stop", grace_ms=1000)
    client.close()
    assert server.leaves() == 0
