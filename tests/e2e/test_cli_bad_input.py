"""What bad input gets: one sentence and the next step, the status as tabled, nothing half-made left behind."""

import os
import resource
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from cli_rig import HOPLINE, detached, hopline, one_sentence, shown

from hopline.client import start_run
from hopline.errors import HoplineError
from hopline.records import RunSpec


@pytest.fixture
def nothing_left(private_place: Path) -> Iterator[None]:
    """No run folder, no socket and no process of ours is there after the test."""
    yield
    assert list((private_place / "home").glob("runs/*")) == []
    assert list((private_place / "run").glob("hopline/runs/*")) == []
    marker = str(private_place / "home")
    left = [one.pid for one in psutil.process_iter() if one.pid != os.getpid() and _home_of(one) == marker]
    assert left == []


def _home_of(process: psutil.Process) -> str | None:
    try:
        return process.environ().get("HOPLINE_HOME")
    except psutil.Error:
        return None


@pytest.mark.parametrize("how", [(), ("--detach",), ("--json",)])
def test_a_missing_program(nothing_left: None, how: tuple[str, ...]) -> None:
    assert "no program 'no-such-program'" in one_sentence(hopline("run", *how, "--", "no-such-program"), 1)


def test_a_program_that_is_not_executable(nothing_left: None, tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    assert "chmod +x" in one_sentence(hopline("run", "--", str(tmp_path / "tool")), 1)


def test_a_folder_is_no_program(nothing_left: None) -> None:
    assert "is a folder" in one_sentence(hopline("run", "--", "/tmp"), 1)


def test_a_working_folder_that_is_gone(nothing_left: None, tmp_path: Path) -> None:
    assert "--cwd" in one_sentence(hopline("run", "--cwd", str(tmp_path / "gone"), "--", "true"), 1)
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"cd {gone} && rmdir {gone} && exec {HOPLINE} run -- true"
    told = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert "current folder is gone" in one_sentence(told, 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",),
        ("run", "--"),
        ("run", "--nmae", "x", "--", "true"),
        ("run", "--runner", "docker", "--", "true"),
        ("run", "--env", "x", "--", "true"),
        ("run", "--name", "@x", "--", "true"),
        ("run", "--max-journal", "many", "--", "true"),
        ("run", "--env", "HOPLINE_RUN=x", "--", "true"),
        ("rnu",),
        ("logs",),
        ("logs", "x", "--raw", "--json"),
        ("logs", "x", "--tail", "-1"),
        ("stop", "x", "--grace", "soon"),
        ("prune", "--older-than", "long"),
        ("doctor", "--end", "5"),
        ("doctor", "--end", "1@0"),
    ],
)
def test_a_wrong_use(nothing_left: None, arguments: tuple[str, ...]) -> None:
    one_sentence(hopline(*arguments), 2)


def test_a_command_that_is_spelt_wrong_is_told_the_nearest(nothing_left: None) -> None:
    assert "did you mean 'run'?" in one_sentence(hopline("rnu"), 2)


@pytest.mark.parametrize(
    "arguments",
    [("show",), ("attach",), ("logs",), ("send", "x"), ("interrupt",), ("restart",), ("stop",), ("doctor",)],
)
@pytest.mark.parametrize("run", ["nobody", "@last", ""])
def test_an_unknown_run(nothing_left: None, arguments: tuple[str, ...], run: str) -> None:
    told = one_sentence(hopline(arguments[0], run, *arguments[1:]), 4)
    assert "hopline" in told.removeprefix("hopline: ")


def test_an_ambiguous_prefix(private_place: Path) -> None:
    for run_id in ("abc111111111", "abc222222222"):
        (private_place / "home" / "runs" / run_id).mkdir(parents=True)
    assert "write more of it" in one_sentence(hopline("show", "abc"), 2)


