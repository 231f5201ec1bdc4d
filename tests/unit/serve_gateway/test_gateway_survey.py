"""The listing reads again only what has changed, and says what an ended run has left behind."""

import os
from pathlib import Path

import msgspec
import pytest

from hopline.ids import RunId
from hopline.journal.journal import Journal
from hopline.journal.port import JournalOptions
from hopline.records import RunRecord, hold_lock, run_folder, write_record
from hopline.serve.gateway import survey
from hopline.serve.gateway.survey import Survey
from hopline.wire.client.events import EventEncoder
from hopline.wire.client.payloads import Descendant, Descendants, WorkerRetired
from hopline.wire.client.responses import diagnosed


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


def journal_of(record: RunRecord) -> None:
    journal = Journal.create(
        Path(record.journal), record.run_id, JournalOptions(reserve_bytes=0), lambda: None, lambda _: None
    )
    encoder = EventEncoder(record.run_id)
    survivor = Descendant(pid=7, name="node", started_at="2026-01-01T00:00:00Z", start_time=1.0)
    retired = WorkerRetired(
        generation=1, runner="direct", how="marker", descendants=Descendants(state="remaining", processes=[survivor])
    )
    failed = diagnosed("d", "worker_failed", "The worker exited with status 2.")
    journal.append(encoder.line(1, "2026-01-01T00:00:00Z", "worker_retired", data=retired), kind="worker_retired")
    journal.append(
        encoder.line(2, "2026-01-01T00:00:00Z", "run_failed", status="failed", diagnostic=failed), kind="run_failed"
    )
    journal.close()


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


def test_the_end_of_a_journal_tells_what_was_left_behind() -> None:
    record = made(1, "failed")
    journal_of(record)
    left = Survey().look(0.0)[record.id].aftermath
    assert left is not None
    assert (left.reason, left.descendants, left.survivors) == ("The worker exited with status 2.", "remaining", 1)


def test_a_journal_that_cannot_be_read_says_nothing() -> None:
    record = made(1, "failed")
    left = Survey().look(0.0)[record.id].aftermath
    assert left is not None
    assert (left.reason, left.descendants) == (None, None)


def test_journals_are_opened_a_few_at_a_time_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "AFTERMATHS_AT_A_TIME", 2)
    opened: list[str] = []
    known = survey.aftermath_of
    monkeypatch.setattr(survey, "aftermath_of", lambda record: (opened.append(record.id), known(record))[1])
    for number in range(5):
        made(number)
    looking = Survey()
    looking.look(0.0)
    assert len(opened) == 2
    for turn in range(4):
        looking.look(1.0 + turn)
    assert len(opened) == len(set(opened)) == 5


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
