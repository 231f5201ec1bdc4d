"""The listing reads again only what has changed."""

import os
from pathlib import Path

import msgspec
import pytest

from hopline.ids import RunId
from hopline.records import RunRecord, hold_lock, run_folder, write_record
from hopline.serve.gateway import survey
from hopline.serve.gateway.survey import Survey


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path))
    return tmp_path


def made(number: int, status: str = "completed", **changes: object) -> RunRecord:
    run_id = RunId(f"{number:012x}")
    run_folder(run_id).mkdir(parents=True, exist_ok=True)
    record = RunRecord(
        id=run_id,
        run_id=run_id,
        name=f"run {number}",
        status=status,
        pid=1,
        socket_path="/s",
        started_at="2026-01-01T00:00:00.000Z",
        command=["true"],
        cwd="/",
        journal=str(run_folder(run_id) / "journal"),
        ended_at=f"2026-01-01T00:{number % 60:02d}:00.000Z",
    )
    record = msgspec.structs.replace(record, **changes)
    write_record(record)
    return record


def test_without_runs_there_are_no_rows() -> None:
    assert Survey().look(0.0) == {}


def test_a_live_run_has_rates_and_one_whose_server_is_gone_is_interrupted(home: Path) -> None:
    live, lost = made(1, "running", ended_at=None), made(2, "running", ended_at=None)
    lock = hold_lock(live.id)
    segments = Path(live.journal) / "segments"
    segments.mkdir(parents=True)
    looking = Survey()
    looking.look(0.0)
    (segments / "1.jsonl").write_bytes(b"x" * 500)
    rows = looking.look(1.0)
    assert (rows[live.id].status, rows[live.id].bytes, rows[live.id].rates) == ("running", 500, [500])
    assert (rows[lost.id].status, rows[lost.id].live) == ("interrupted", False)

    os.close(lock)
    assert looking.look(2.0)[live.id].status == "interrupted"


def test_only_the_latest_ended_are_listed_and_the_rest_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "LISTED_ENDED", 2)
    for number in range(5):
        made(number)
    looking = Survey()
    assert sorted(row.name for row in looking.look(0.0).values()) == ["run 3", "run 4"]
    assert looking.older == 3


def test_a_record_that_changed_is_read_again_and_a_broken_one_is_named() -> None:
    record = made(1)
    looking = Survey()
    assert looking.look(0.0)[record.id].name == "run 1"
    write_record(msgspec.structs.replace(record, name="renamed"))
    assert looking.look(1.0)[record.id].name == "renamed"
    (run_folder(record.id) / "record.json").write_text("{")
    assert looking.look(2.0) == {}
    assert looking.unreadable == [record.id]


def test_a_time_that_cannot_be_read_sorts_last() -> None:
    odd, fine = made(1, ended_at="yesterday"), made(2)
    assert list(Survey().look(0.0)) == [fine.id, odd.id]
