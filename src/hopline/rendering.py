"""Numbers, times and tables as a person reads them."""

import shlex
import time
from collections.abc import Iterable, Sequence

from hopline.clock import parse_rfc3339

_SIZE_UNITS = ("B", "kB", "MB", "GB", "TB")


def size(count: int) -> str:
    """Bytes in decimal units, at most four characters of number: `812 B`, `4.2 MB`, `131 MB`."""
    value = float(count)
    for unit in _SIZE_UNITS:
        if value < 999.5 or unit == _SIZE_UNITS[-1]:
            break
        value /= 1000
    digits = 0 if unit == "B" or value >= 99.95 else 1
    return f"{value:.{digits}f} {unit}"


def age(seconds: float) -> str:
    """A span of time in its two largest units: `8s`, `4m12s`, `3h05m`, `12d`."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    if whole < 86_400:
        return f"{whole // 3600}h{whole % 3600 // 60:02d}m"
    return f"{whole // 86_400}d"


def seconds_since(moment: str) -> float:
    """Seconds from an RFC 3339 time until now, never negative; 0 when it is no time."""
    try:
        return max(0.0, time.time() - parse_rfc3339(moment))
    except ValueError:
        return 0.0


def plural(count: int, noun: str) -> str:
    """`1 run`, `3 runs`, `2 processes`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}{'es' if noun.endswith('s') else 's'}"


def signal_name(number: int) -> str:
    """`9 (SIGKILL)`; the bare number when it has no name."""
    import signal

    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)


def command(argv: Sequence[str], width: int = 0) -> str:
    """A command line that a shell would read back, on one line; cut with an ellipsis at `width` columns when not 0."""
    text = plain(shlex.join(argv))
    return text if not width or len(text) <= width else text[: max(0, width - 1)] + "…"


def plain(text: str) -> str:
    """`text` on one line without control characters, so that a name or a command cannot drive the terminal."""
    return "".join(character if character.isprintable() else "�" for character in text)


def columns_of(text: str) -> int:
    """How many columns a terminal gives `text`: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Left-aligned columns two spaces apart; the last column is not padded. Ends with a newline."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(columns_of(line[column]) for line in lines) for column in range(len(head))]
    return "".join(
        "  ".join(cell + " " * (width - columns_of(cell)) for cell, width in zip(line[:-1], widths, strict=False))
        + f"  {line[-1]}\n"
        if len(line) > 1
        else f"{line[0]}\n"
        for line in lines
    )
