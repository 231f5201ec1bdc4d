"""The decision tokens of docs/wire/gateway.md: in the table, the text, the code, and a test that shows each."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "wire" / "gateway.md"
TOKEN = re.compile(r"\bWG-[A-Z0-9]+(?:-[A-Z0-9]+)*\b")
ROW = re.compile(r"^\| `(WG-[A-Z0-9-]+)` \| (.+) \|$", re.MULTILINE)


def tokens_in(*files: Path) -> set[str]:
    return {token for file in files for token in TOKEN.findall(file.read_text())}


def rows() -> list[tuple[str, str]]:
    return ROW.findall(PAGE.read_text())


def test_each_decision_has_one_row_of_one_sentence() -> None:
    names = [name for name, _ in rows()]
    assert len(set(names)) == len(names)
    assert [name for name, sentence in rows() if sentence.count(". ") or not sentence.endswith(".")] == []


def test_the_page_names_each_decision_where_it_explains_it() -> None:
    explained = set(TOKEN.findall(PAGE.read_text().split("## Decisions")[0]))
    assert explained == {name for name, _ in rows()}


def test_each_decision_is_named_where_the_code_takes_it() -> None:
    web = ROOT / "src" / "hopline" / "web"
    code = [*(ROOT / "src").rglob("*.py"), *web.glob("state/*.js")]
    assert tokens_in(*code) == {name for name, _ in rows()}


def test_each_decision_is_named_by_a_test_that_shows_it() -> None:
    shown = tokens_in(*(path for path in (ROOT / "tests").rglob("*.py") if path.parent.name != "meta"))
    assert shown == {name for name, _ in rows()}
