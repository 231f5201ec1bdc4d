"""In which order runs are listed, which need a look, and when rows may change places. Pure; the same as on the page."""

import math
from collections.abc import Callable, Iterable, Sequence

from hopline.client.roster import Row
from hopline.clock import parse_rfc3339
from hopline.tui.words import Tone, tone_of

FRESH_SECONDS = 12 * 3600.0
"""How long after its end a failed run that nobody has looked at stands among what is wrong."""

RECENT_SLOTS = 6
"""Activity is compared over the last minute."""

STILL_SECONDS = 2.0
"""Rows keep their places until the person's hand has been still for this long."""


def activity(row: Row) -> int:
    """How busy a run is, in coarse steps, so that rows do not change places for a trifle."""
    recent = sum(row.rates[-RECENT_SLOTS:])
    return 0 if recent <= 0 else int(math.log(recent, 8)) + 1


def moment(text: str | None) -> float:
    """Seconds since the epoch; 0 when it is no time."""
    try:
        return 0.0 if text is None else parse_rfc3339(text)
    except ValueError:
        return 0.0


def ended_at(row: Row) -> float:
    """When the run ended, or began when that is not known."""
    return moment(row.record.ended_at) or moment(row.record.started_at)


def is_wrong(row: Row, now: float, seen: Callable[[str], bool]) -> bool:
    """Whether somebody should look at it."""
    wrong = tone_of(row.status) is Tone.WRONG or row.record.descendants == "remaining"
    return wrong and now - ended_at(row) < FRESH_SECONDS and not seen(row.record.id)


def rank(row: Row, now: float, seen: Callable[[str], bool]) -> int:
    """0 comes first: waiting, wrong, live, ended."""
    if row.waiting:
        return 0
    if is_wrong(row, now, seen):
        return 1
    return 2 if row.live else 3


def ordered(rows: Iterable[Row], now: float, seen: Callable[[str], bool] = lambda _: False) -> list[Row]:
    """Waiting, then wrong, then live by activity, then ended with the latest first.

    Args:
        now: seconds since the epoch.
        seen: whether a person has opened this run since it ended.
    """

    def place(row: Row) -> tuple[float, ...]:
        if row.live:
            return (rank(row, now, seen), 0, -activity(row), -moment(row.record.started_at))
        return (rank(row, now, seen), 1, -ended_at(row), 0.0)

    return sorted(sorted(rows, key=lambda row: row.record.id), key=place)


def in_place(before: Sequence[str], rows: Sequence[Row]) -> list[Row]:
    """`rows` in the places that the ids of `before` gave; new ones behind them."""
    places = {run_id: place for place, run_id in enumerate(before)}
    return sorted(rows, key=lambda row: places.get(row.record.id, len(before)))


def matches(row: Row, words: str) -> bool:
    """Whether every word stands in the run's name, id, command, folder or state."""
    record = row.record
    parts = (record.name, record.id, *record.command, record.cwd, row.status, row.waiting or "")
    text = " ".join(parts).lower()
    return all(word in text for word in words.lower().split())


def tally(rows: Iterable[Row], midnight: float) -> tuple[int, int, int]:
    """(running, waiting, ended since `midnight`)."""
    running = waiting = ended = 0
    for row in rows:
        if row.waiting:
            waiting += 1
        elif row.live:
            running += 1
        elif ended_at(row) >= midnight:
            ended += 1
    return running, waiting, ended
