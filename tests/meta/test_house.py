"""The house rules that a machine can hold: sizes, names, links, and what a page may not say."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAX_MODULE_LINES = 300


def tracked(*patterns: str) -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / line for line in listing.stdout.splitlines() if (ROOT / line).is_file()]


def test_no_module_is_longer_than_its_bound() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in tracked("src/*.py", "benchmarks/*.py")
        if (lines := len(path.read_text().splitlines())) > MAX_MODULE_LINES
    }
    assert long == {}


def test_no_file_is_named_for_nothing() -> None:
    vague = {"utils", "util", "helpers", "helper", "manager", "base", "common", "misc"}
    assert [path for path in tracked("*.py") if path.stem in vague] == []


def test_every_module_says_what_it_holds() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in tracked("src/*.py")
        if path.read_text().strip() and not path.read_text().lstrip().startswith(('"""', 'r"""'))
    ]
    assert silent == []


def test_every_relative_link_in_the_documents_leads_somewhere() -> None:
    broken = []
    for page in tracked("*.md"):
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def test_decisions_are_numbered_once() -> None:
    numbers = [path.name[:4] for path in tracked("docs/decisions/*.md")]
    assert all(number.isdigit() for number in numbers)
    assert len(set(numbers)) == len(numbers)


def test_the_readme_can_be_read_in_one_sitting() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) < 150


def test_every_lint_exception_has_its_reason() -> None:
    bare = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"#\s*(noqa|type: ignore)", line) and not re.search(r"(noqa: ?[A-Z0-9, ]+|\])\s+#\s*\S+", line)
    ]
    assert bare == []


def test_every_test_that_the_attacks_page_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs/attacks.md").read_text()))
    sources = "\n".join(path.read_text() for path in tracked("tests/*.py"))
    assert named
    assert {name for name in named if f"def {name}(" not in sources} == set()


def test_no_two_test_modules_share_a_name() -> None:
    names = [path.name for path in tracked("tests/*.py") if path.name != "conftest.py"]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []
