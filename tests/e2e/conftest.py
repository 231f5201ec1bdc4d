"""What every end-to-end test needs: a private home and runtime folder, and no process left behind."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest


@pytest.fixture(autouse=True)
def private_place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """HOPLINE_HOME and XDG_RUNTIME_DIR in a short temporary folder; what the test started ends with it."""
    place = Path(tempfile.mkdtemp(prefix="hl-"))
    (place / "run").mkdir(mode=0o700)
    monkeypatch.setenv("HOPLINE_HOME", str(place / "home"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place / "run"))
    monkeypatch.setenv("HOPLINE_CONFIG", str(place / "config.toml"))
    (place / "config.toml").touch()
    for name in ("HOPLINE_RUN", "HOPLINE_SESSION", "HOPLINE_SERVER", "HOPLINE_GENERATION"):
        monkeypatch.delenv(name, raising=False)
    yield place
    end_everything_started_with(f"HOPLINE_HOME={place / 'home'}")
    shutil.rmtree(place, ignore_errors=True)


def end_everything_started_with(marker: str) -> None:
    """Kill the processes whose environment carries `marker`, other than this one."""
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        try:
            name, _, value = marker.partition("=")
            if process.environ().get(name) == value:
                process.send_signal(signal.SIGKILL)
        except psutil.Error:
            continue
