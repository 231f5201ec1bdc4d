"""Makes runs and events as the full-screen view sees them."""

from typing import Any

import msgspec

from hopline.client.roster import Row
from hopline.ids import RunId
from hopline.records import RunRecord
from hopline.wire.client.events import RunEvent, decode_event

NOON = "2026-03-01T12:00:00Z"


def row(run_id: str = "a" * 12, *, live: bool = True, rates: tuple[int, ...] = (), size: int = 0, **fields: Any) -> Row:
    """One run of a list."""
    record = {
        "id": RunId(run_id),
        "run_id": run_id,
        "name": run_id[:4],
        "status": "running" if live else "completed",
        "pid": 1,
        "socket_path": "/s",
        "started_at": NOON,
        "command": ["sleep", "1"],
        "cwd": "/work",
        "journal": "/j",
    }
    return Row(RunRecord(**{**record, **fields}), live, size, rates)


def event(kind: str, data: dict[str, Any] | None = None, *, at: str = NOON, **fields: Any) -> RunEvent:
    """One event as it comes from the wire."""
    payload = None if data is None else {"kind": kind, **data}
    return decode_event(msgspec.json.encode({"sequence": 1, "timestamp": at, "type": kind, "data": payload, **fields}))
