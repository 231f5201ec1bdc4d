import os
import time
from pathlib import Path

import pytest

from hopline.cli import listing, prune
from hopline.clock import rfc3339
from hopline.errors import UsageError
from hopline.records import LOCK_FILE, RunRecord, hold_lock, run_folder, write_record


def record(run_id: str, status: str = "completed", *, hours_ago: float = 0.0, **more: object) -> RunRecord:
    moment = rfc3339(time.time() - hours_ago * 3600)
    ended = None if status == "running" else moment
    return RunRecord(
        id=run_id,
        run_id=run_id,
        name=f"name-{run_id}",
        status=status,
        pid=1,
        socket_path="/none",
        started_at=moment,
        command=["sh", "-c", "echo a\tb"],
        cwd="/",
        journal="/none",
        ended_at=ended,
        **more,
    )


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def keep(kept: RunRecord) -> RunRecord:
    run_folder(kept.id).mkdir(parents=True)
    write_record(kept)
    return kept


def test_live_runs_and_the_latest_that_ended_are_listed() -> None:
    ended = [(record(f"{number:02}"), False) for number in range(15)]
    live = [(record("aa", "running"), True)]
    chosen = [one.id for one, _ in listing.select(live + ended)]
    assert chosen == ["aa", *(f"{number:02}" for number in range(5, 15))]


def test_a_run_whose_server_died_is_interrupted() -> None:
    assert listing.as_shown(record("a", "running", waiting="x"), live=False).status == "interrupted"
    assert listing.as_shown(record("a", "running"), live=True).status == "running"
    assert listing.as_shown(record("a", "failed"), live=False).status == "failed"


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({}, "failed"),
        ({"exit_code": 7}, "failed (7)"),
        ({"signal": 9}, "failed (SIGKILL)"),
        ({"signal": 250}, "failed (signal 250)"),
        ({"waiting": "no\x1broom"}, "failed, held: no\N{REPLACEMENT CHARACTER}room"),
    ],
)
def test_the_status_says_how_it_ended(more: dict[str, object], text: str) -> None:
    assert listing.status(record("a", "failed", **more)) == text


def test_the_table_fits_the_terminal_and_no_command_drives_it() -> None:
    text = listing.text([record("abcdef123456")], 60)
    head, row = text.splitlines()
    assert head.split() == ["RUN", "NAME", "STATUS", "AGE", "COMMAND"]
    assert len(row) < 60
    assert "\t" not in text
    assert "echo a" in listing.text([record("a")], 0)


def test_a_record_that_cannot_be_read_is_unverified(home: Path) -> None:
    keep(record("good"))
    run_folder("bad").mkdir(parents=True)
    (run_folder("bad") / "record.json").write_text("{")
    run_folder("starting").mkdir(parents=True)
    assert listing.unreadable() == ["bad"]


def test_what_ended_long_ago_goes_and_the_newest_stay(home: Path) -> None:
    every = [record(f"{number}", hours_ago=10 - number) for number in range(5)]
    assert [one.id for one in prune.choose(every, 7.5 * 3600, 0)] == ["0", "1", "2"]
    assert [one.id for one in prune.choose(every, 7.5 * 3600, 4)] == ["0"]
    assert prune.choose(every, 7.5 * 3600, 9) == []


def test_a_live_run_is_never_chosen_and_never_removed(home: Path) -> None:
    live = keep(record("live", "running", hours_ago=1000))
    lock = hold_lock("live")
    try:
        assert prune.choose([live], 0, 0) == []
        assert not prune.remove("live")
        assert run_folder("live").exists()
    finally:
        os.close(lock)
    assert [one.id for one in prune.choose([live], 0, 0)] == ["live"]


def test_removing_a_run_takes_its_folders(home: Path) -> None:
    keep(record("old"))
    (home / "hopline" / "runs" / "old").mkdir(parents=True)
    assert prune.remove("old")
    assert not run_folder("old").exists()
    assert not (home / "hopline" / "runs" / "old").exists()
    assert not (run_folder("old") / LOCK_FILE).exists()


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("1.5h", 5400), ("30d", 2_592_000), (" 2W ", 1_209_600)])
def test_an_age_has_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert prune.parse_age(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "30 days"])
def test_anything_else_is_no_age(text: str) -> None:
    with pytest.raises(UsageError, match="--older-than"):
        prune.parse_age(text)


def test_a_live_run_is_not_shown_with_what_ended_an_earlier_generation() -> None:
    assert listing.status(record("a", "running", signal=15, generation=2)) == "running"


def test_why_a_run_is_held_is_two_words_in_the_table_and_a_sentence_elsewhere() -> None:
    held = record("a", "running", waiting="the journal has reached its bound (--max-journal)")
    assert listing.status(held, short=True) == "running, held: journal bound"
    assert listing.status(held) == "running, held: the journal has reached its bound (--max-journal)"
    full = record("b", "running", waiting="less than the reserve of 5 bytes is free on the journal's volume")
    assert listing.status(full, short=True) == "running, held: no room"
