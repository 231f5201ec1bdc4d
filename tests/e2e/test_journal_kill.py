"""Real SIGKILLs of a real writer: what was committed is there, and nothing that was not appended."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RIGS = Path(__file__).parents[1] / "rigs"


def kill(folder: Path, rounds: int, seed: int, mode: str) -> dict[str, int]:
    """What `journal_killing.py` saw."""
    done = subprocess.run(
        [sys.executable, str(RIGS / "journal_killing.py"), str(folder), str(rounds), str(seed), mode],
        env={**os.environ, "PYTHONPATH": str(RIGS)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, f"seed {seed}: {done.stderr}"
    seen: dict[str, int] = json.loads(done.stdout)
    return seen


@pytest.mark.parametrize("mode", ["normal", "full"])
def test_a_writer_killed_at_any_moment_loses_no_committed_event(tmp_path: Path, mode: str) -> None:
    seed = int.from_bytes(os.urandom(4), "big")
    print("seed", seed)
    seen = kill(tmp_path / "journal", 20, seed, mode)
    print(seen)
    assert seen["events"] > 100
