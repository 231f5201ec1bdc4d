"""One unit of shared knowledge, on the wire as in a file (docs/wire/peer.md, "Hive")."""

import msgspec


class Universal(msgspec.Struct, frozen=True, tag="universal"):
    """Holds everywhere."""


class InLanguage(msgspec.Struct, frozen=True, tag="language"):
    """Holds for one programming language."""

    value: str


class InProject(msgspec.Struct, frozen=True, tag="project"):
    """Holds for one project."""

    value: str


class Requires(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an artifact needs."""

    cli: tuple[str, ...] | None = None
    os: tuple[str, ...] | None = None
    min_version: str | None = None


class Pattern(msgspec.Struct, frozen=True, kw_only=True, tag="pattern"):
    """What was preferred for a tool's command."""

    tool: str
    command_pattern: str | None = None
    preferred_action: str
    accept_rate: float
    sample_count: int
    conditions: tuple[str, ...] = ()


class ToolAccuracy(msgspec.Struct, frozen=True, tag="tool_accuracy"):
    """How often decisions on a tool were right."""

    tool: str
    total: int
    correct: int
    confidence_threshold: float


class Temporal(msgspec.Struct, frozen=True, tag="temporal"):
    """A habit in time."""

    description: str
    strength: float


class Insight(msgspec.Struct, frozen=True, tag="insight"):
    """Something noticed."""

    category: str
    severity: str
    summary: str
    suggestion: str | None = None


class PromotedRule(msgspec.Struct, frozen=True, tag="promoted_rule"):
    """A rule that proved itself."""

    rule: str
    source_type: str


class Skill(msgspec.Struct, frozen=True, tag="skill"):
    """An artifact of at most 32 KiB."""

    name: str
    description: str
    version: str
    body: str
    requires: Requires = Requires()


class Command(msgspec.Struct, frozen=True, kw_only=True, tag="command"):
    """An artifact of at most 16 KiB."""

    name: str
    description: str
    args: str | None = None
    body: str
    requires: Requires = Requires()


class HookConfig(msgspec.Struct, frozen=True, tag="hook_config"):
    """An artifact of at most 4 KiB; never installed by itself."""

    event: str
    matcher: str
    description: str
    config_json: str
    requires: Requires = Requires()


class ApproachOutcome(msgspec.Struct, frozen=True, tag="approach_outcome"):
    """How an approach went."""

    approach_ref: str
    success_rate: float
    sample_count: int
    median_cost_usd: float | None = None
    median_duration_ms: int | None = None
    conditions: tuple[str, ...] = ()


class ApproachVariant(msgspec.Struct, frozen=True):
    """One way to solve a cluster's problem."""

    approach_summary: str
    conditions: tuple[str, ...] = ()
    evidence: int = 0
    contributing_peers: tuple[str, ...] = ()
    outcome_ref: str | None = None


class ApproachCluster(msgspec.Struct, frozen=True, tag="approach_cluster"):
    """Ways to solve one problem."""

    problem_key: str
    variants: tuple[ApproachVariant, ...]


class InjectionStats(msgspec.Struct, frozen=True):
    """What became of a unit in use."""

    injected_count: int = 0
    accepted_count: int = 0
    overridden_count: int = 0
    last_injected_at: int | None = None
    last_outcome_at: int | None = None


class SharingConsent(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who may get a unit."""

    expires_at: int | None = None
    allow_peers: tuple[str, ...] | None = None
    exclude_peers: tuple[str, ...] | None = None
    min_trust_tier: str = "any"
    """`confirmed`, `suggested`, `unverified` or `any`."""


Scope = Universal | InLanguage | InProject
Content = (
    Pattern
    | ToolAccuracy
    | Temporal
    | Insight
    | PromotedRule
    | Skill
    | Command
    | HookConfig
    | ApproachOutcome
    | ApproachCluster
)


class KnowledgeUnit(msgspec.Struct, frozen=True, kw_only=True):
    """Times are seconds since the epoch."""

    id: str
    scope: Scope
    category: str = "best_practice"
    content: Content
    evidence_count: int
    confidence: float
    source_peer: str
    """Not authenticated."""
    originated_at: int
    last_validated_at: int
    revalidation_interval_secs: int = 0
    propagation_count: int
    version: int
    injection_state: str = "live"
    """`draft`, `canary`, `staged` or `live`."""
    injection_stats: InjectionStats = InjectionStats()
    sharing_consent: SharingConsent | None = None
