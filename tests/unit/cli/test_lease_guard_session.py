"""An agent's start-up hook gives its later claims the name that its tool calls are judged by."""

import json
import shlex
import subprocess

import pytest
from click.testing import CliRunner

from hopline.cli.lease_guard import guard
from hopline.errors import UsageError


def test_the_line_sets_the_session_however_odd_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOPLINE_SESSION", raising=False)
    name = "a b; echo 'c' $(d)"
    told = CliRunner().invoke(guard, ["session"], input=json.dumps({"session_id": name}), standalone_mode=False)
    assert told.exception is None
    assert shlex.split(told.output) == ["export", f"HOPLINE_SESSION={name}"]
    said = subprocess.run(["sh", "-c", f'{told.output}printf %s "$HOPLINE_SESSION"'], capture_output=True, check=True)
    assert said.stdout.decode() == name


def test_a_run_keeps_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPLINE_SESSION", "0123456789ab")
    told = CliRunner().invoke(guard, ["session"], input='{"session_id":"other"}', standalone_mode=False)
    assert (told.exception, told.output) == (None, "")


def test_a_hook_without_a_session_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOPLINE_SESSION", raising=False)
    with pytest.raises(UsageError, match="names no session_id"):
        CliRunner().invoke(guard, ["session"], input="{}", standalone_mode=False, catch_exceptions=False)
