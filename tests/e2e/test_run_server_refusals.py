"""A server that cannot start says one sentence with the next step and leaves nothing half-made."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from run_servers import PATIENCE, RunningServer, home, start_report


def refused(shell: str = "", **fields: Any) -> dict[str, Any]:
    spec = {"id": "abcdefabcdef", "name": "n", "command": ["true"], "cwd": "/", **fields}
    report, process = start_report(stdin=json.dumps(spec).encode() + b"\n", shell=shell)
    assert process.wait(PATIENCE) == 1
    assert report["outcome"] == "failed"
    assert "\n" not in report["message"]
    return report


def nothing_is_left() -> bool:
    runtime = Path(os.environ["XDG_RUNTIME_DIR"]) / "hopline" / "runs" / "abcdefabcdef"
    return not (home() / "runs" / "abcdefabcdef").exists() and not runtime.exists()


def test_a_socket_path_that_is_too_long(monkeypatch: pytest.MonkeyPatch, private_place: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(private_place / ("long" * 30)))
    report = refused()
    assert report["exit_code"] == 2 and "shorter folder" in report["message"]
    assert nothing_is_left()


def test_a_runtime_folder_that_is_open_to_others(private_place: Path) -> None:
    folder = private_place / "run" / "hopline"
    folder.mkdir()
    folder.chmod(0o777)
    report = refused()
    assert report["exit_code"] == 5 and "chmod 700" in report["message"]
    assert nothing_is_left()


def test_no_room_on_the_disk() -> None:
    report = refused(journal_reserve=1 << 60)
    assert report["exit_code"] == 1 and "free" in report["message"]
    assert nothing_is_left()


def test_a_folder_that_is_gone(private_place: Path) -> None:
    report = refused(cwd=str(private_place / "gone"))
    assert "gone" in report["message"]
    assert nothing_is_left()


def test_a_runner_that_does_not_exist() -> None:
    report = refused(runner="magic")
    assert "magic" in report["message"]
    assert nothing_is_left()


def test_a_word_for_durability_that_does_not_exist() -> None:
    report = refused(durability="eternal")
    assert report["exit_code"] == 2 and "eternal" in report["message"]
    assert nothing_is_left()


@pytest.mark.parametrize("descriptors", range(8, 16))
def test_no_descriptors_left_wherever_it_happens(descriptors: int) -> None:
    report = refused(shell=f"ulimit -n {descriptors}")
    assert "descriptors" in report["message"] or "open files" in report["message"]
    assert nothing_is_left()


@pytest.mark.parametrize("line", [b"", b"\n", b"[]\n", b'{"id":"../x","name":"n","command":["true"],"cwd":"/"}\n'])
def test_a_request_that_is_none(line: bytes) -> None:
    report, process = start_report(stdin=line)
    assert process.wait(PATIENCE) == 1
    assert (report["outcome"], report["exit_code"]) == ("failed", 2)
    assert not (home() / "runs").exists() or not list((home() / "runs").iterdir())


def test_a_second_server_for_one_run() -> None:
    server = RunningServer("sleep", "60")
    spec = {"id": server.id, "name": "n", "command": ["true"], "cwd": "/"}
    report, process = start_report(stdin=json.dumps(spec).encode() + b"\n")
    assert process.wait(PATIENCE) == 1
    assert "already has a server" in report["message"]
    with server.dial() as control:
        assert control.ask(type="command.stop", grace_ms=0)["ok"]
    assert server.leaves() == 0


def test_a_program_that_cannot_be_started_fails_the_run_and_says_why() -> None:
    server = RunningServer("/nowhere/to/be/found")
    assert server.leaves() == 0
    events = server.stored()
    assert events[-1]["type"] == "run_failed"
    assert events[-1]["diagnostic"]["summary"] == "The worker could not be started."
    assert "/nowhere/to/be/found" in events[-1]["diagnostic"]["detail"]
