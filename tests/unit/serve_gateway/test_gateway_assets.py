"""Only plain files of the page's folder are served, whatever stands there."""

from pathlib import Path

import pytest

from hopline.errors import Unavailable
from hopline.serve.gateway import assets
from hopline.serve.gateway.assets import Assets


@pytest.fixture
def web(tmp_path: Path) -> Path:
    folder = tmp_path / "web"
    (folder / "vendor").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html>")
    (folder / "app.js").write_text("run()")
    (folder / "vendor" / "lib.mjs").write_text("export {}")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


def test_an_asset_is_served_with_its_type(web: Path) -> None:
    served = Assets(web)
    assert served.read("app.js") == (b"run()", "text/javascript; charset=utf-8")
    assert served.read("vendor/lib.mjs") == (b"export {}", "text/javascript; charset=utf-8")
    assert served.page() == b"<!doctype html>"


def test_only_known_suffixes_and_visible_files_are_served(web: Path) -> None:
    (web / "notes.py").write_text("x")
    (web / "types.d.mts").write_text("x")
    (web / ".hidden.js").write_text("x")
    (web / ".git").mkdir()
    (web / ".git" / "x.js").write_text("x")
    assert Assets(web).names() == ["app.js", "vendor/lib.mjs"]
    assert Assets(web).read("index.html") is None


def test_a_name_can_not_lead_out(web: Path) -> None:
    served = Assets(web)
    for name in ("../secret.txt", "vendor/../../secret.txt", "/etc/passwd", "", ".", "vendor"):
        assert served.read(name) is None


def test_a_link_is_not_followed_whenever_it_was_made(web: Path, tmp_path: Path) -> None:
    """WG-INDEXED"""
    (web / "link.txt").symlink_to(tmp_path / "secret.txt")
    (web / "outside").symlink_to(tmp_path)
    served = Assets(web)
    assert served.read("link.txt") is None
    assert served.read("outside/secret.txt") is None
    (web / "app.js").unlink()
    (web / "app.js").symlink_to(tmp_path / "secret.txt")
    assert served.read("app.js") is None


def test_a_folder_that_becomes_a_link_leads_nowhere(web: Path, tmp_path: Path) -> None:
    served = Assets(web)
    elsewhere = tmp_path / "elsewhere"
    (web / "vendor").rename(elsewhere)
    (web / "vendor").symlink_to(elsewhere)
    assert served.read("vendor/lib.mjs") is None


def test_what_is_no_plain_file_any_more_is_not_read(web: Path) -> None:
    import os

    served = Assets(web)
    (web / "app.js").unlink()
    assert served.read("app.js") is None
    os.mkfifo(web / "app.js")
    assert served.read("app.js") is None


def test_a_file_past_the_bound_is_not_read(web: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "MAX_ASSET_BYTES", 4)
    assert Assets(web).read("app.js") is None


def test_a_folder_without_a_page_is_said(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="install"):
        Assets(tmp_path)
