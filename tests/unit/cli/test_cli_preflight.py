import os
from pathlib import Path

import pytest

from hopline.cli import preflight
from hopline.errors import Unavailable, UsageError


def test_the_current_folder_is_the_default_and_a_relative_one_counts_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    assert preflight.checked_cwd(None) == str(tmp_path)
    assert preflight.checked_cwd("sub") == str(tmp_path / "sub")


def test_a_current_folder_that_was_removed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(Unavailable, match="current folder is gone"):
        preflight.checked_cwd(None)


def test_a_folder_that_is_missing_or_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"does not exist.*--cwd"):
        preflight.checked_cwd(str(tmp_path / "no"))
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="is not a folder"):
        preflight.checked_cwd(str(tmp_path / "file"))


def test_a_program_is_looked_for_on_the_path_of_the_worker(tmp_path: Path) -> None:
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\n")
    with pytest.raises(Unavailable, match="not executable; run: chmod"):
        preflight.check_program("tool", "/", str(tmp_path))
    program.chmod(0o755)
    preflight.check_program("tool", "/", f"/nowhere:{tmp_path}")
    preflight.check_program("sh", "/", None)
    with pytest.raises(Unavailable, match="no program 'tool' on PATH"):
        preflight.check_program("tool", "/", "/nowhere")


def test_a_program_with_a_slash_counts_from_the_working_folder(tmp_path: Path) -> None:
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    preflight.check_program("./tool", str(tmp_path), None)
    with pytest.raises(Unavailable, match=r"no program '\./tool'"):
        preflight.check_program("./tool", "/", None)
    with pytest.raises(Unavailable, match="is a folder, not a program"):
        preflight.check_program(str(tmp_path), "/", None)


def test_variables_are_pairs_and_the_last_of_a_name_wins() -> None:
    assert preflight.parse_env(["A=1", "B=x=y", "A=2", "C="]) == {"A": "2", "B": "x=y", "C": ""}
    for wrong in ("A", "=x"):
        with pytest.raises(UsageError, match="NAME=VALUE"):
            preflight.parse_env([wrong])
    with pytest.raises(UsageError, match="HOPLINE_RUN"):
        preflight.parse_env(["HOPLINE_RUN=x"])


def test_a_run_is_called_after_its_program_unless_named() -> None:
    assert preflight.checked_name(None, "/usr/bin/python3") == "python3"
    assert preflight.checked_name(None, "@odd") == "run"
    assert preflight.checked_name("my run", "x") == "my run"
    for wrong in ("", "@last", "-x", " x", "x\n", "x" * 65):
        with pytest.raises(UsageError, match="--name"):
            preflight.checked_name(wrong, "x")


def test_words_that_cannot_travel_are_refused() -> None:
    preflight.check_text(["ä", "\U0001f52d"])
    with pytest.raises(UsageError, match="not UTF-8"):
        preflight.check_text([os.fsdecode(b"\xff")])
    with pytest.raises(UsageError, match="NUL"):
        preflight.check_text(["a\0b"])


def test_the_path_of_the_worker_is_that_of_its_environment() -> None:
    assert preflight.worker_path({"PATH": "/x"}) == "/x"
    assert preflight.worker_path({}) == os.environ.get("PATH")
