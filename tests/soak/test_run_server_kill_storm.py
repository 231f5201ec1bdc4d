"""The long form of tests/e2e/test_run_server_random_kills.py."""

import random
import shutil
import tempfile
from pathlib import Path

import pytest
from run_storm import storm


@pytest.mark.timeout(900)
def test_two_hundred_runs_with_a_random_kill_lose_nothing_and_leave_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    place = Path(tempfile.mkdtemp(prefix="hl-"))
    (place / "run").mkdir(mode=0o700)
    monkeypatch.setenv("HOPLINE_HOME", str(place / "home"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place / "run"))
    storm(200, random.randrange(2**32))
    shutil.rmtree(place)
