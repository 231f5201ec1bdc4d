"""Shared knowledge and who may share it (docs/wire/peer.md, "Hive"). Units are in `knowledge`."""

import msgspec

from hopline.wire.peer.knowledge import KnowledgeUnit


class KnowledgeSync(msgspec.Struct, frozen=True, omit_defaults=True):
    """Peer to peer. Units that cannot be read void the whole batch."""

    units: list[KnowledgeUnit] = []
    sync_epoch: int | None = None


class KnowledgeRequest(msgspec.Struct, frozen=True):
    """Peer to peer: 0 asks for everything."""

    since_epoch: int = 0


class KnowledgeSnapshot(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer, page by page from 1."""

    units: list[KnowledgeUnit] = []
    page: int | None = None
    total_pages: int | None = None


class HiveJoinRequest(msgspec.Struct, frozen=True):
    """Joiner to host. What is not said goes out as null, not left out."""

    hive_id: str | None = None
    label: str | None = None
    grant: str | None = None


class HiveJoinResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """Host to joiner, by the link or later as a one-shot."""

    state: str
    """`member`, `pending` or `refused`; anything else is an error."""
    hive_id: str | None = None
    name: str | None = None
    reason: str | None = None
    role: str | None = None
    """Absent: contributor. Not recognised: reader."""


class KnowledgeRejected(msgspec.Struct, frozen=True, omit_defaults=True):
    """Host to the sender of what it refused."""

    reason: str | None = None
    units: int | None = None
    """How many were dropped."""
