"""The list of active executions on its way to subscribers: inside a batch, or after it in parts when it is large.

Source: docs/wire/client.md, "Deferred checkpoints" (frontend reference 4, 7.5). Pure.
"""

import hashlib
from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta

MAX_STREAM_FRAME_BYTES = 1 << 20
"""Cap on one stream frame, the Unix newline not counted (reference 7.4)."""

MAX_CHECKPOINT_BYTES = 16 << 20
"""Bound on the whole list as UTF-8."""

MAX_PARTS = 256
PART_CODE_POINTS = 65_536
"""Every part but the last has exactly so many; 16 MiB of ASCII are then 256 parts."""

DIGEST = "^[0-9a-f]{64}$"

_encoder = msgspec.json.Encoder()


class ActiveExecutionsChunk(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="active_executions_chunk"):
    """One part of a deferred list; the cursor is that of the last frame of its batch."""

    checkpoint_id: Annotated[str, Meta(pattern=DIGEST)]
    """SHA-256 over the UTF-8 of the whole text."""
    part: Annotated[int, Meta(ge=0, le=MAX_PARTS - 1)]
    parts: Annotated[int, Meta(ge=1, le=MAX_PARTS)]
    payload: Annotated[str, Meta(min_length=1, max_length=PART_CODE_POINTS)]
    through_sequence: Annotated[int, Meta(ge=0)] = 0
    store_id: str = ""
    history_after_sequence: Annotated[int, Meta(ge=0)] = 0


class CheckpointTooLarge(ValueError):
    """The list of active executions cannot be sent, whole or in parts."""


class ExecutionList:
    """The list at one moment, shared by all subscribers.

    Args:
        text: the compact JSON list.
    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._checkpoint_id = ""
        self._payloads: list[bytes] = []

    @property
    def checkpoint_id(self) -> str:
        """Names the list when it is deferred. Raises CheckpointTooLarge when its parts cannot be sent."""
        if not self._checkpoint_id:
            self._split()
        return self._checkpoint_id

    def frames(self, through_sequence: int, store_id: str, history_after_sequence: int) -> Iterator[bytes]:
        """The parts in order, each a whole frame. Raises CheckpointTooLarge before the first."""
        checkpoint_id = self.checkpoint_id.encode()
        store, count = _encoder.encode(store_id), len(self._payloads)
        return (
            b'{"type":"active_executions_chunk","checkpoint_id":"%b","part":%d,"parts":%d,"payload":%b,'
            b'"through_sequence":%d,"store_id":%b,"history_after_sequence":%d}'
            % (checkpoint_id, part, count, payload, through_sequence, store, history_after_sequence)
            for part, payload in enumerate(self._payloads)
        )

    def _split(self) -> None:
        if len(self.text) > MAX_CHECKPOINT_BYTES:
            raise CheckpointTooLarge(
                f"the list of active executions has {len(self.text)} bytes; {MAX_CHECKPOINT_BYTES} can be sent"
            )
        text = self.text.decode()
        payloads = [
            _encoder.encode(text[start : start + PART_CODE_POINTS]) for start in range(0, len(text), PART_CODE_POINTS)
        ]
        if len(payloads) > MAX_PARTS or max(map(len, payloads)) > MAX_STREAM_FRAME_BYTES - _CHUNK_ENVELOPE_BYTES:
            raise CheckpointTooLarge(f"the list of active executions does not fit {MAX_PARTS} frames")
        self._payloads = payloads
        self._checkpoint_id = hashlib.sha256(self.text).hexdigest()


_CHUNK_ENVELOPE_BYTES = 1024
"""More than everything of a part but its payload has, whatever its numbers; a store id of ours has 32 digits."""

NO_EXECUTIONS = ExecutionList(b"[]")
