"""Puts a deferred list of active executions together from its parts; nothing of it is seen before it is whole. Pure.

Source: docs/wire/client.md, "Deferred checkpoints" (frontend reference 7.5). Events of deferred frames are given at
once; only the list waits. One assembler serves one connection, so parts of two connections never meet.
"""

import hashlib
import re
from dataclasses import dataclass

import msgspec
from msgspec import Raw

from hopline.client.items import Executions
from hopline.wire.client.checkpoint import MAX_CHECKPOINT_BYTES, ActiveExecutionsChunk
from hopline.wire.client.streams import EventBatch

_DIGEST = re.compile(r"[0-9a-f]{64}")


class _Activity(msgspec.Struct):
    mode: str
    summary: str


class _Execution(msgspec.Struct):
    """What every entry must have (reference 6.2); newer members pass."""

    execution_id: str
    agent_kind: str
    stage: str
    started_at: str
    activity: _Activity


_raw_lists = msgspec.json.Decoder(list[Raw])
_executions = msgspec.json.Decoder(list[_Execution])


@dataclass(frozen=True, slots=True)
class Fault:
    """The server broke the contract: hang up and dial again. `reason` says how."""

    reason: str


@dataclass(slots=True)
class _Transfer:
    """A deferred list under way: its last frame, and the parts that have come."""

    frame: EventBatch
    payloads: list[str]
    parts: int
    size: int = 0


class CheckpointAssembler:
    """Follows the messages of one connection: `batch` and `chunk` as they come, `other` for every other message."""

    def __init__(self) -> None:
        self._open: _Transfer | None = None

    def batch(self, batch: EventBatch) -> Executions | Fault | None:
        """A frame of events. Returns its list when it carries one; a deferred one opens or continues a transfer.

        Either supersedes what was under way: late parts of that match nothing any more.
        """
        self._open = None
        checkpoint_id = batch.active_executions_checkpoint_id
        if batch.active_executions is not None:
            if checkpoint_id is not None:
                return Fault("a batch carried both a list of executions and a checkpoint for one")
            return Executions(batch.through_sequence, tuple(batch.active_executions))
        if checkpoint_id is None or not _DIGEST.fullmatch(checkpoint_id):
            return Fault("a batch deferred its list of executions without a valid checkpoint")
        self._open = _Transfer(batch, [], 0)
        return None

    def chunk(self, chunk: ActiveExecutionsChunk) -> Executions | Fault | None:
        """One part. Returns the whole list with its last part, None before; a Fault ends the transfer."""
        transfer = self._open
        if transfer is None:
            return Fault("a part of a checkpoint came without its batch")
        wrong = self._mismatch(transfer, chunk)
        if wrong is None:
            transfer.size += len(chunk.payload.encode("utf-8", "surrogatepass"))
            if transfer.size > MAX_CHECKPOINT_BYTES:
                wrong = f"a checkpoint has more than {MAX_CHECKPOINT_BYTES} bytes"
        if wrong is not None:
            self._open = None
            return Fault(wrong)
        transfer.parts = chunk.parts
        transfer.payloads.append(chunk.payload)
        if len(transfer.payloads) < chunk.parts:
            return None
        self._open = None
        return _whole(transfer)

    def other(self) -> Fault | None:
        """A message that is neither; between a deferred frame and its last part there may be none."""
        if self._open is None:
            return None
        self._open = None
        return Fault("another message came between a deferred batch and the end of its checkpoint")

    @staticmethod
    def _mismatch(transfer: _Transfer, chunk: ActiveExecutionsChunk) -> str | None:
        frame = transfer.frame
        if chunk.checkpoint_id != frame.active_executions_checkpoint_id:
            return "a part belongs to another checkpoint than its batch"
        expected = (frame.through_sequence, frame.store_id, frame.history_after_sequence)
        if (chunk.through_sequence, chunk.store_id, chunk.history_after_sequence) != expected:
            return "a part's cursor differs from its batch's"
        if transfer.payloads and chunk.parts != transfer.parts:
            return "the number of parts changed within a checkpoint"
        if chunk.part != len(transfer.payloads):
            return f"part {chunk.part} came where part {len(transfer.payloads)} was due"
        return None


def _whole(transfer: _Transfer) -> Executions | Fault:
    try:
        text = "".join(transfer.payloads).encode()
    except UnicodeEncodeError:
        return Fault("a checkpoint holds a lone surrogate")
    if hashlib.sha256(text).hexdigest() != transfer.frame.active_executions_checkpoint_id:
        return Fault("a checkpoint's content does not match its digest")
    try:
        _executions.decode(text)
        executions = _raw_lists.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return Fault(f"a checkpoint is no list of executions: {error}")
    return Executions(transfer.frame.through_sequence, tuple(executions))
