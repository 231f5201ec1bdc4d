"""Tasks given to another machine (docs/wire/peer.md, "Delegation")."""

from typing import Any

import msgspec


class BrainContext(msgspec.Struct, frozen=True):
    """What the delegator's side has learnt."""

    project_preferences: str = ""
    recent_insights: tuple[str, ...] = ()


class DependencyGraph(msgspec.Struct, frozen=True):
    """Other tasks in the way, or waiting."""

    blocks: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()


class DelegationContext(msgspec.Struct, frozen=True, omit_defaults=True):
    """What helps with a task."""

    git_remote: str | None = None
    git_ref: str | None = None
    git_commit: str | None = None
    relevant_files: dict[str, str] = {}
    """Path to text, at most MAX_RELEVANT_FILES_BYTES in all."""
    brain_context: BrainContext | None = None
    dependency_graph: DependencyGraph | None = None


class DelegateTask(msgspec.Struct, frozen=True):
    """Delegator to worker, one-shot."""

    task_id: str
    prompt: str
    cwd: str | None = None
    context: DelegationContext = DelegationContext()


class TaskStats(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far a task is."""

    tokens_used: int = 0
    cost_usd: float = 0.0
    context_pct: int = 0
    files_modified: tuple[str, ...] = ()
    elapsed_secs: int | None = None
    last_activity: str | None = None


class TaskStatus(msgspec.Struct, frozen=True):
    """Worker to delegator, by the link."""

    task_id: str
    state: str = "running"
    stats: TaskStats = TaskStats()


class TaskHandoff(msgspec.Struct, frozen=True, omit_defaults=True):
    """Worker to delegator, final."""

    task_id: str
    state: str = "completed"
    """`completed` or `failed`; any other value reads as failed."""
    summary: str = ""
    artifacts: tuple[str, ...] = ()
    total_cost_usd: float | None = None
    total_tokens: int | None = None
    model: str | None = None
    usage: dict[str, Any] | None = None
    """The agent's own object, unchanged."""
    git_ref: str | None = None


class TaskInterrupt(msgspec.Struct, frozen=True):
    """Delegator to worker, one-shot."""

    task_id: str
    interrupt_type: str
    """`stop` or `nudge`; others are ignored."""
    reason: str = ""
