"""Every scenario on the machine of one connection, whole and in pieces."""

from pathlib import Path

import pytest
from peer_core_run import CoreRun
from peer_scenario import FOLDER, load

SCENARIOS = sorted(FOLDER.glob("*.txt"))


def named(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("piece", [None, 3, 1], ids=["whole", "3", "1"])
@pytest.mark.parametrize("path", SCENARIOS, ids=named)
def test_the_machine_does_what_the_scenario_says(path: Path, piece: int | None) -> None:
    CoreRun(load(path), piece).run()


def test_every_scenario_of_the_peer_wire_says_which_decisions_it_shows() -> None:
    assert SCENARIOS
    assert [path.stem for path in SCENARIOS if not load(path).tokens] == []


def test_what_is_no_step_of_the_peer_wire_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text("peer dances\n")
    with pytest.raises(ValueError, match="line 1 is no step"):
        load(path)
