"""Bytes to bodies and back: lines until the ack, and then lines or binary frames (docs/wire/peer.md, "Framing").

A reader never raises on what a peer sent: bodies that came before the fault are returned first, and `fault` says why
nothing more will come. What a call could not use is kept, also over the change of framing.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import lz4.block  # type: ignore[import-untyped]  # the package ships no types

from hopline.wire.peer.limits import COMPRESS_FROM_BYTES, MAX_FRAME_BYTES, MAX_LINE_BYTES, MAX_RAW_BYTES

_HEAD = struct.Struct(">IB")
_LENGTH = struct.Struct(">I")
_RAW_LENGTH = struct.Struct("<I")
COMPRESSED = 0x01
ATTACHED = 0x02
"""Ours, where `session-raw` was agreed: the JSON's length (u32, little endian), the JSON, and bytes that go with it."""


class Framing(StrEnum):
    """How frames are cut after the ack."""

    LINES = "ndjson"
    BINARY = "frame-bin"


def encode_line(body: bytes) -> bytes:
    """The body as one line."""
    return body + b"\n"


def encode_frame(body: bytes) -> bytes:
    """The body as one binary frame, compressed from 1,024 bytes on where that is smaller (PL-COMPRESS)."""
    if len(body) >= COMPRESS_FROM_BYTES:
        packed: bytes = lz4.block.compress(body, store_size=True)
        if len(packed) < len(body):
            return _HEAD.pack(len(packed) + 1, COMPRESSED) + packed
    return _HEAD.pack(len(body) + 1, 0) + body


def encode_attached(body: bytes, attached: bytes) -> bytes:
    """The body as one binary frame, with bytes that go with it."""
    head = _HEAD.pack(_LENGTH.size + len(body) + len(attached) + 1, ATTACHED) + _RAW_LENGTH.pack(len(body))
    return b"".join((head, body, attached))


@dataclass(frozen=True, slots=True)
class Attached:
    """A body, and the bytes that came with it."""

    body: bytes
    attached: memoryview


class _Lines:
    """Lines of at most 1 MiB (PL-LINE-BOUND). A blank one is the end of the stream (PL-BLANK)."""

    def __init__(self) -> None:
        self.fault = ""
        self.ended = False
        self.held = 0
        self._parts: list[bytes] = []
        self._uncut = False
        """Whether what is held may hold newlines."""

    def receive(self, data: bytes, most: int = -1) -> list[bytes]:
        """At most `most` lines."""
        if self._uncut:
            data = self.take_held() + data
            self._uncut = False
        lines: list[bytes] = []
        start = 0
        while len(lines) != most:
            end = data.find(b"\n", start)
            if self.held + (len(data) if end < 0 else end) - start > MAX_LINE_BYTES:
                self.fault = f"a line of more than {MAX_LINE_BYTES} bytes"
                return lines
            if end < 0:
                break
            line = (self.take_held() + data[start:end]).strip()
            start = end + 1
            if not line:
                self.ended = True
                return lines
            lines.append(line)
        if start < len(data):
            self._parts.append(data[start:])
            self.held += len(data) - start
            self._uncut = len(lines) == most
        return lines

    def take_held(self) -> bytes:
        held = b"".join(self._parts)
        self._parts.clear()
        self.held = 0
        return held


