"""The requests that read a run (docs/wire/client.md, "Queries").

history, performance, experiments, design and chat leave an event behind: who asked what is part of a run's record.
"""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from hopline.wire.client.asking import MAX_POLL_MILLIS, MAX_SEQUENCE, PositiveSequence, RequestBase, Sequence

MAX_CURSOR_CHARACTERS = 1024
MAX_PAGE_ITEMS = 200


class QuerySnapshot(RequestBase, frozen=True, kw_only=True, tag="query.snapshot"):
    """The fold of the run's events."""


class QueryEvents(RequestBase, frozen=True, kw_only=True, tag="query.events"):
    """Events with `after_sequence` < sequence < `before_sequence`, at most one Response's worth, oldest first."""

    after_sequence: Sequence = 0
    before_sequence: PositiveSequence | None = None
    """Exclusive; None for no bound."""
    timeout_ms: Annotated[int, Meta(ge=0, le=MAX_POLL_MILLIS)] = 0
    """How long to wait for a first event past the cursor."""


class QueryHistory(RequestBase, frozen=True, kw_only=True, tag="query.history"):
    """Every event, when one Response holds them."""


class QueryChat(RequestBase, frozen=True, kw_only=True, tag="query.chat"):
    """A question about the run, on a connection of its own (WP-ROLES); without an agent the record answers."""

    text: str
    thread_id: str | None = None
    """None for the default thread."""


class QueryChatThreadCreate(RequestBase, frozen=True, kw_only=True, tag="query.chat_thread_create"):
    """A new thread with an agent of this provider and model."""

    mutating: ClassVar[bool] = True

    provider: str
    model: str
    title: str | None = None


class QueryChatOptions(RequestBase, frozen=True, kw_only=True, tag="query.chat_options"):
    """The providers and models that a chat thread may have."""


class QueryTuiDefaults(RequestBase, frozen=True, kw_only=True, tag="query.tui_defaults"):
    """What a terminal frontend starts with."""


class QueryPerformance(RequestBase, frozen=True, kw_only=True, tag="query.performance"):
    """What each round measured."""


class ExperimentCursor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which state of the experiments the client holds."""

    run_id: str
    projection_id: str
    revision: Annotated[int, Meta(ge=0, le=MAX_SEQUENCE)]


class QueryExperiments(RequestBase, frozen=True, kw_only=True, tag="query.experiments"):
    """The hypotheses, or what changed since `after`."""

    after: ExperimentCursor | None = None


class QueryDesign(RequestBase, frozen=True, kw_only=True, tag="query.design"):
    """What each round changed in the workspace."""


class QueryDesignPatch(RequestBase, frozen=True, kw_only=True, tag="query.design_patch"):
    """One file's change between two commits that `query.design` lists."""

    base: str
    head: str
    path: str


class QueryIterations(RequestBase, frozen=True, kw_only=True, tag="query.iterations"):
    """One page of roots, or of the direct children of `parent_id`."""

    parent_id: str | None = None
    cursor: Annotated[str, Meta(min_length=1, max_length=MAX_CURSOR_CHARACTERS)] | None = None
    """Opaque: a page's `next_cursor`; None for the first page."""
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE_ITEMS)] = 50


Query = (
    QuerySnapshot
    | QueryEvents
    | QueryHistory
    | QueryChat
    | QueryChatThreadCreate
    | QueryChatOptions
    | QueryTuiDefaults
    | QueryPerformance
    | QueryExperiments
    | QueryDesign
    | QueryDesignPatch
    | QueryIterations
)
