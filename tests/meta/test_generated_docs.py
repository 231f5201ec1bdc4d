"""The guide's generated parts are current, and every part that tests make is shown."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_docs", ROOT / "scripts" / "generate_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate_docs"] = module
    spec.loader.exec_module(module)
    return module


def test_every_page_of_the_guide_is_current(generator: ModuleType) -> None:
    stale = [path.name for path, text in generator.pages().items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run: make docs"


def test_every_example_that_a_test_runs_is_shown(generator: ModuleType) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "guide").glob("*.md"))
    assert set(re.findall(r"<!-- example ([a-z-]+) -->", text)) == set(generator.examples())


def test_every_example_in_python_that_a_test_runs_is_shown(generator: ModuleType) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "guide").glob("*.md"))
    shown = {name.replace("-", "_") for name in re.findall(r"<!-- python ([a-z-]+) -->", text)}
    assert shown == set(generator.functions())


def test_every_setting_says_what_it_does(generator: ModuleType) -> None:
    assert all(row.rstrip("|").split("|")[-1].strip() for row in generator.settings().splitlines()[2:])


def test_a_part_that_nobody_makes_is_an_error(generator: ModuleType) -> None:
    with pytest.raises(KeyError):
        generator.filled("<!-- novelty -->\n<!-- end -->")
    assert generator.filled("<!-- commands -->\nold\n<!-- end -->").count("### `hopline") > 10
