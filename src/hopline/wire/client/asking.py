"""What every request has in common, and the bounds of its numbers (docs/wire/client.md, "Requests")."""

from datetime import datetime
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

PROTOCOL_VERSION = 1

MAX_SEQUENCE = (1 << 63) - 1
MAX_POLL_MILLIS = 30_000
MAX_GRACE_MILLIS = 86_400_000

Sequence = Annotated[int, Meta(ge=0, le=MAX_SEQUENCE)]
PositiveSequence = Annotated[int, Meta(ge=1, le=MAX_SEQUENCE)]
GraceMillis = Annotated[int, Meta(ge=0, le=MAX_GRACE_MILLIS)]


class RequestBase(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", omit_defaults=True
):
    """What every request carries; all of it is optional for the sender."""

    mutating: ClassVar[bool] = False
    """Whether a run that only serves its record refuses it with `run_read_only`."""

    protocol_version: Literal[1] = 1
    request_id: str | UnsetType = UNSET
    """Echoed by the Response; the server makes one up when absent."""
    client_id: str = ""
    """Stable per client instance, echoed (WP-IDENTITY)."""
    timestamp: Annotated[datetime, Meta(tz=True)] | UnsetType = UNSET
