"""docs/wire/bridge.md, the code and the tests name the same decisions."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
TOKEN = re.compile(r"WB-[A-Z]+(?:-[A-Z]+)*")


def tokens_in(*patterns: str) -> set[str]:
    files = [path for pattern in patterns for path in ROOT.glob(pattern) if path != Path(__file__)]
    return {token for path in files for token in TOKEN.findall(path.read_text())}


def test_every_decision_is_in_the_table_in_the_code_and_in_a_test() -> None:
    page = (ROOT / "docs/wire/bridge.md").read_text()
    text, _, table = page.partition("## Decision tokens")
    listed = set(TOKEN.findall(table))
    assert set(TOKEN.findall(text)) == listed
    assert tokens_in("src/hopline/serve/*.py", "src/hopline/cli/bridge*.py") == listed
    assert tokens_in("tests/**/test_bridge_*.py", "tests/**/test_host_*.py") == listed
