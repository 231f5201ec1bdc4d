"""The page's modules, tested in Node.js: the one that Playwright brings, so that none is needed of the system."""

import subprocess
from pathlib import Path

import pytest
from playwright._impl._driver import compute_driver_executable

HERE = Path(__file__).parent
SCRIPTS = sorted(HERE.glob("*.test.mjs"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name.removesuffix(".test.mjs"))
def test_the_modules_of_the_page(script: Path) -> None:
    node = compute_driver_executable()[0]
    done = subprocess.run(
        [node, "--test", "--test-reporter=tap", str(script)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
