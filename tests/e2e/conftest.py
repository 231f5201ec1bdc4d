"""What every end-to-end test needs: a private home and runtime folder, and no process left behind."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from page_rig import Watched, Web, chromium
from playwright.sync_api import Browser


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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium for the page tests of one module."""
    with chromium() as launched:
        yield launched


@pytest.fixture
def web() -> Iterator[Web]:
    """`hopline web` for one test."""
    served = Web()
    yield served
    served.close()


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    """A page of desk size, which must not have complained when the test is over."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, timezone_id="UTC")
    page = Watched(context.new_page())
    yield page
    context.close()
    assert page.complaints == []


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
