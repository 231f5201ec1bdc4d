"""A conversation that arrives on a real volume of 16 MiB, in a mount namespace of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

RIGS = Path(__file__).parents[1] / "rigs"
NAMESPACE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]


def test_what_does_not_fit_is_refused_and_a_disk_that_fills_gets_its_room_back(tmp_path: Path) -> None:
    done = subprocess.run(
        [*NAMESPACE, sys.executable, str(RIGS / "transfer_full_disk.py"), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(RIGS)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["untouched"] == [], "refused by its claim, before anything was written"
    assert "no room for" in seen["too_much"][0]
    assert "disk is full" in seen["filled"][0]
    assert seen["left"] == []
    assert (seen["again"], seen["same"]) == (["session_received"], True)
