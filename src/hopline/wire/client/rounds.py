"""Payloads of a search: its configuration, rounds, judges, gates, measurements and what it keeps.

Source: docs/wire/client.md, "Event kinds" (frontend reference 5.3).
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from hopline.wire.client.payload import Payload

Source = Annotated[str, Meta(examples=["gates", "git_tracking", "loop", "gpu", "skypilot", "other"])]
Gate = Annotated[str, Meta(examples=["build", "accuracy", "benchmark"])]
"""Written so; `validation`, the older word for build, is accepted on read."""


class ConfigurationFailed(Payload, frozen=True, kw_only=True, tag="configuration_failed"):
    """The run could not be configured."""

    code: str
    stage: str
    message: str
    usage: str | None = None
    exit_code: int


class ExperimentsChanged(Payload, frozen=True, kw_only=True, tag="experiments_changed"):
    """query.experiments would give something else now."""

    reason: Annotated[str, Meta(examples=["project_attached", "active_hypothesis_changed", "round_persisted"])]
    revision: int | None = None


class JudgeResult(Payload, frozen=True, kw_only=True, tag="judge_result"):
    """A judge's word on an attempt."""

    verdict: Annotated[str, Meta(examples=["pass", "fail"])]
    feedback: str
    attempt: int


class BenchmarkResult(Payload, frozen=True, kw_only=True, tag="benchmark_result"):
    """One measurement."""

    metric: str
    value: float
    unit: str


class RoundFinished(Payload, frozen=True, kw_only=True, tag="round_finished"):
    """A round is over."""

    attempts: int
    judge_verdict: Annotated[str, Meta(examples=["pass", "fail", "skipped"])]
    perf_metric: float | None = None
    perf_unit: str | None = None
    profile_skipped: bool


class SearchFailure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a search ended without a winner."""

    kind: Annotated[str, Meta(examples=["budget_exhausted", "deadline", "no_result"])]
    reason: str
    workstreams_started: int
    workstream_budget: int | None = None
    candidates_kept: int


class RunFailed(Payload, frozen=True, kw_only=True, tag="run_failed"):
    """Why the run failed, when its search says so; else the event has no payload."""

    failure: SearchFailure | None = None


class GateStarted(Payload, frozen=True, kw_only=True, tag="gate_started"):
    """A stage of a measurement begins."""

    gate: Gate
    recipe: str | None = None
    command: str | None = None
    source: Source = "gates"
    source_label: str | None = None


class GateFinished(Payload, frozen=True, kw_only=True, tag="gate_finished"):
    """The stage is over; whether it passed is the event's status."""

    gate: Gate
    recipe: str | None = None
    reused: bool = False
    metric: str | None = None
    value: float | None = None
    unit: str | None = None
    output_tail: str | None = None
    source: Source = "gates"
    source_label: str | None = None


class WorkspaceSnapshot(Payload, frozen=True, kw_only=True, tag="workspace_snapshot"):
    """The workspace was committed."""

    label: str = ""
    commit: str | None = None
    baseline: str | None = None
    excluded_paths: list[str] = msgspec.field(default_factory=list)
    source: Source = "git_tracking"


class RunConfigured(Payload, frozen=True, kw_only=True, tag="run_configured"):
    """What the loop runs with."""

    run_log_path: str
    project_root: str
    model: str | None = None
    objective: str | None = None
    search_policy: str | None = None
    benchmark_contract: bool = False
    pareto_objectives: Any = None
    source: Source = "loop"


RoundKind = (
    ConfigurationFailed
    | ExperimentsChanged
    | JudgeResult
    | BenchmarkResult
    | RoundFinished
    | RunFailed
    | GateStarted
    | GateFinished
    | WorkspaceSnapshot
    | RunConfigured
)
