import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hopline import records
from hopline.errors import RunGone, Unavailable, UsageError
from hopline.ids import RunId


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path))
    return tmp_path


def keep(
    run_id: str, name: str = "job", started_at: str = "2026-01-01T00:00:00.000Z", status: str = "completed"
) -> None:
    records.run_folder(run_id).mkdir(parents=True)
    records.write_record(
        records.RunRecord(
            id=RunId(run_id),
            run_id=run_id,
            name=name,
            status=status,
            pid=1,
            socket_path="/s",
            started_at=started_at,
            command=["true"],
            cwd="/",
            journal="/j",
        )
    )


def test_a_record_is_read_as_it_was_written_and_is_private() -> None:
    keep("aa00")
    assert records.read_record("aa00").name == "job"
    assert (records.run_folder("aa00") / "record.json").stat().st_mode & 0o777 == 0o600


def test_a_missing_record_says_how_to_list_the_runs() -> None:
    with pytest.raises(RunGone, match="hopline ls --all"):
        records.read_record("nosuch")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"id":1}', b"\xff"])
def test_a_broken_record_is_unavailable_and_names_the_doctor(content: bytes) -> None:
    keep("aa00")
    (records.run_folder("aa00") / "record.json").write_bytes(content)
    with pytest.raises(Unavailable, match="hopline doctor"):
        records.read_record("aa00")
    assert list(records.records()) == []


def test_no_runs_folder_means_no_runs() -> None:
    assert records.run_ids() == []
    with pytest.raises(RunGone, match="start one"):
        records.resolve("@last")


def test_a_run_is_found_by_id_prefix_name_and_last() -> None:
    keep("aa00", "one", "2026-01-01T00:00:00.000Z")
    keep("ab11", "two", "2026-01-03T00:00:00.000Z")
    keep("bb22", "one", "2026-01-02T00:00:00.000Z")
    assert records.resolve("aa00").id == "aa00"
    assert records.resolve("b").id == "bb22"
    assert records.resolve("one").id == "bb22"
    assert records.resolve("@last").id == "ab11"


def test_an_ambiguous_prefix_is_a_usage_error_that_names_the_candidates() -> None:
    keep("aa00")
    keep("ab11")
    with pytest.raises(UsageError, match="begins 2 run ids"):
        records.resolve("a")


@pytest.mark.parametrize("run", ["", "nosuch", "../aa00", "aa00/", "."])
def test_anything_else_is_no_run(run: str) -> None:
    keep("aa00")
    with pytest.raises(RunGone):
        records.resolve(run)


def test_liveness_is_the_lock_and_not_the_pid() -> None:
    keep("aa00", status="running")
    assert records.shown_status(records.read_record("aa00")) == "interrupted"
    held = records.hold_lock("aa00")
    assert records.is_live("aa00")
    assert records.shown_status(records.read_record("aa00")) == "running"
    with pytest.raises(Unavailable, match="already has a server"):
        records.hold_lock("aa00")
    os.close(held)
    assert not records.is_live("aa00")


def test_a_lock_dies_with_its_process() -> None:
    keep("aa00", status="running")
    script = (
        "from hopline import records; import os, sys; records.hold_lock('aa00');"
        "sys.stdout.write('held\\n'); sys.stdout.flush(); sys.stdin.read()"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    assert records.is_live("aa00")
    process.kill()
    process.communicate()
    assert not records.is_live("aa00")


def test_asking_whether_a_run_lives_leaves_its_lock_free() -> None:
    keep("aa00", status="running")
    os.close(records.hold_lock("aa00"))
    for _ in range(3):
        assert not records.is_live("aa00")
    descriptor = os.open(records.run_folder("aa00") / "lock", os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(descriptor)


def test_an_ended_run_keeps_its_status_without_a_lock() -> None:
    keep("aa00", status="failed")
    assert records.shown_status(records.read_record("aa00")) == "failed"
