"""Copies what the page uses of its npm packages into src/hopline/web/vendor, with their licences and checksums.

Run by `make vendor` after `npm ci`. The files are committed as they come, so that the page needs no build step, no npm
and no other host; tests/meta/test_vendor.py holds them to vendor.json.
"""

import hashlib
import json
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]
VENDOR = ROOT / "src" / "hopline" / "web" / "vendor"
MODULES = ROOT / "node_modules"

FILES = {
    "@xterm/xterm": {"lib/xterm.mjs": "xterm.mjs", "css/xterm.css": "xterm.css"},
    "@xterm/addon-fit": {"lib/addon-fit.mjs": "addon-fit.mjs"},
    "@xterm/addon-search": {"lib/addon-search.mjs": "addon-search.mjs"},
    "@xterm/addon-unicode11": {"lib/addon-unicode11.mjs": "addon-unicode11.mjs"},
    "@xterm/addon-web-links": {"lib/addon-web-links.mjs": "addon-web-links.mjs"},
    "lit-html": {
        name: name
        for name in (
            "lit-html.js",
            "directive.js",
            "directive-helpers.js",
            "async-directive.js",
            "directives/live.js",
            "directives/ref.js",
            "directives/repeat.js",
        )
    },
    "uplot": {"dist/uPlot.esm.js": "uPlot.esm.js", "dist/uPlot.min.css": "uPlot.min.css"},
}
"""Package, then its files and what they are called here."""

DEFAULT_EXPORT = {"uplot"}
"""Packages that give one thing without a name."""


def main() -> None:
    """Make the folder anew."""
    shutil.rmtree(VENDOR, ignore_errors=True)
    manifest = {}
    for package, files in FILES.items():
        folder = VENDOR / package.rpartition("/")[2]
        described = json.loads((MODULES / package / "package.json").read_text())
        sums = {}
        for source, name in {**files, "LICENSE": "LICENSE.txt"}.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((MODULES / package / source).read_bytes())
            sums[name] = hashlib.sha256(target.read_bytes()).hexdigest()
            if name.endswith((".js", ".mjs")):
                _write_types(target, package, source)
        manifest[package] = {"version": described["version"], "licence": described["license"], "files": sums}
    (VENDOR / "vendor.json").write_text(json.dumps(manifest, indent=2) + "\n")


def _write_types(target: Path, package: str, source: str) -> None:
    """For `make check-web` only: the types of the package stand for those of the file beside it."""
    main = target.suffix == ".mjs" or source == "lit-html.js" or package in DEFAULT_EXPORT
    whole = package if main else f"{package}/{source}"
    types = target.with_suffix(".d.mts" if target.suffix == ".mjs" else ".d.ts")
    what = "{ default }" if package in DEFAULT_EXPORT else "*"
    types.write_text(f'export {what} from "{whole}";\n')


if __name__ == "__main__":
    main()
