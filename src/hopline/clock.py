"""Wall time as data. Monotonic time is an argument everywhere and is read only in adapters."""

import time
from datetime import UTC, datetime


def rfc3339(seconds: float | None = None) -> str:
    """`seconds` since the epoch (default now) as RFC 3339 in UTC with milliseconds, e.g. 2026-01-01T00:00:00.000Z."""
    moment = datetime.fromtimestamp(time.time() if seconds is None else seconds, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def parse_rfc3339(text: str) -> float:
    """Seconds since the epoch of an RFC 3339 time with an offset. Raises ValueError otherwise."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return moment.timestamp()
