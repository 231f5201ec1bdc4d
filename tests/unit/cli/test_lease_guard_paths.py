"""Which paths a guard asks about: of commits, merges, pushes and agents' tool calls, in real repositories."""

import json
import subprocess
from pathlib import Path

import pytest

from hopline.cli import guard_hooks, guard_paths
from hopline.cli.lease_guard import batches, guard
from hopline.errors import UsageError


def git(*arguments: str, cwd: Path | None = None) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *identity, *arguments], cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def write(name: str, text: str = "x\n") -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def commit(*names: str) -> str:
    for name in names:
        write(name, f"{name} {len(git('rev-list', '--all'))}\n")
    git("add", "-A")
    git("commit", "-q", "-m", "m")
    return git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "repository"
    git("init", "-q", str(place))
    monkeypatch.chdir(place)
    return place


def test_a_commit_changes_what_is_staged_and_both_names_of_what_is_renamed(repository: Path) -> None:
    write("first one")
    git("add", "-A")
    assert guard_paths.staged() == ["first one"]
    commit("a/b")
    write("unstaged")
    git("mv", "a/b", "c")
    git("rm", "-q", "first one")
    assert sorted(guard_paths.staged()) == ["a/b", "c", "first one"]


def test_what_a_merge_brings_from_the_other_side_is_not_changed_by_it(repository: Path) -> None:
    commit("shared", "other")
    git("checkout", "-q", "-b", "theirs")
    commit("shared", "held/by-them")
    git("checkout", "-q", "main")
    commit("shared", "mine")
    assert subprocess.run(["git", "merge", "-q", "theirs"], capture_output=True).returncode == 1
    write("shared", "resolved\n")
    git("add", "-A")
    assert guard_paths.staged() == ["shared"]


def test_a_push_changes_what_the_remote_has_not_got_yet(repository: Path, tmp_path: Path) -> None:
    git("init", "-q", "--bare", str(tmp_path / "remote"))
    git("remote", "add", "origin", str(tmp_path / "remote"))
    base = commit("old")
    git("push", "-q", "origin", "main")
    git("checkout", "-q", "-b", "side")
    commit("side/x")
    git("checkout", "-q", "main")
    commit("new")
    git("merge", "-q", "side", "-m", "merge")
    head = git("rev-parse", "HEAD")
    zero = "0" * 40
    line = f"refs/heads/main {head} refs/heads/main {base}\n"
    assert sorted(guard_paths.pushed("origin", [line])) == ["new", "side/x"]
    assert sorted(guard_paths.pushed("origin", [f"refs/heads/b {head} refs/heads/b {zero}\n"])) == ["new", "side/x"]
    unknown = "1" * 40
    assert sorted(guard_paths.pushed("origin", [f"x {head} x {unknown}\n"])) == ["new", "side/x"]
    assert guard_paths.pushed("origin", [f"(delete) {zero} refs/heads/b {head}\n", "\n"]) == []


