"""Makes the frames of a subscription as values, for tests of what a client makes of them."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from hopline.wire.client.checkpoint import ActiveExecutionsChunk
from hopline.wire.client.events import RunEvent
from hopline.wire.client.streams import EventBatch

RUN = "0123456789ab"
STORE = "a" * 32
OTHER_STORE = "b" * 32


def event(sequence: int, kind: str = "output", run_id: str = RUN) -> RunEvent:
    """One event."""
    return RunEvent(sequence=sequence, run_id=run_id, timestamp="2026-01-01T00:00:00Z", type=kind, text=f"e{sequence}")


def batch(sequences: Iterable[int], **fields: Any) -> EventBatch:
    """A frame of events with these sequences; its cursor is the last one unless given."""
    events = [event(sequence) for sequence in sequences]
    fields.setdefault("through_sequence", events[-1].sequence if events else 0)
    fields.setdefault("store_id", STORE)
    return EventBatch(events=events, **fields)


def execution(name: str, assignment: str = "") -> dict[str, Any]:
    """One active execution as the wire has it."""
    activity = {"kind": "agent_execution_activity_changed", "mode": "thinking", "summary": "Planning", "tool": None}
    return {
        "execution_id": name,
        "agent_kind": "implementer",
        "round_label": None,
        "stage": "implement",
        "attempt": None,
        "assignment": assignment,
        "started_at": "2026-01-01T00:00:00Z",
        "activity": activity,
        "provider": None,
        "model": None,
    }


def parts_of(executions: list[dict[str, Any]], size: int, **cursor: Any) -> tuple[str, list[ActiveExecutionsChunk]]:
    """(checkpoint id, parts of at most `size` code points) of a deferred list."""
    text = json.dumps(executions, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).hexdigest()
    payloads = [text[start : start + size] for start in range(0, len(text), size)]
    return digest, [
        ActiveExecutionsChunk(checkpoint_id=digest, part=part, parts=len(payloads), payload=payload, **cursor)
        for part, payload in enumerate(payloads)
    ]
