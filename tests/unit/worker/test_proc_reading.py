"""What /proc says, and what is made of it when it says strange things."""

import os
from pathlib import Path

import psutil
import pytest

from hopline.worker import processes


def test_this_process_is_what_psutil_says_it_is() -> None:
    me = processes.look_up(os.getpid())
    assert me is not None
    assert (me.parent, me.ended) == (os.getppid(), False)
    assert me.name == psutil.Process().name()[:15]
    assert abs(processes.boot_time() + me.start_time - psutil.Process().create_time()) < 1.5
    assert any(process.pid == me.pid for process in processes.every())


def test_a_name_with_spaces_and_brackets_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PROC", tmp_path)
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "stat").write_bytes(b"7 (a) b ( c) Z 3 " + b"0 " * 17 + b"500 0\n")
    process = processes.look_up(7)
    assert process is not None
    assert (process.name, process.state, process.parent, process.ended) == ("a) b ( c", "Z", 3, True)
    assert process.start_time == 500 / os.sysconf("SC_CLK_TCK")


def test_a_process_that_is_not_there_is_none() -> None:
    assert processes.look_up(2**22 - 1) is None
    assert processes.environment(2**22 - 1) is None


def test_a_listing_without_this_process_is_no_listing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PROC", tmp_path)
    with pytest.raises(FileNotFoundError):
        list(processes.every())


def test_an_environment_is_read_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PROC", tmp_path)
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "environ").write_bytes(b"A=1\0B=x=y\0odd\0")
    variables = processes.environment(7)
    assert variables is not None and (variables[b"A"], variables[b"B"], variables[b"odd"]) == (b"1", b"x=y", b"")


def test_a_machine_that_does_not_tell_its_boot_time_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PROC", tmp_path)
    (tmp_path / "stat").write_bytes(b"cpu 1 2 3\n")
    assert processes.boot_time() == 0.0
