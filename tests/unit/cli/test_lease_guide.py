"""The hooks that docs/guide/leases.md tells people to paste."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "leases.md"


def command_of(agent: str) -> tuple[str, str]:
    found = re.search(rf"<!-- hook {agent} -->\n```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    (entry,) = json.loads(found[1])["hooks"]["PreToolUse"]
    (hook,) = entry["hooks"]
    assert hook["type"] == "command"
    return entry["matcher"], hook["command"]


@pytest.mark.parametrize(
    ("agent", "tool", "given"),
    [
        ("claude", "Edit", {"file_path": "/r/a"}),
        ("claude", "Write", {"file_path": "/r/a"}),
        ("claude", "NotebookEdit", {"notebook_path": "/r/a"}),
        ("codex", "apply_patch", {"command": "*** Update File: a\n"}),
    ],
)
def test_a_pasted_hook_says_no_when_nobody_can_be_asked_and_yes_when_it_is_off(
    tmp_path: Path, agent: str, tool: str, given: dict[str, str]
) -> None:
    matcher, command = command_of(agent)
    assert re.fullmatch(matcher, tool)
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOPLINE_HOME": str(tmp_path / "home"),
        "XDG_RUNTIME_DIR": str(tmp_path),
    }
    command = command.replace("--hook", "--hook --no-start")
    call = json.dumps({"tool_name": tool, "cwd": "/r", "tool_input": given}).encode()
    asked = subprocess.run(["sh", "-c", command], input=call, env=environment, capture_output=True, timeout=20)
    assert asked.returncode == 2
    assert b"not known" in asked.stderr
    environment["HOPLINE_GUARD"] = "off"
    assert subprocess.run(["sh", "-c", command], input=call, env=environment, timeout=20).returncode == 0


def test_a_pasted_hook_says_no_where_the_command_is_not_there(tmp_path: Path) -> None:
    for agent in ("claude", "codex"):
        _, command = command_of(agent)
        asked = subprocess.run(["/bin/sh", "-c", command], env={"PATH": str(tmp_path)}, capture_output=True, timeout=20)
        assert asked.returncode == 2


def test_the_pasted_start_hook_names_the_session_that_the_check_counts_as(tmp_path: Path) -> None:
    found = re.search(r"<!-- hook claude -->\n```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    (entry,) = json.loads(found[1])["hooks"]["SessionStart"]
    (hook,) = entry["hooks"]
    told = tmp_path / "environment"
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "CLAUDE_ENV_FILE": str(told),
    }
    environment.pop("HOPLINE_SESSION", None)
    call = json.dumps({"session_id": "5b3e 1", "source": "startup"}).encode()
    for named, text in ({}, "export HOPLINE_SESSION='5b3e 1'\n"), ({"HOPLINE_SESSION": "run"}, ""):
        told.unlink(missing_ok=True)
        subprocess.run(["sh", "-c", hook["command"]], input=call, env=environment | named, check=True, timeout=20)
        assert told.read_text() == text
