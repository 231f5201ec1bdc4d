"""The state that events fold to: executions under way, chat threads, spans, overview, and the snapshot of all of it.

Source: docs/wire/client.md, "Snapshot" (frontend reference 6.1, 6.2).
"""

import msgspec

from hopline.wire.client.overview import RunOverview
from hopline.wire.client.payloads import StatusWord
from hopline.wire.client.trace import Span
from hopline.wire.client.turns import Activity


class ActiveExecution(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An agent's turn that has started and not finished."""

    execution_id: str
    agent_kind: str
    round_label: str
    stage: str
    attempt: int | None = None
    assignment: str
    """The prompt, written by a person; may be large."""
    started_at: str
    activity: Activity
    provider: str | None = None
    model: str | None = None


class ChatThread(msgspec.Struct, frozen=True, kw_only=True):
    """A thread of questions to one agent."""

    thread_id: str
    title: str = ""
    provider: str
    model: str


class RunSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The fold of the events up to `sequence`."""

    protocol_version: int = 1
    run_id: str
    sequence: int
    status: StatusWord
    agent_kind: str | None = None
    """Of the newest event that named one."""
    round_label: str | None = None
    active_executions: list[ActiveExecution] = []
    chat_threads: list[ChatThread] = []
    spans: list[Span] = []
    """In the order in which they first started."""
    overview: RunOverview | None = None
    """None before the run started."""
