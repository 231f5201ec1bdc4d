"""The heartbeat of a link (docs/wire/peer.md, "Heartbeat")."""

import re

import msgspec
from msgspec import UNSET, UnsetType

from hopline.wire.peer.limits import MAX_CAPABILITY_TOOLS, MAX_LISTEN_ADDRESSES
from hopline.wire.peer.pairing import address_text, read_address
from hopline.wire.peer.texts import shown

_TOOL_NAME = re.compile(r"[A-Za-z0-9._+-]{1,64}")


class Ack(msgspec.Struct, frozen=True, omit_defaults=True):
    """Reserved; never sent, never handled."""

    ack_id: str | None = None


class Telemetry(msgspec.Struct, frozen=True):
    """How much is known of a session's use."""

    state: str = "Pending"
    """`Pending`, `Available`, `No transcript`, `Unreadable transcript` or `Unsupported transcript`."""
    usage_metrics_available: bool = False


class Estimate(msgspec.Struct, frozen=True):
    """Where a session's cost comes from."""

    verified: bool = False
    profile_source: str = ""


class Subagents(msgspec.Struct, frozen=True):
    """One row of a session's helpers."""

    label: str
    state: str = "Active"
    count: int = 1
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0


class RecentError(msgspec.Struct, frozen=True):
    """One error of a session's tools."""

    tool: str = ""
    message: str = ""


class ToolUse(msgspec.Struct, frozen=True):
    """How often a tool was called."""

    calls: int = 0


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One session of the sending machine."""

    pid: int
    project: str
    session_id: str | None = None
    """What leases are renewed by. Always sent by us."""
    status: str = "Unknown"
    """`Needs Input`, `Processing`, `Waiting`, `Unknown`, `Idle` or `Finished`."""
    telemetry: Telemetry = Telemetry()
    estimate: Estimate = Estimate()
    context_pct: float | None = None
    cost_usd: float | None = None
    burn_rate_per_hr: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    decay_score: int | None = None
    elapsed_secs: int = 0
    cpu: float = 0.0
    mem_mb: float = 0.0
    subagents: int = 0
    active_subagents: int = 0
    subagent_breakdown: tuple[Subagents, ...] = ()
    last_error: str | None = None
    recent_errors: tuple[RecentError, ...] = ()
    files_modified: dict[str, int] = {}
    tool_usage: dict[str, ToolUse] = {}
    worker_origin: str | None = None
    model: str | None = None


class Tool(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether a tool is installed. A credential is never sent and never read."""

    state: str = ""
    """`present` or `missing`, always sent; anything else reads as missing."""
    version: str | None = None


class Capabilities(msgspec.Struct, frozen=True):
    """What the sending machine has."""

    claudectl_version: str = ""
    os: str = ""
    arch: str = ""
    tools: dict[str, Tool] = {}


class Heartbeat(msgspec.Struct, frozen=True, omit_defaults=True):
    """Every 30 s, both ways. `{}` says only that the sender lives."""

    worker_id: str | UnsetType = UNSET
    """A display name."""
    timestamp: int | UnsetType = UNSET
    sessions: list[SessionRow] | UnsetType = UNSET
    """Present but empty replaces what was known; absent leaves it."""
    capabilities: Capabilities | UnsetType = UNSET
    """Left out rather than empty."""
    listen_addrs: list[str] | UnsetType = UNSET
    """`ip:port`, IPv6 in brackets. Left out rather than empty."""


def read_capabilities(heartbeat: Heartbeat) -> Capabilities | None:
    """What the peer says it has, bounded and filtered; None when it did not say."""
    said = heartbeat.capabilities
    if isinstance(said, UnsetType):
        return None
    names = [name for name in said.tools if _TOOL_NAME.fullmatch(name)][:MAX_CAPABILITY_TOOLS]
    return Capabilities(
        shown(said.claudectl_version),
        shown(said.os),
        shown(said.arch),
        {name: _tool(said.tools[name]) for name in names},
    )


def _tool(said: Tool) -> Tool:
    if said.state != "present":
        return Tool("missing")
    return Tool("present", shown(said.version) if said.version else None)


def read_listen_addresses(heartbeat: Heartbeat) -> tuple[str, ...] | None:
    """Where the peer says it can be reached, as `ip:port`: the sound ones, 8 of them; None when it did not say."""
    if isinstance(heartbeat.listen_addrs, UnsetType):
        return None
    sound = dict.fromkeys(address_text(*where) for text in heartbeat.listen_addrs if (where := read_address(text)))
    return tuple(sound)[:MAX_LISTEN_ADDRESSES]
