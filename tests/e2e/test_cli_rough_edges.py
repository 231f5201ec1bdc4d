"""What a shell, a file system or a limit hands over that is out of the ordinary gets one sentence or works."""

import json
import os
import resource
import subprocess
from pathlib import Path

import pytest
from cli_rig import HOPLINE, detached, hopline, one_sentence, shown, wait_until_over, wait_until_unserved

ODD = b"caf\xe9"
"""No UTF-8."""


def test_a_folder_whose_name_is_not_utf8_is_refused_in_one_sentence(private_place: Path) -> None:
    odd = private_place / os.fsdecode(ODD)
    odd.mkdir()
    assert "is not UTF-8" in one_sentence(hopline("run", "--", "true", cwd=odd), 2)
    assert "is not UTF-8" in one_sentence(hopline("run", "--cwd", str(odd), "--", "true"), 2)
    assert "is not UTF-8" in one_sentence(hopline("run", "--name", os.fsdecode(ODD), "--", "true"), 2)


def test_a_home_whose_name_is_not_utf8_is_refused_in_one_sentence(private_place: Path) -> None:
    odd = os.fsdecode(os.fsencode(private_place) + b"/" + ODD)
    for command in (("run", "--", "true"), ("ls",), ("doctor", "--json")):
        assert "HOPLINE_HOME names" in one_sentence(hopline(*command, env={**os.environ, "HOPLINE_HOME": odd}), 2)


def test_a_stray_folder_whose_name_is_not_utf8_does_not_trouble_the_doctor(private_place: Path) -> None:
    hopline("ls")
    stray = private_place / "run" / "hopline" / "runs" / os.fsdecode(ODD)
    stray.mkdir(parents=True)
    stray.parent.parent.chmod(0o700)
    told = hopline("doctor", "--json")
    assert b"Traceback" not in told.stderr
    assert json.loads(told.stdout)["stale_sockets"][0].endswith("caf\\xe9")


def test_pruning_with_nobody_to_ask_is_refused() -> None:
    hopline("run", "--", "true")
    wait_until_over()
    assert "--yes" in one_sentence(hopline("prune", "--older-than", "0s"), 2)
    assert hopline("prune", "--older-than", "0s", "--dry-run").returncode == 0
    assert b"removed 1 run" in hopline("prune", "--older-than", "0s", "--yes").stdout


def test_a_broken_record_is_looked_at_when_its_run_is_named() -> None:
    record = detached("--", "true")
    wait_until_over(record["id"])
    wait_until_unserved(record["id"])
    path = Path(record["journal"]).parent / "record.json"
    path.write_text("{")
    told = hopline("doctor", record["id"])
    assert told.returncode == 1
    assert str(path) in told.stdout.decode()
    assert b"journals     1 read" in told.stdout


def test_a_descriptor_past_the_limit_does_not_keep_a_run_from_starting(tmp_path: Path) -> None:
    with (tmp_path / "held").open("w") as held:
        high = 300
        os.dup2(held.fileno(), high, inheritable=True)
        try:
            found = subprocess.run(
                [HOPLINE, "run", "--", "echo", "fine"],
                capture_output=True,
                check=False,
                timeout=30,
                stdin=subprocess.DEVNULL,
                close_fds=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)),
            )
        finally:
            os.close(high)
    assert (found.returncode, found.stdout) == (0, b"fine\n"), found.stderr


def test_a_full_standard_output_is_what_the_sentence_speaks_of() -> None:
    with Path("/dev/full").open("wb") as full:
        command = [HOPLINE, "run", "--", "echo", "hi"]
        found = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, check=False)
        assert found.returncode == 1
        assert found.stderr.startswith(b"hopline: cannot write to standard output: No space left on device;")
        assert b"prune" not in found.stderr
        found = subprocess.run([HOPLINE, "ls"], stdin=subprocess.DEVNULL, stdout=full, stderr=-1, check=False)
        assert found.returncode == 1
        assert found.stderr.startswith(b"hopline: cannot write to standard output")


@pytest.mark.parametrize("line", ["stop_grace_seconds = nan", "stop_grace_seconds = inf", "max_journal = -5"])
def test_a_number_that_makes_no_sense_is_named_with_its_setting_and_file(private_place: Path, line: str) -> None:
    config = private_place / "config.toml"
    config.write_text(line + "\n")
    told = one_sentence(hopline("run", "--", "true"), 2)
    assert line.partition(" ")[0] in told
    assert str(config) in told


def test_the_default_reserve_can_be_asked_for() -> None:
    assert hopline("run", "--reserve", "-1", "--", "true").returncode == 0


def test_all_survivors_of_a_run_are_ended_at_once() -> None:
    hopline(
        "run", "--name", "forks", "--", "sh", "-c", "(setsid sleep 600 & setsid sleep 601 &) >/dev/null 2>&1; sleep 0.3"
    )
    assert shown("forks")["instance"]["survivors"] == 2
    wait_until_unserved("forks")
    ended = hopline("doctor", "forks", "--end", "all")
    assert ended.returncode == 0, ended
    assert ended.stdout.count(b"ended: process ") == 2
    assert b"no process of run" in hopline("doctor", "forks", "--end", "all").stdout
    assert "goes with a RUN" in one_sentence(hopline("doctor", "--end", "all"), 2)


def test_what_is_refused_is_not_echoed_whole() -> None:
    assert len(one_sentence(hopline("run", "--name", "x" * 5000, "--", "true"), 2)) < 300
    assert one_sentence(hopline("zzzzzz"), 2).count("hopline --help") == 1