def test_paths_count_from_the_top_of_their_repository_wherever_one_stands(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("src/a")
    monkeypatch.chdir(repository / "src")
    assert guard_paths.relative(["a", "../docs/new/file", str(repository / "x")]) == ["src/a", "docs/new/file", "x"]
    assert guard_paths.relative(["/elsewhere/y"]) == ["/elsewhere/y"]
    (tmp_path / "link").symlink_to(repository / "src")
    assert guard_paths.relative([str(tmp_path / "link" / "a")]) == ["src/a"]


def test_a_link_is_checked_by_its_own_path_and_by_what_it_leads_to(repository: Path, tmp_path: Path) -> None:
    write("src/held.py")
    (repository / "free.py").symlink_to("src/held.py")
    (repository / "chain").symlink_to("free.py")
    (repository / "new").symlink_to("src/not-there-yet")
    (repository / "circle").symlink_to("circle")
    (repository / "out").symlink_to(tmp_path / "elsewhere")
    assert guard_paths.relative(["free.py"]) == ["free.py", "src/held.py"]
    assert guard_paths.relative(["chain", "src/held.py"]) == ["chain", "src/held.py"]
    assert guard_paths.relative(["new"]) == ["new", "src/not-there-yet"]
    assert guard_paths.relative(["circle"]) == ["circle"]
    assert guard_paths.relative(["out"]) == ["out", str(tmp_path / "elsewhere")]


@pytest.mark.parametrize(
    ("call", "files"),
    [
        ({"tool_name": "Edit", "tool_input": {"file_path": "/r/a.py"}}, ["/r/a.py"]),
        ({"tool_name": "Write", "cwd": "/r", "tool_input": {"file_path": "b.py", "content": "x"}}, ["/r/b.py"]),
        ({"tool_name": "NotebookEdit", "tool_input": {"notebook_path": "/r/n.ipynb"}}, ["/r/n.ipynb"]),
        (
            {
                "tool_name": "apply_patch",
                "cwd": "/r",
                "tool_input": {
                    "command": "*** Begin Patch\n*** Update File: src/a.py\n*** Move to: src/b.py\n@@\n-x\n+*** no\n"
                    "*** Add File: c d.md\n+y\n*** Delete File: old\n*** End Patch"
                },
            },
            ["/r/src/a.py", "/r/src/b.py", "/r/c d.md", "/r/old"],
        ),
        ({"tool_name": "Bash", "tool_input": {"command": "ls"}}, []),
        ({"tool_name": "Task"}, []),
        ({"tool_input": ["x"]}, []),
    ],
)
def test_a_tool_call_names_the_files_it_changes(call: object, files: list[str]) -> None:
    assert guard_paths.called(guard_paths.read_call(json.dumps(call))) == files


@pytest.mark.parametrize("text", ["", "x", "[]", "7", "[" * 100_000])
def test_what_is_no_tool_call_is_wrong_use(text: str) -> None:
    with pytest.raises(UsageError, match="tool call as JSON"):
        guard_paths.read_call(text)


def test_hooks_that_were_there_are_kept_and_come_back(repository: Path) -> None:
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho before\n")
    hook.chmod(0o755)
    written = guard_hooks.install(None, None)
    assert [path.name for path in written] == ["pre-commit", "pre-push"]
    assert "before-hopline" in hook.read_text()
    guard_hooks.install(None, "s")
    assert "--session s" in hook.read_text()
    assert hook.with_name("pre-commit.before-hopline").read_text() == "#!/bin/sh\necho before\n"
    assert len(guard_hooks.uninstall(None)) == 2
    assert hook.read_text() == "#!/bin/sh\necho before\n"
    assert sorted(path.name for path in hook.parent.iterdir() if not path.name.endswith(".sample")) == ["pre-commit"]
    assert guard_hooks.uninstall(None) == []


def test_a_hook_that_somebody_wrote_over_ours_stays_and_what_was_before_is_named(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho before\n")
    guard_hooks.install(None, None)
    hook.write_text("#!/bin/sh\necho theirs\n")
    status = guard.main(["uninstall"], standalone_mode=False)
    said = capsys.readouterr()
    assert status == 1
    assert said.out == f"{hook.with_name('pre-push')}\n"
    assert f"{hook} was written by somebody else since" in said.err
    assert f"is {hook}.before-hopline" in said.err
    assert hook.read_text() == "#!/bin/sh\necho theirs\n"
    hook.unlink()
    assert guard_hooks.uninstall(None) == [hook]
    assert hook.read_text() == "#!/bin/sh\necho before\n"
    assert guard_hooks.left_behind(None) == []


def test_hooks_go_where_git_looks_for_them_and_nowhere_outside_a_repository(repository: Path, tmp_path: Path) -> None:
    git("config", "core.hooksPath", ".githooks")
    assert guard_hooks.install(repository, None)[0] == repository / ".githooks" / "pre-commit"
    (tmp_path / "plain").mkdir()
    with pytest.raises(UsageError, match="no git repository"):
        guard_hooks.install(tmp_path / "plain", None)


def test_many_paths_are_asked_about_in_parts_that_fit_a_control_line() -> None:
    paths = ["p" * 100 + str(number) for number in range(5000)]
    parts = list(batches(paths))
    assert [one for part in parts for one in part] == paths
    assert len(parts) > 1
    assert max(len(json.dumps(part)) for part in parts) < 1 << 20
    assert list(batches(["x" * 500_000, "y"])) == [["x" * 500_000], ["y"]]
