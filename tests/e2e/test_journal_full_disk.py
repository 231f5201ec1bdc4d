"""A journal on a real volume of 16 MiB that fills up, in a mount namespace of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RIGS = Path(__file__).parents[1] / "rigs"
NAMESPACE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]


def play(scenario: str, place: Path, durability: str = "normal") -> dict[str, Any]:
    """What `journal_full_disk.py` saw."""
    done = subprocess.run(
        [*NAMESPACE, sys.executable, str(RIGS / "journal_full_disk.py"), scenario, str(place), durability],
        env={**os.environ, "PYTHONPATH": str(RIGS)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


@pytest.mark.parametrize("durability", ["normal", "full"])
def test_a_full_disk_holds_the_journal_back_until_there_is_room(tmp_path: Path, durability: str) -> None:
    told = play("goes_on_when_there_is_room", tmp_path, durability)["told"]
    assert told == ["the journal cannot be written (No space left on device); it goes on when there is room", None]


@pytest.mark.parametrize("durability", ["normal", "full"])
def test_closing_on_a_full_disk_ends_and_says_what_is_missing(tmp_path: Path, durability: str) -> None:
    assert play("says_what_it_could_not_write", tmp_path, durability)["reason"] == "No space left on device"


def test_the_reserve_is_left_free_and_the_last_events_may_use_it(tmp_path: Path) -> None:
    seen = play("leaves_the_reserve", tmp_path)
    assert seen["told"] == [f"less than the reserve of {(16 << 20) // 20} bytes is free on the journal's volume"]
    assert 500_000 < seen["free"] < (16 << 20) // 20


def test_no_journal_is_made_where_nothing_fits(tmp_path: Path) -> None:
    seen = play("is_not_made", tmp_path)
    assert "No space left on device; free some room there" in seen["said"]
    assert seen["left"] == ["ballast", "rest"]
