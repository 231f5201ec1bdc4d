"""Every run there is, looked at again and again: what is read anew, and how fast a journal grows."""

import fcntl
import os
from pathlib import Path

import msgspec
import pytest
from tui_rows import row

from hopline import roster
from hopline.records import RunRecord, hold_lock, read_record, run_folder, write_record
from hopline.roster import SLOT_SECONDS, SLOTS, Activity, LocalRuns


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path))


def kept(run_id: str, *, live: bool = False, size: int = 0, **fields: object) -> RunRecord:
    """A run on disk; its lock is held for the rest of the test when it lives."""
    folder = run_folder(run_id)
    (folder / "journal" / "segments").mkdir(parents=True)
    (folder / "journal" / "segments" / "1.jsonl").write_bytes(bytes(size))
    found = row(run_id, live=live, **fields).record
    record = msgspec.structs.replace(found, journal=str(folder / "journal"))
    write_record(record)
    if live:
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    return record


def test_each_run_is_told_with_its_liveness_and_size() -> None:
    kept("aaa", live=True, size=1000)
    kept("bbb", size=70)
    kept("ccc", status="running")
    found = LocalRuns().look(0.0)
    told = {run_id: (one.status, one.live, one.size) for run_id, one in found.rows.items()}
    assert told == {
        "aaa": ("running", True, 1000),
        "bbb": ("completed", False, 70),
        "ccc": ("interrupted", False, 0),
    }
    assert found.rows["bbb"].rates == ()
    assert (found.older, found.unreadable) == (0, ())


def test_only_a_record_that_changed_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kept("aaa")
    kept("bbb")
    read: list[str] = []

    def noted(run_id: str) -> RunRecord:
        read.append(run_id)
        return read_record(run_id)

    monkeypatch.setattr(roster, "read_record", noted)
    runs = LocalRuns()
    runs.look(0.0)
    runs.look(1.0)
    assert sorted(read) == ["aaa", "bbb"]
    write_record(msgspec.structs.replace(read_record("aaa"), name="another"))
    assert runs.look(2.0).rows["aaa"].record.name == "another"
    assert len(read) == 3


def test_a_record_that_cannot_be_understood_is_named_and_a_folder_without_one_is_not() -> None:
    kept("aaa")
    for run_id in ("bad", "new"):
        run_folder(run_id).mkdir()
    (run_folder("bad") / "record.json").write_text("{")
    found = LocalRuns().look(0.0)
    assert found.unreadable == ("bad",)
    assert list(found.rows) == ["aaa"]


def test_of_many_that_ended_the_latest_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roster, "LISTED_ENDED", 2)
    for number in range(5):
        kept(f"r{number}", ended_at=f"2026-03-01T12:0{number}:00Z")
    found = LocalRuns().look(0.0)
    assert (sorted(found.rows), found.older) == (["r3", "r4"], 3)


def test_growth_is_told_for_the_time_in_which_it_was() -> None:
    kept("aaa", live=True, size=100)
    segment = run_folder("aaa") / "journal" / "segments" / "1.jsonl"
    runs = LocalRuns()
    assert runs.look(0.0).rows["aaa"].rates == (0,)
    segment.write_bytes(bytes(600))
    assert runs.look(1.0).rows["aaa"].rates == (500,)
    segment.write_bytes(bytes(700))
    assert runs.look(SLOT_SECONDS + 1).rows["aaa"].rates == (500, 100)


def test_growth_falls_into_its_slots() -> None:
    activity = Activity(0.0, 100)
    assert activity.observe(1.0, 150) == (50,)
    assert activity.observe(SLOT_SECONDS - 0.1, 160) == (60,)
    assert activity.observe(SLOT_SECONDS * 2 + 1, 170) == (60, 0, 10)


def test_a_journal_that_shrank_did_not_grow_and_old_slots_go() -> None:
    activity = Activity(0.0, 100)
    assert activity.observe(1.0, 40) == (0,)
    assert activity.observe(2.0, 50) == (10,)
    assert len(activity.observe(SLOT_SECONDS * 1000, 60)) == SLOTS
    assert activity.observe(SLOT_SECONDS * 1000 + 1, 60)[-1] == 10


def test_a_run_that_is_gone_is_forgotten() -> None:
    kept("aaa")
    runs = LocalRuns()
    runs.look(0.0)
    (run_folder("aaa") / "record.json").unlink()
    assert runs.look(1.0).rows == {}
    runs.close()


def test_without_runs_there_are_no_rows() -> None:
    assert LocalRuns().look(0.0).rows == {}


def test_a_run_whose_server_goes_is_interrupted_and_has_no_rates() -> None:
    kept("aaa", status="running")
    lock = hold_lock("aaa")
    runs = LocalRuns()
    assert runs.look(0.0).rows["aaa"].status == "running"
    os.close(lock)
    gone = runs.look(1.0).rows["aaa"]
    assert (gone.status, gone.rates) == ("interrupted", ())


def test_a_record_that_breaks_takes_its_row_away() -> None:
    kept("aaa")
    runs = LocalRuns()
    runs.look(0.0)
    (run_folder("aaa") / "record.json").write_text("{")
    found = runs.look(1.0)
    assert (found.rows, found.unreadable) == ({}, ("aaa",))


def test_a_time_that_cannot_be_read_sorts_last() -> None:
    kept("odd", ended_at="yesterday")
    kept("fine", ended_at="2026-03-01T12:00:00Z")
    assert list(LocalRuns().look(0.0).rows) == ["fine", "odd"]


def test_one_run_may_be_looked_at_alone() -> None:
    kept("aaa")
    kept("bbb")
    assert list(LocalRuns("bbb").look(0.0).rows) == ["bbb"]
    assert LocalRuns("ccc").look(0.0) == roster.Roster()
