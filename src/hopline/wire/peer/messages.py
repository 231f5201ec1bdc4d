"""Every message type and what its payload holds (docs/wire/peer.md, "Messages")."""

from contextlib import suppress
from typing import Any

import msgspec

from hopline.wire.peer.delegation import DelegateTask, TaskHandoff, TaskInterrupt, TaskStatus
from hopline.wire.peer.envelope import Envelope, EnvelopeWith
from hopline.wire.peer.handshake import Challenge, Handshake, HandshakeAck
from hopline.wire.peer.heartbeat import Ack, Heartbeat, SessionRow
from hopline.wire.peer.hive import (
    HiveJoinRequest,
    HiveJoinResult,
    KnowledgeRejected,
    KnowledgeRequest,
    KnowledgeSnapshot,
    KnowledgeSync,
)
from hopline.wire.peer.leases import LeaseClaim, LeaseList, LeaseRelease, LeaseResult
from hopline.wire.peer.transfer import SessionAnswer, SessionOffer, SessionReceived, SessionTransfer

MESSAGES: dict[str, type[msgspec.Struct]] = {
    "challenge": Challenge,
    "handshake": Handshake,
    "handshake_ack": HandshakeAck,
    "heartbeat": Heartbeat,
    "ack": Ack,
    "delegate_task": DelegateTask,
    "task_status": TaskStatus,
    "task_handoff": TaskHandoff,
    "task_interrupt": TaskInterrupt,
    "knowledge_sync": KnowledgeSync,
    "knowledge_request": KnowledgeRequest,
    "knowledge_snapshot": KnowledgeSnapshot,
    "knowledge_rejected": KnowledgeRejected,
    "hive_join_request": HiveJoinRequest,
    "hive_join_result": HiveJoinResult,
    "session_transfer": SessionTransfer,
    "session_received": SessionReceived,
    "session_offer": SessionOffer,
    "session_answer": SessionAnswer,
    "lease_claim": LeaseClaim,
    "lease_release": LeaseRelease,
    "lease_list": LeaseList,
    "lease_result": LeaseResult,
}

_PIECEWISE: dict[str, type] = {"sessions": SessionRow, "listen_addrs": str}
"""Lists of which an unreadable element is dropped; elsewhere it voids the list."""

_decoders = {name: msgspec.json.Decoder(payload) for name, payload in MESSAGES.items()}


def decode_payload(frame: Envelope) -> msgspec.Struct | None:
    """What the frame holds; None for an unknown type and where a required key is missing or wrong.

    Unknown keys are ignored. An optional key that cannot be read reads as if it was not sent
    (PL-SALVAGE).
    """
    decoder = _decoders.get(frame.msg_type)
    if decoder is None:
        return None
    try:
        message = decoder.decode(frame.payload)
        if isinstance(frame, EnvelopeWith) and isinstance(message, SessionTransfer):
            message = msgspec.structs.replace(message, data=frame.attached)
        return message
    except msgspec.ValidationError:
        return _salvage(MESSAGES[frame.msg_type], frame.payload)
    except (msgspec.MsgspecError, RecursionError):
        return None


def _salvage(payload: type[msgspec.Struct], data: msgspec.Raw) -> msgspec.Struct | None:
    """The same key by key, dropping optional ones that cannot be read."""
    try:
        said = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        kept: dict[str, Any] = {}
        for field in msgspec.structs.fields(payload):
            if (raw := said.get(field.encode_name)) is None:
                continue
            with suppress(msgspec.MsgspecError):
                kept[field.name] = msgspec.json.decode(raw, type=field.type)
                continue
            if field.name in _PIECEWISE:
                kept[field.name] = _pieces(raw, _PIECEWISE[field.name])
        return payload(**kept)
    except (msgspec.MsgspecError, RecursionError, TypeError):
        return None


def _pieces(raw: msgspec.Raw, element: type) -> list[Any]:
    kept: list[Any] = []
    with suppress(msgspec.MsgspecError):
        for piece in msgspec.json.decode(raw, type=list[msgspec.Raw]):
            with suppress(msgspec.MsgspecError):
                kept.append(msgspec.json.decode(piece, type=element))
    return kept
