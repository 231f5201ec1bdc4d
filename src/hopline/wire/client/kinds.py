"""Every event type of this wire and the payload it may carry. Imported only by whom more than a command's run concerns.

An event of a type that is not here is refused when it is recorded; readers pass it on without a payload.
"""

from typing import get_args

import msgspec
from msgspec import Raw

from hopline.wire.client.capacity import CapacityKind
from hopline.wire.client.payload import Payload
from hopline.wire.client.payloads import Known
from hopline.wire.client.rounds import RoundKind
from hopline.wire.client.trace import TraceKind
from hopline.wire.client.turns import Phase, TurnKind

AnyKind = Known | TurnKind | CapacityKind | RoundKind | TraceKind


def _payloads() -> dict[str, type[Payload]]:
    found = {str(one.__struct_config__.tag): one for one in get_args(AnyKind) if one is not Phase}
    return {**found, "phase_started": Phase, "phase_finished": Phase}


PAYLOADS: dict[str, type[Payload]] = _payloads()
"""The payload of each event type that may have one."""

_any: msgspec.json.Decoder[AnyKind] = msgspec.json.Decoder(AnyKind)


def decode_payload(data: Raw | bytes) -> Payload | None:
    """The typed payload in `data`; None when its kind is not of this wire or it lacks what its kind must have."""
    try:
        return _any.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
