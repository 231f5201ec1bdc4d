"""Which file a session's id means."""

import json
from pathlib import Path

import pytest

from hopline.client.transcripts import at, find, stated_cwd
from hopline.errors import RunGone, UsageError

ID = "3f0c6f0e-8a2b-4f1e-9d2e-0123456789ab"


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "state"))
    folder = tmp_path / ".claude" / "projects"
    (folder / "-home-x-app").mkdir(parents=True)
    return folder


def line(**keys: object) -> str:
    return json.dumps(keys) + "\n"


def test_a_session_of_the_agent_is_found_by_its_id_with_its_folder(projects: Path) -> None:
    path = projects / "-home-x-app" / f"{ID}.jsonl"
    path.write_text(line(type="summary") + line(type="user", cwd="/home/x/app") + line(cwd="/elsewhere"))
    found = find(ID)
    assert (found.session_id, found.path, found.cwd) == (ID, path, "/home/x/app")


def test_the_agent_s_configuration_folder_may_be_elsewhere(
    projects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "other"))
    place = tmp_path / "other" / "projects" / "-x"
    place.mkdir(parents=True)
    (place / f"{ID}.jsonl").write_text("")
    assert find(ID).path == place / f"{ID}.jsonl"


def test_an_id_in_two_folders_is_ambiguous(projects: Path) -> None:
    for name in ("-a", "-b"):
        (projects / name).mkdir()
        (projects / name / f"{ID}.jsonl").write_text("")
    with pytest.raises(UsageError, match="--transcript"):
        find(ID)


@pytest.mark.parametrize("session_id", [ID, "../x", "*", "", "a/b"])
def test_an_id_that_nothing_has_is_refused_with_the_next_step(projects: Path, session_id: str) -> None:
    (projects / "-home-x-app" / "x.jsonl").write_text("")
    with pytest.raises(RunGone, match="--transcript PATH"):
        find(session_id)


def test_a_file_that_is_named_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(line(cwd="/srv"))
    found = at("s-1", tmp_path / "t")
    assert (found.session_id, found.path, found.cwd) == ("s-1", tmp_path / "t", "/srv")
    with pytest.raises(UsageError):
        at("s-1", tmp_path)


@pytest.mark.parametrize(
    "text", ["", "no json\n", line(cwd="relative"), line(cwd=7), "[1]\n", "\n" * 300 + line(cwd="/late"), "\0" * 9]
)
def test_a_transcript_may_say_nothing_of_its_folder(tmp_path: Path, text: str) -> None:
    (tmp_path / "t").write_text(text)
    assert stated_cwd(tmp_path / "t") is None
