"""`steer`, `pause`, `resume`: sent to an agent; said plainly, with the next step, where there is none."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from cli_rig import detached, hopline, one_sentence, wait_until_over
from conformance_corpus import corpus
from conformance_format import Setup
from conformance_run import ScenarioRun

from hopline.cli import agents
from hopline.client.connection import Connection, connect
from hopline.errors import Refused
from hopline.wire.client.responses import Ack


@pytest.mark.parametrize(
    ("action", "more", "instead"),
    [
        ("steer", ["be quick"], "write to its input: hopline send"),
        ("pause", [], "interrupt it: hopline interrupt"),
        ("resume", [], "see how it stands: hopline show"),
    ],
)
def test_a_plain_command_has_no_agent_and_the_next_step_is_told(action: str, more: list[str], instead: str) -> None:
    record = detached("--name", "plain", "--", "sh", "-c", "yes & read x; kill $!")
    said = one_sentence(hopline(action, "plain", *more), 1)
    assert f"Nothing to {action}: this run is a plain command, without an agent; {instead} {record['id']}" in said
    hopline("stop", "plain", "--grace", "0")
    wait_until_over("plain")
    assert f"nothing to {action}" in one_sentence(hopline(action, "plain", *more), 4)


def test_what_cannot_be_meant_is_refused_before_anything_is_sent() -> None:
    record = detached("--", "sleep", "60")
    assert "empty" in one_sentence(hopline("steer", record["id"], " "), 2)
    assert "exclude" in one_sentence(hopline("resume", record["id"], "--fallback", "--when-capacity-returns"), 2)
    assert "not paused on a capacity limit" in one_sentence(
        hopline("resume", record["id"], "--when-capacity-returns"), 1
    )
    assert "there is no run" in one_sentence(hopline("pause", "nosuch"), 4)


class ScenarioPeer:
    """A run of a scenario, as commands reach runs."""

    def __init__(self, run: ScenarioRun) -> None:
        self._run = run

    def dial_live(self, _wanted: str) -> Connection:
        return connect(str(self._run.path))

    def command(self, name: str) -> str:
        return f"hopline {name} it"


def asked_of_an_agent(place: Path, statuses: dict[str, str], action: str, command: Any) -> int | str:
    """The exit status of a command to a run whose agent takes what it is told as `statuses` say; or the refusal."""

    async def serve() -> int | str:
        run = ScenarioRun(place, Setup())
        async with run.served():
            run.record("run_started", corpus().payloads["run_started"][1])

            def taken(action: str, text: str) -> Ack:
                run.output()
                run.recorder.event("control", text=text, status=statuses[action])
                return Ack(action, statuses[action])

            run.controller.without_agent = taken  # type: ignore[method-assign]  # a stand-in
            peer: Any = ScenarioPeer(run)
            try:
                return await asyncio.to_thread(agents._ask, peer, action, command, "it does")
            except Refused as refused:
                return str(refused)

    return asyncio.run(asyncio.wait_for(serve(), 30))


@pytest.mark.parametrize(
    ("action", "status"), [("steer", "pending"), ("pause", "pending"), ("resume", "consumed"), ("steer", "failed")]
)
def test_an_agent_is_asked_and_what_is_known_of_it_is_said(
    action: str, status: str, private_place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from hopline.wire.client.commands import CommandPause, CommandResume, CommandSteer

    command = {"steer": CommandSteer(text="on"), "pause": CommandPause(), "resume": CommandResume()}[action]
    if status == "failed":
        told = asked_of_an_agent(private_place, {action: status}, action, command)
        assert told == "nothing came of it; write to its input: hopline send it"
        return
    assert asked_of_an_agent(private_place, {action: status}, action, command) == 0
    assert capsys.readouterr().out == f"{status}: it does; see what becomes of it: hopline show it\n"
