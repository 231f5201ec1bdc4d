"""Every scenario on the pure core, whole and in pieces, against our relay, and against the oracle."""

from pathlib import Path

import pytest
from worker_core_run import CoreRun
from worker_process_run import ProcessRun
from worker_scenario import FOLDER, load

SCENARIOS = sorted(FOLDER.glob("*.txt"))


def named(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("piece", [1_000_000, 3, 1])
@pytest.mark.parametrize("path", SCENARIOS, ids=named)
def test_the_pure_core_does_what_the_scenario_says(path: Path, piece: int) -> None:
    CoreRun(load(path), piece).run()


@pytest.mark.parametrize("relay", ["hopline", "mcp-console"])
@pytest.mark.parametrize("path", SCENARIOS, ids=named)
def test_a_relay_process_does_what_the_scenario_says(path: Path, relay: str) -> None:
    scenario = load(path)
    if scenario.only not in ("", relay):
        return
    ProcessRun(scenario, relay).run()


def test_every_scenario_says_which_decisions_it_shows() -> None:
    assert SCENARIOS
    assert [path.stem for path in SCENARIOS if not load(path).tokens] == []


def test_what_is_no_step_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text("worker: dances\n")
    with pytest.raises(ValueError, match="line 1 is no step"):
        load(path)
