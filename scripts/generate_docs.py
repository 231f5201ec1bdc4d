"""Writes the parts of docs/guide that come from the code: command, settings and status tables, and examples.

A part stands between `<!-- NAME -->` and `<!-- end -->`. `--check` writes nothing and exits with 1 when a page is not
current. Examples are the sessions of tests/e2e/guide_examples.py, which tests/e2e/test_guide.py runs, and the functions
of tests/e2e/python_client_examples.py, which tests/e2e/test_python_client.py runs.
"""

import ast
import re
import sys
from collections.abc import Callable
from dataclasses import fields
from importlib.util import module_from_spec, spec_from_file_location
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "guide"
_PART = re.compile(r"<!-- (?!end)([a-z0-9 -]+) -->\n.*?<!-- end -->", re.DOTALL)
_RANGE = re.compile(r"\s+\[[0-9<=]*x[0-9<>=]*\]$")
"""What click adds to the help of a number with bounds."""


def pages() -> dict[Path, str]:
    """Every page of the guide as it should be."""
    return {path: filled(path.read_text(encoding="utf-8")) for path in sorted(GUIDE.glob("*.md"))}


def filled(page: str) -> str:
    """`page` with every part made anew. Raises KeyError for a part that nobody makes."""
    return _PART.sub(lambda found: f"<!-- {found[1]} -->\n{part(found[1])}<!-- end -->", page)


def part(name: str) -> str:
    """The text of one part."""
    makers: dict[str, Callable[[], str]] = {"commands": commands, "settings": settings, "exit statuses": statuses}
    if name.startswith("example "):
        return "".join(
            f"    {line}\n" if line else "\n" for line in examples()[name.removeprefix("example ")].splitlines()
        )
    if name.startswith("python "):
        return f"```python\n{functions()[name.removeprefix('python ').replace('-', '_')]}\n```\n"
    return makers[name]()


def commands() -> str:
    """A section a command: its help, and its options."""
    import click

    from hopline.cli.main import COMMANDS, hopline

    sections = []
    top = click.Context(hopline, info_name="hopline")
    for name in COMMANDS:
        command = hopline.get_command(top, name)
        assert command is not None
        sections += _sections(command, click.Context(command, info_name=name, parent=top), name)
    return "\n" + "\n".join(sections) + "\n"


def _sections(command: "click.Command", context: "click.Context", words: str) -> list[str]:
    import click

    usage = " ".join(command.collect_usage_pieces(context))
    section = f"### `hopline {words} {usage}`\n\n{_paragraphs(command.help or '')}\n"
    options = [option.get_help_record(context) for option in command.params if isinstance(option, click.Option)]
    rows = [record for record in options if record is not None]
    found = [section]
    if rows:
        found.append(_table(("option", ""), [(f"`{left}`", _RANGE.sub("", right)) for left, right in rows]))
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            found += _sections(inner, click.Context(inner, info_name=name, parent=context), f"{words} {name}")
    return found


def settings() -> str:
    """A row a setting: its name, its default, what it does."""
    from hopline.settings import RelaySettings, Settings

    rows: list[tuple[str, ...]] = []
    for kind, prefix in ((Settings, ""), (RelaySettings, "relay.")):
        told = _field_docstrings(ROOT / "src/hopline/settings.py", kind.__name__)
        rows += [
            (f"`{prefix}{field.name}`", f"`{field.default!r}`".replace("'", '"'), told[field.name])
            for field in fields(kind)
            if field.name in told
        ]
    return _table(("setting", "default", ""), rows)


def statuses() -> str:
    """A row a status."""
    from hopline.cli.statuses import meanings

    return _table(("status", "means"), meanings())


def examples() -> dict[str, str]:
    """The sessions that tests run, by name."""
    spec = spec_from_file_location("guide_examples", ROOT / "tests/e2e/guide_examples.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[str, str] = module.EXAMPLES
    return found


def functions() -> dict[str, str]:
    """The source of each example in Python, by the function's name."""
    source = (ROOT / "tests/e2e/python_client_examples.py").read_text(encoding="utf-8")
    return {
        node.name: ast.get_source_segment(source, node) or ""
        for node in ast.parse(source).body
        if isinstance(node, ast.AsyncFunctionDef)
    }


def _paragraphs(text: str) -> str:
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    cells = [head, tuple("---" for _ in head), *(tuple(cell.replace("|", "\\|") for cell in row) for row in rows)]
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)


def _field_docstrings(path: Path, name: str) -> dict[str, str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    found = {}
    for field, told in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(told, ast.Expr):
            found[field.target.id] = " ".join(ast.literal_eval(told.value).split())
    return found


def main(argv: list[str]) -> int:
    """Write the pages, or with --check name those that are not current."""
    stale = {path: text for path, text in pages().items() if path.read_text(encoding="utf-8") != text}
    for path, text in stale.items():
        if "--check" in argv:
            print(f"{path.relative_to(ROOT)} is not current; run: make docs", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return int("--check" in argv and bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
