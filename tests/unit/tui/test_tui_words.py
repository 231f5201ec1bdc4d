"""States and figures in words, the order of the list, and the bars of its last minutes."""

import pytest
from tui_rows import NOON, row

from hopline.clock import parse_rfc3339
from hopline.tui.order import in_place, is_wrong, matches, ordered, tally
from hopline.tui.words import MARKS, Tone, age, clock, count, exact_age, outcome, sparkline, state_of, tone_of

NOW = parse_rfc3339(NOON) + 3600


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-1, "0s"), (8, "8s"), (60, "1m"), (3599, "59m"), (3720, "1h 02m"), (86_400 * 5 + 4 * 3600, "5d 4h")],
)
def test_an_age_is_short(seconds: float, words: str) -> None:
    assert age(seconds) == words


def test_an_exact_age_has_seconds_while_there_are_minutes() -> None:
    assert [exact_age(seconds) for seconds in (8, 724, 3720)] == ["8s", "12m 04s", "1h 02m"]


def test_counting_knows_one_from_many() -> None:
    assert [count(value, "event") for value in (0, 1, 2310)] == ["0 events", "1 event", "2,310 events"]


def test_a_time_that_is_none_is_empty() -> None:
    assert clock(None) == clock("soon") == ""
    assert len(clock(NOON)) == 8


def test_every_tone_has_a_shape_of_its_own() -> None:
    assert set(MARKS) == set(Tone)
    assert len(set(MARKS.values())) == len(Tone)


@pytest.mark.parametrize(
    ("status", "code", "signal", "words"),
    [
        ("completed", 0, None, "completed"),
        ("failed", 2, None, "failed: exit 2"),
        ("failed", None, 9, "failed: SIGKILL"),
        ("stopped", 0, None, "stopped: exit 0"),
        ("stopped", None, 999, "stopped: signal 999"),
        ("failed", None, None, "failed"),
    ],
)
def test_an_outcome_says_status_and_why(status: str, code: int | None, signal: int | None, words: str) -> None:
    assert outcome(status, code, signal) == words


@pytest.mark.parametrize(
    ("run", "words", "tone"),
    [
        (row(), "running", Tone.RUNNING),
        (row(generation=3), "running, generation 3", Tone.RUNNING),
        (row(waiting="the disk is full\x1b[2J"), "waiting: the disk is full�[2J", Tone.WAITING),
        (row(live=False), "completed", Tone.DONE),
        (
            row(live=False, status="failed", exit_code=2, descendants="gone"),
            "failed: exit 2, descendants gone",
            Tone.WRONG,
        ),
        (
            row(live=False, exit_code=0, descendants="remaining", survivors=2),
            "completed, 2 processes left behind",
            Tone.DONE,
        ),
        (row(live=False, status="running"), "interrupted: its server is gone", Tone.WRONG),
        (row(live=False, status="stopped", signal=15), "stopped: SIGTERM", Tone.STOPPED),
        (row(status="paused"), "paused", Tone.PAUSED),
        (row(status="a new one"), "a new one", Tone.RUNNING),
    ],
)
def test_a_run_s_state_is_a_sentence_and_a_tone(run: object, words: str, tone: Tone) -> None:
    assert state_of(run) == words  # type: ignore[arg-type]  # a Row
    assert tone_of(run.status, waiting=bool(run.waiting)) is tone  # type: ignore[attr-defined]  # a Row


def test_bars_show_the_newest_rates_and_a_silence_is_blank() -> None:
    assert sparkline((0, 1, 0, 100), 6) == "   ▁ █"
    assert sparkline(range(50), 3)[-1] == "█"
    assert sparkline((), 4) == "    "
    assert sparkline((1,), 0) == ""


def listed(rows: list[object], **options: object) -> list[str]:
    return [one.record.id for one in ordered(rows, NOW, **options)]  # type: ignore[arg-type, attr-defined]  # Rows


WAITING = row("waiting", waiting="room")
WRONG = row("wrong", live=False, status="failed", ended_at="2026-03-01T12:30:00Z")
LEFT = row("left", live=False, descendants="remaining", ended_at="2026-03-01T12:20:00Z")
BUSY = row("busy", rates=(0, 5000))
IDLE = row("idle", rates=(0, 0))
DONE = row("done", live=False, ended_at="2026-03-01T12:50:00Z")
OLDER = row("older", live=False, ended_at="2026-03-01T12:10:00Z")
OLD_WRONG = row("oldwrong", live=False, status="failed", ended_at="2026-02-01T12:10:00Z")


def test_what_waits_comes_first_then_what_is_wrong_then_the_busy_then_the_ended() -> None:
    rows: list[object] = [OLDER, IDLE, LEFT, DONE, OLD_WRONG, BUSY, WRONG, WAITING]
    assert listed(rows) == ["waiting", "wrong", "left", "busy", "idle", "done", "older", "oldwrong"]
    assert listed(rows[::-1]) == listed(rows)


def test_what_was_seen_is_no_longer_wrong() -> None:
    assert listed([DONE, WRONG], seen=lambda run_id: run_id == "wrong") == ["done", "wrong"]
    assert is_wrong(WRONG, NOW, lambda _: False)
    assert not is_wrong(OLD_WRONG, NOW, lambda _: False)


def test_rows_stay_where_they_were_and_new_ones_come_last() -> None:
    before = ["older", "idle"]
    assert [one.record.id for one in in_place(before, [WAITING, IDLE, OLDER])] == ["older", "idle", "waiting"]


def test_a_search_wants_every_word_anywhere() -> None:
    assert matches(row(name="fix-auth", cwd="/home/me"), "AUTH home")
    assert not matches(row(name="fix-auth"), "auth nothing")


def test_the_tally_counts_each_run_once() -> None:
    assert tally([WAITING, BUSY, IDLE, DONE, OLD_WRONG], parse_rfc3339("2026-03-01T00:00:00Z")) == (2, 1, 1)


def test_a_time_that_cannot_be_read_is_the_oldest() -> None:
    odd = row("odd", live=False, started_at="then", ended_at="whenever")
    assert listed([odd, DONE]) == ["done", "odd"]
