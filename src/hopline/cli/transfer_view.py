"""How far a transfer is: a bar on a terminal, else a line for each tenth. On standard error."""

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hopline.rendering import size
from hopline.wire.hub.sessions import SendProgress

_BAR = 24
_ERASE = "\r\x1b[K"
_WORDS = {
    "hashing": "reading the transcript",
    "connecting": "connecting",
    "waiting": "the connection was cut, trying again",
    "confirming": "waiting for the receiver's word",
}


@contextmanager
def follow(*, quiet: bool) -> Iterator[Callable[[SendProgress], None]]:
    """What shows progress; the bar is gone afterwards. Nothing is shown when `quiet`."""
    if quiet:
        yield lambda _news: None
    elif sys.stderr.isatty():
        rate = Rate()
        try:
            yield lambda news: _write(_ERASE + bar(news, rate.at(time.monotonic(), news), _columns()))
        finally:
            _write(_ERASE)
    else:
        tenths = Tenths()
        yield lambda news: _write(tenths.line(news))


def bar(news: SendProgress, rate: float, columns: int) -> str:
    """The line for a terminal of `columns`; `rate` in bytes a second, 0 while it is not known."""
    if news.state != "sending" or not news.size:
        return _WORDS.get(news.state, news.state)[: columns - 1]
    share = min(1.0, news.done / news.size)
    filled = round(share * _BAR)
    text = f"{share:4.0%}  {size(news.done)} of {size(news.size)}"
    text += f", {size(round(rate))}/s" if rate else ""
    full = f"{'█' * filled}{'░' * (_BAR - filled)} {text}"
    return (full if len(full) < columns else text)[: columns - 1]


class Rate:
    """Bytes a second since sending began, or began again."""

    def __init__(self) -> None:
        self._from: tuple[float, int] | None = None

    def at(self, now: float, news: SendProgress) -> float:
        """The rate at monotonic `now`; 0 while it is not known."""
        if news.state != "sending":
            self._from = None
            return 0.0
        if self._from is None:
            self._from = (now, news.done)
        began, before = self._from
        return (news.done - before) / (now - began) if now > began else 0.0


class Tenths:
    """A line when a tenth more was sent, and when it waits."""

    def __init__(self) -> None:
        self._tenth = 0
        self._state = ""

    def line(self, news: SendProgress) -> str:
        """The line with its newline; nothing when there is nothing new."""
        before, self._state = self._state, news.state
        if news.state == "waiting" and before != "waiting":
            return f"{_WORDS['waiting']}\n"
        tenth = news.done * 10 // news.size if news.size else 0
        if news.state != "sending" or tenth <= self._tenth:
            return ""
        self._tenth = tenth
        return f"{tenth * 10}% of {size(news.size)} sent\n"


def _columns() -> int:
    return shutil.get_terminal_size().columns


def _write(text: str) -> None:
    if text:
        sys.stderr.write(text)
        sys.stderr.flush()
