"""The page's libraries are the files of named versions, unchanged, with their licences; no other host is needed."""

import hashlib
import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
WEB = ROOT / "src" / "hopline" / "web"
VENDOR = WEB / "vendor"
MANIFEST = json.loads((VENDOR / "vendor.json").read_text())
TYPES = {".mts", ".ts"}


def own_files(*suffixes: str) -> list[Path]:
    return [path for path in WEB.rglob("*") if path.suffix in suffixes and VENDOR not in path.parents]


def test_every_vendored_file_is_the_one_of_its_version() -> None:
    stated = {
        VENDOR / package.rpartition("/")[2] / name: checksum
        for package, described in MANIFEST.items()
        for name, checksum in described["files"].items()
    }
    there = {path for path in VENDOR.rglob("*") if path.is_file() and path.suffix not in TYPES}
    assert there - {VENDOR / "vendor.json"} == set(stated)
    changed = [str(path) for path, sum_ in stated.items() if hashlib.sha256(path.read_bytes()).hexdigest() != sum_]
    assert changed == []


def test_the_versions_are_those_of_package_json() -> None:
    wanted = json.loads((ROOT / "package.json").read_text())["devDependencies"]
    assert {package: described["version"] for package, described in MANIFEST.items()} == {
        package: wanted[package] for package in MANIFEST
    }


def test_every_library_comes_with_its_licence() -> None:
    for package, described in MANIFEST.items():
        assert described["licence"] in ("MIT", "BSD-3-Clause"), package
        assert (VENDOR / package.rpartition("/")[2] / "LICENSE.txt").stat().st_size > 500


def test_modules_import_only_files_that_are_there() -> None:
    missing = []
    for path in WEB.rglob("*.js"):
        code = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.MULTILINE)
        for name in re.findall(r"""(?:from|import\(|import)\s*["']([^"']+)["']""", code):
            file = path.parent / name
            typed = (
                name.endswith(".js")
                and file.with_suffix(".d.ts").is_file()
                and f'import("{name}").' in path.read_text()
            )
            if not name.startswith(".") or not (file.is_file() or typed):
                missing.append(f"{path.relative_to(WEB)}: {name}")
    assert [found for found in missing if "@xterm" not in found] == []


def test_the_page_names_no_other_host() -> None:
    allowed = ("http://www.w3.org/2000/svg",)
    named = [
        f"{path.relative_to(WEB)}: {address}"
        for path in own_files(".js", ".css", ".html", ".svg")
        for address in re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^\s\"'`]*", path.read_text())
        if not address.startswith(allowed)
    ]
    assert named == []


def test_nothing_is_written_as_markup() -> None:
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|unsafeHTML|unsafeSVG|eval\(|new Function|srcdoc"
    assert [str(path) for path in own_files(".js") if re.search(ways, path.read_text())] == []


def test_the_page_has_no_inline_script_or_style() -> None:
    page = (WEB / "index.html").read_text()
    assert re.findall(r"<style|style=|\son\w+=|<script(?![^>]*\ssrc=)", page) == []
    for path in own_files(".js"):
        assert re.findall(r"<[a-z][^>]*\sstyle=", path.read_text()) == [], path


def test_the_first_view_weighs_less_than_100_kb() -> None:
    later = ("terminal", "vendor/xterm", "vendor/addon", "vendor/uplot")
    first = {WEB / "index.html", *WEB.glob("style/*.css"), WEB / "icons" / "icon.svg"}
    waiting = [WEB / "app.js"]
    while waiting:
        path = waiting.pop().resolve()
        if path in first:
            continue
        first.add(path)
        waiting += [path.parent / name for name in re.findall(r"""from\s*["'](\.[^"']+)["']""", path.read_text())]
    assert [path for path in first if str(path.relative_to(WEB)).startswith(later)] == []
    assert sum(path.stat().st_size for path in first) < 100_000