class _Frames:
    """Binary frames; with `attachments` also those that carry bytes beside their JSON."""

    def __init__(self, *, attachments: bool) -> None:
        self._attachments = attachments
        self.fault = ""
        self.held = 0
        self._parts: list[bytes] = []
        self._need = 0

    def receive(self, data: bytes) -> list[bytes | Attached]:
        """Every whole frame's body."""
        if self._parts:
            self._parts.append(data)
            self.held += len(data)
            if self.held < self._need:
                return []
            data = b"".join(self._parts)
            self._parts.clear()
            self.held = 0
        bodies: list[bytes | Attached] = []
        at, size = 0, len(data)
        while at < size:
            need = self._needed(data, at, size - at)
            if not self.fault and size - at < need:
                self._parts.append(data[at:])
                self.held = size - at
                self._need = need
                break
            body: bytes | Attached = b"" if self.fault else self._body(data, at, at + need)
            if self.fault:
                break
            bodies.append(body)
            at += need
        return bodies

    def _needed(self, data: bytes, at: int, have: int) -> int:
        """How many bytes of the frame are needed to go on.

        What they claim is refused before its body is awaited (PL-FRAME-LENGTH, PL-RESERVED, PL-RAW-BOUNDS).
        """
        if have < _LENGTH.size:
            return _LENGTH.size
        length: int
        (length,) = _LENGTH.unpack_from(data, at)
        if not 1 < length <= MAX_FRAME_BYTES:
            self.fault = f"a frame of length {length}"
        elif have == _LENGTH.size:
            return _HEAD.size
        elif flags := data[at + _LENGTH.size]:
            if flags == ATTACHED and self._attachments:
                if have >= _HEAD.size + _RAW_LENGTH.size:
                    (json,) = _RAW_LENGTH.unpack_from(data, at + _HEAD.size)
                    if not 0 < json <= length - 1 - _RAW_LENGTH.size:
                        self.fault = f"a frame of length {length} that claims {json} bytes of JSON"
                elif length > 1 + _RAW_LENGTH.size:
                    return _HEAD.size + _RAW_LENGTH.size
                else:
                    self.fault = f"a frame of length {length} that has bytes beside its JSON"
            elif flags != COMPRESSED:
                self.fault = f"reserved flags {flags:#04x}"
            elif length <= 1 + _RAW_LENGTH.size:
                self.fault = f"a compressed frame of length {length}"
            elif have < _HEAD.size + _RAW_LENGTH.size:
                return _HEAD.size + _RAW_LENGTH.size
            else:
                (raw,) = _RAW_LENGTH.unpack_from(data, at + _HEAD.size)
                if not COMPRESS_FROM_BYTES <= raw <= MAX_RAW_BYTES:
                    self.fault = f"a compressed frame that claims {raw} bytes"
        return _LENGTH.size + length

    def _body(self, data: bytes, at: int, end: int) -> bytes | Attached:
        """The JSON; of a block exactly what its length claimed, or the fault (PL-EXACT)."""
        flags = data[at + _LENGTH.size]
        if not flags:
            return data[at + _HEAD.size : end]
        if flags == ATTACHED:
            begin = at + _HEAD.size + _RAW_LENGTH.size
            (length,) = _RAW_LENGTH.unpack_from(data, at + _HEAD.size)
            return Attached(data[begin : begin + length], memoryview(data)[begin + length : end])
        try:
            body: bytes = lz4.block.decompress(memoryview(data)[at + _HEAD.size : end])
        except lz4.block.LZ4BlockError:
            self.fault = "a block that is not what its length claims"
            return b""
        return body


class FrameReader:
    """Cuts the stream of one connection, however it was chunked."""

    def __init__(self) -> None:
        self._lines = _Lines()
        self._frames: _Frames | None = None

    @property
    def fault(self) -> str:
        """Why the connection must close; empty while all is well."""
        return self._frames.fault if self._frames else self._lines.fault

    @property
    def ended(self) -> bool:
        """Whether a blank line ended the stream."""
        return self._lines.ended

    @property
    def mid_frame(self) -> bool:
        """Whether a frame has begun and is not whole: then a timeout is no idle tick (PL-MID-FRAME)."""
        return (self._frames or self._lines).held > 0

    def receive_line(self, data: bytes) -> list[bytes]:
        """At most one line, the rest being kept: nothing is cut that the ack may turn into frames (PL-CARRIED-OVER)."""
        return self._lines.receive(data, 1)

    def settle(self, framing: Framing, *, attachments: bool = False) -> Sequence[bytes | Attached]:
        """From here on frames are cut like this; the bodies that are already whole."""
        if framing is Framing.LINES:
            return self._lines.receive(b"")
        self._frames = _Frames(attachments=attachments)
        return self._frames.receive(self._lines.take_held())

    def receive(self, data: bytes) -> Sequence[bytes | Attached]:
        """The bodies that `data` completes, in order."""
        return (self._frames or self._lines).receive(data)

    def take_last_line(self) -> bytes:
        """What stands after the last newline when a stream of lines ends: it still counts (PL-LAST-LINE)."""
        return b"" if self._frames else self._lines.take_held().strip()
