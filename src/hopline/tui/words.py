"""Figures and states in a person's words, the same as on the page. Pure."""

import time
from collections.abc import Sequence
from enum import StrEnum

from hopline.client.roster import Row
from hopline.clock import parse_rfc3339
from hopline.rendering import command, plain, size

__all__ = ["Tone", "age", "clock", "command", "count", "exact_age", "number", "outcome", "plain", "size", "state_of"]


class Tone(StrEnum):
    """What kind of state it is: told by a shape and a word, and by a colour where there are colours."""

    WAITING = "waiting"
    WRONG = "wrong"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    STOPPED = "stopped"


MARKS = {
    Tone.WAITING: "▲",
    Tone.WRONG: "✕",
    Tone.RUNNING: "●",
    Tone.PAUSED: "◐",
    Tone.DONE: "✓",
    Tone.STOPPED: "■",
}

_TONES = {
    "starting": Tone.RUNNING,
    "running": Tone.RUNNING,
    "pausing": Tone.PAUSED,
    "paused": Tone.PAUSED,
    "stopping": Tone.STOPPED,
    "stopped": Tone.STOPPED,
    "completed": Tone.DONE,
    "failed": Tone.WRONG,
    "interrupted": Tone.WRONG,
}

_BARS = "▁▂▃▄▅▆▇█"


def tone_of(status: str, *, waiting: bool = False) -> Tone:
    """The tone of a run's status."""
    return Tone.WAITING if waiting else _TONES.get(status, Tone.RUNNING)


def age(seconds: float) -> str:
    """A span of time: `8s`, `12m`, `3h 02m`, `5d 4h`."""
    whole = max(0, int(seconds))
    minutes, hours = whole // 60, whole // 3600
    if whole < 60:
        return f"{whole}s"
    if minutes < 60:
        return f"{minutes}m"
    if hours < 24:
        return f"{hours}h {minutes % 60:02d}m"
    return f"{hours // 24}d {hours % 24}h"


def exact_age(seconds: float) -> str:
    """As `age`, with seconds while there are minutes: `12m 04s`."""
    whole = max(0, int(seconds))
    if whole < 60 or whole >= 3600:
        return age(whole)
    return f"{whole // 60}m {whole % 60:02d}s"


def number(value: int) -> str:
    """`48,213`."""
    return f"{value:,}"


def count(value: int, one: str, many: str = "") -> str:
    """`1 event`, `2,310 events`."""
    return f"{number(value)} {one if value == 1 else many or one + 's'}"


def clock(moment: str | None) -> str:
    """The local time of day of an RFC 3339 time: `12:04:11`; empty when it is none."""
    try:
        return "" if moment is None else time.strftime("%H:%M:%S", time.localtime(parse_rfc3339(moment)))
    except (ValueError, OverflowError):
        return ""


def time_of_day(seconds: float) -> str:
    """The local time of day of seconds since the epoch; `?` when it is none."""
    try:
        return time.strftime("%H:%M:%S", time.localtime(seconds))
    except (ValueError, OverflowError, OSError):
        return "?"


def outcome(status: str, code: int | None, signal: int | None) -> str:
    """How a run ended: `completed`, `failed: exit 2`, `stopped: SIGTERM`."""
    if signal is not None:
        return f"{status}: {signal_word(signal)}"
    if code is not None and (code != 0 or status != "completed"):
        return f"{status}: exit {code}"
    return status


def signal_word(value: int) -> str:
    """`SIGKILL`; `signal 99` when it has no name."""
    import signal

    try:
        return signal.Signals(value).name
    except ValueError:
        return f"signal {value}"


def state_of(row: Row) -> str:
    """A run's state in a sentence, for the list."""
    record = row.record
    if row.waiting:
        return f"waiting: {plain(row.waiting)}"
    if row.live and row.status != "failed":
        return f"{row.status}, generation {record.generation}" if record.generation > 1 else row.status
    if row.status == "interrupted":
        words = "interrupted: its server is gone"
    else:
        words = outcome(row.status, record.exit_code, record.signal)
    if record.descendants == "remaining":
        return f"{words}, {count(record.survivors, 'process', 'processes')} left behind"
    return f"{words}, descendants gone" if record.descendants == "gone" and row.status == "failed" else words


def sparkline(rates: Sequence[int], width: int) -> str:
    """Bars for the newest `width` rates, oldest first, the highest one full; a silence is a space."""
    shown = list(rates[-width:]) if width > 0 else []
    most = max(shown, default=0)
    bars = (" " if rate <= 0 else _BARS[min(7, int((rate / most) ** 0.5 * 8))] for rate in shown)
    return "".join(bars).rjust(max(0, width))