def test_a_dead_socket_is_named_and_the_run_can_still_be_read(private_place: Path) -> None:
    hopline("run", "--name", "over", "--", "echo", "kept")
    path = Path(shown("over")["instance"]["socket_path"])
    path.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as left_behind:
        path.unlink(missing_ok=True)
        left_behind.bind(str(path))
    assert hopline("logs", "over", "--raw").stdout == b"kept\n"
    one_sentence(hopline("send", "over", "x"), 4)


def test_a_runtime_folder_that_others_may_enter(nothing_left: None, private_place: Path) -> None:
    (private_place / "run" / "hopline").mkdir(mode=0o755)
    (private_place / "run" / "hopline").chmod(0o755)
    assert "chmod 700" in one_sentence(hopline("run", "--", "true"), 5)


def test_a_runtime_folder_that_is_a_link(nothing_left: None, private_place: Path, tmp_path: Path) -> None:
    (private_place / "run" / "hopline").symlink_to(tmp_path)
    assert "not a plain folder" in one_sentence(hopline("run", "--", "true"), 5)


def test_a_runtime_folder_of_somebody_else(nothing_left: None, private_place: Path) -> None:
    folder = private_place / "run" / "hopline"
    if os.getuid() != 0:
        pytest.skip("only root can make a folder of somebody else's")
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, 12345)
    assert "belongs to user 12345" in one_sentence(hopline("run", "--", "true"), 5)


def test_a_socket_path_that_is_too_long(nothing_left: None, private_place: Path) -> None:
    deep = private_place / "run" / ("x" * 90)
    deep.mkdir(mode=0o700)
    told = one_sentence(hopline("run", "--", "true", env={**os.environ, "XDG_RUNTIME_DIR": str(deep)}), 2)
    assert "XDG_RUNTIME_DIR" in told


def test_no_room_on_the_disk(nothing_left: None) -> None:
    assert "prune" in one_sentence(hopline("run", "--reserve", "1000TB", "--", "true"), 1)


def test_an_unknown_setting(nothing_left: None, private_place: Path) -> None:
    (private_place / "config.toml").write_text('runer = "bwrap"\n')
    assert "did you mean 'runner'?" in one_sentence(hopline("run", "--", "true"), 2)


def test_settings_that_cannot_be_read(nothing_left: None, private_place: Path) -> None:
    (private_place / "config.toml").write_text("runner = \n")
    one_sentence(hopline("run", "--", "true"), 2)
    (private_place / "config.toml").unlink()
    assert "does not exist" in one_sentence(hopline("run", "--", "true"), 2)


def test_a_second_server_for_one_run() -> None:
    record = detached("--", "sleep", "60")
    second = start_run(record["id"])
    with pytest.raises(HoplineError, match=f"hopline (attach|show) {record['id']}"):
        second.begin(RunSpec(id=record["id"], name="x", command=["true"], cwd="/"))
    assert shown()["live"]


@pytest.mark.parametrize("descriptors", [5, 7, 9, 12, 14, 16])
def test_no_descriptors_left(nothing_left: None, descriptors: int) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

    told = one_sentence(hopline("run", "--", "true", preexec_fn=limit), 1)
    assert "descriptors" in told or "ulimit" in told or "open files" in told


@pytest.mark.parametrize("arguments", [("ls",), ("show", "x"), ("run", "--", "true"), ("doctor",), ("prune",)])
def test_a_home_that_is_no_folder(arguments: tuple[str, ...], private_place: Path) -> None:
    (private_place / "home").touch()
    told = one_sentence(hopline(*arguments), 1)
    assert str(private_place / "home") in told


def test_an_argument_that_is_not_text(nothing_left: None) -> None:
    assert "UTF-8" in one_sentence(hopline("run", "--", "echo", os.fsdecode(b"\xff")), 2)


def test_standard_descriptors_that_are_closed(nothing_left: None) -> None:
    told = subprocess.run(
        ["sh", "-c", f"{HOPLINE} ls <&- 2>&-; {HOPLINE} ls >&- 2>&-; echo $?"], capture_output=True, check=False
    )
    assert told.stdout.endswith(b"0\n")
    assert b"no runs yet" in told.stdout
