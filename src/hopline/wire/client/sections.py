"""What a Response may hold for the queries of frontends: chat, defaults, performance, experiments, design, iterations.

Source: docs/wire/client.md, "Sections" (frontend reference 3.1, 6.6, 6.7, 6.8).
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hopline.wire.client.asking import MAX_SEQUENCE
from hopline.wire.client.overview import Direction

Revision = Annotated[int, Meta(ge=0, le=MAX_SEQUENCE)]
Ordinal = Annotated[int, Meta(ge=1, le=MAX_SEQUENCE)]


class ChatAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to query.chat."""

    question: str
    answer: str
    effect: Literal["none"] = "none"
    thread_id: str | None = None


class ChatModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model that a thread may have."""

    model: str
    source: Annotated[str, Meta(examples=["run", "role", "suggested"])]
    default: bool = False


class ChatProvider(msgspec.Struct, frozen=True, kw_only=True):
    """A provider and its models."""

    provider: str
    models: list[ChatModel]


class ChatOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What query.chat_options offers."""

    providers: list[ChatProvider]


class TuiDefaults(msgspec.Struct, frozen=True, kw_only=True):
    """What a terminal frontend starts with."""

    runs_dir: str
    input_path: str
    experiment_name: str
    repository_owner: str | None = None
    repository_name: str
    visibility: Annotated[str, Meta(examples=["private", "public", "internal"])]
    theme: Annotated[
        str,
        Meta(
            examples=[
                "dark",
                "light",
                "solarized-dark",
                "solarized-light",
                "catppuccin-mocha",
                "catppuccin-latte",
                "high-contrast-dark",
                "high-contrast-light",
            ]
        ),
    ]


class RoundPerformance(msgspec.Struct, frozen=True, kw_only=True):
    """What one round measured."""

    round: int
    perf_metric: float
    perf_unit: str
    passed: bool
    profile_skipped: bool = False


class PerformanceContext(msgspec.Struct, frozen=True, kw_only=True):
    """What the rounds are measured against; frozen for older frontends."""

    objective_metric: str | None = None
    objective_unit: str | None = None
    objective_direction: Direction | None = None
    objective_baseline_value: float | None = None
    objective_baseline_round: int | None = None
    objective_baseline_commit: str | None = None
    objective_description: str | None = None


class ExperimentUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """How `experiments` is to be applied: a reset replaces all, a delta upserts and then removes."""

    run_id: str
    projection_id: str
    from_revision: Revision | None = None
    through_revision: Revision
    reset: bool
    removed_hypothesis_ids: list[str] = []


class HypothesisRound(msgspec.Struct, frozen=True, kw_only=True):
    """One round of a hypothesis."""

    round: int
    passed: bool | None = None
    reviewed: bool | None = None
    hypothesis_outcome: (
        Annotated[
            str,
            Meta(
                examples=[
                    "continue",
                    "supported",
                    "nominated",
                    "disproven",
                    "implementation_failed",
                    "inconclusive",
                    "blocked",
                    "proven",
                    "rejected",
                    "unmeasured",
                ]
            ),
        ]
        | None
    ) = None
    judge_verdict: Annotated[str, Meta(examples=["pass", "fail", "deferred"])] | None = None
    perf_metric: float | None = None
    perf_unit: str | None = None
    perf_delta_pct: float | None = None
    commit: str | None = None
    official_evaluation: bool = False
    candidate_disposition: (
        Annotated[str, Meta(examples=["unassessed", "discard", "prerequisite", "pareto_frontier"])] | None
    ) = None


class HypothesisEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One hypothesis and what became of it."""

    hypothesis_id: str
    identified: bool = True
    title: str
    claim: str | None = None
    action: str | None = None
    first_round: int | None = None
    last_round: int | None = None
    rounds: list[HypothesisRound] = []
    resolved_outcome: str | None = None
    judge_verdict: Annotated[str, Meta(examples=["pass", "fail"])] | None = None
    perf_metric: float | None = None
    perf_unit: str | None = None
    perf_delta_pct: float | None = None
    perf_metric_name: str | None = None
    perf_direction: Direction | None = None
    perf_baseline_value: float | None = None
    perf_baseline_round: int | None = None
    perf_baseline_commit: str | None = None
    perf_delta_reason: (
        Annotated[str, Meta(examples=["no_baseline_yet", "baseline_unresolved", "not_framework_measured"])] | None
    ) = None
    kept: bool | None = None
    strategy_disposition: Annotated[str, Meta(examples=["available", "parked", "abandoned"])] | None = None
    strategy_reason: str | None = None
    active: bool = False


class ChangedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a round."""

    path: str
    change: Annotated[str, Meta(examples=["added", "modified", "deleted", "renamed"])]
    renamed_from: str | None = None


class DesignRound(msgspec.Struct, frozen=True, kw_only=True):
    """What one round changed."""

    round: int
    commit: str
    base: str | None = None
    files: list[ChangedFile] | None = None


class DesignPatch(msgspec.Struct, frozen=True, kw_only=True):
    """One file's change, cut at 200,000 characters on a line end."""

    base: str
    head: str
    path: str
    renamed_from: str | None = None
    patch: str | None = None
    truncated: bool


class Iteration(msgspec.Struct, frozen=True, kw_only=True):
    """One node of the iterations; its kind is open."""

    iteration_id: str
    parent_id: str | None = None
    kind: Annotated[str, Meta(examples=["round", "attempt"])]
    ordinal: Ordinal
    """Among its siblings."""
    title: Annotated[str, Meta(max_length=1024)] = ""
    status: str
    verdict: str | None = None
    round_label: str | None = None
    span_id: str | None = None
    child_count: Revision
    first_sequence: Ordinal | None = None
    last_sequence: Ordinal | None = None


class IterationsPage(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="page"):
    """One page; a client that has applied `cursor` takes the same page again and no other."""

    run_id: str
    projection_id: str
    revision: Revision
    parent_id: str | None = None
    cursor: str
    items: list[Iteration]
    next_cursor: str | None = None


class IterationsUnavailable(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="unavailable"):
    """There is no page, and why."""

    reason: Annotated[str, Meta(examples=["not_attached", "not_supported", "stale_cursor", "unknown_parent"])]
    detail: str | None = None
