"""Payloads of the conversation transfer (docs/wire/peer.md, "Conversation transfer")."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

U32 = Annotated[int, Meta(ge=0, le=2**32 - 1)]


class SessionTransfer(msgspec.Struct, frozen=True, kw_only=True):
    """`session_transfer`: one chunk of a transcript. All chunks of one repeat everything but `seq` and `data`."""

    session_id: str
    cwd: str
    """Where the conversation goes on."""
    seq: U32
    """From 0."""
    total: U32
    digest: str
    """SHA-256 of the whole transcript, in hex."""
    data: bytes
    """Base64 on the wire, standard alphabet with padding: 524,288 bytes, fewer in the last chunk."""
    packed: bool | UnsetType = UNSET
    """Ours, feature `session-lz4`: `data` is the chunk's length (u32, little endian) and one LZ4 block of it."""


class SessionReceived(msgspec.Struct, frozen=True, kw_only=True):
    """`session_received`: the whole transcript is in place."""

    session_id: str
    path: str
    resume: str
    """The command that resumes it there. Shown to a person, never run."""
    cwd: str | UnsetType | None = UNSET
    """Not read."""


class SessionOffer(msgspec.Struct, frozen=True, kw_only=True):
    """`session_offer` (ours, feature `session-offer`): what is about to be sent, so that nothing is sent in vain."""

    session_id: str
    cwd: str
    total: U32
    digest: str


class SessionAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """`session_answer` (ours, feature `session-offer`): what the receiver makes of an offer, or of a chunk."""

    session_id: str
    digest: str
    next_seq: U32 = 0
    """The chunk to begin with: those before it are here already."""
    refused: str | UnsetType = UNSET
    """Present when it wants none of it: why, as a sentence for the person who sends."""
