"""Writes docs/wire/schema and the page's types from the structs of the client wire.

`--check` writes nothing and exits with 1 when a file is not current.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCHEMA = ROOT / "docs" / "wire" / "schema"
TYPES = ROOT / "src" / "hopline" / "web" / "wire" / "wire.d.ts"


def files() -> dict[Path, str]:
    """Every generated file as it should be."""
    from hopline.wire.client.declarations import declarations
    from hopline.wire.client.schema import documents

    found = {
        SCHEMA / f"{name}.json": json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        for name, document in documents().items()
    }
    return {**found, TYPES: declarations()}


def main(argv: list[str]) -> int:
    """Write the files, or with --check name those that are not current."""
    stale = {
        path: text for path, text in files().items() if not path.exists() or path.read_text(encoding="utf-8") != text
    }
    for path, text in stale.items():
        if "--check" in argv:
            print(f"{path.relative_to(ROOT)} is not current; run: make docs", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return int("--check" in argv and bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
