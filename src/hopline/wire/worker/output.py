"""Raw output for people and for the record: frames in, chunks out that give back every byte the worker wrote.

The relay never joins a scalar split over two frames; that is done here, one joiner per stream and generation
(docs/wire/worker.md, "The controller": WW-UTF8-JOIN). A text frame's JSON string is already escaped and already
checked by the strict decoder, so its bytes are spliced into the chunk instead of being encoded again.
"""

import binascii
import codecs
from dataclasses import dataclass
from typing import Literal

import msgspec

Stream = Literal["stdout", "stderr"]

MAX_CHUNK_BYTES = 96 * 1024
"""Most bytes a chunk covers: at 6 bytes of JSON and 4/3 of base64 for each, its event stays under 1,000,000."""

MERGED_CHUNK_BYTES = 64 * 1024
"""Small text chunks of one stream that arrive together are merged up to this many bytes."""

_SAMPLE_BYTES = 1024
_PRINTABLE = bytes(byte if 32 <= byte < 127 or byte in b"\t\n\r" else ord(".") for byte in range(256))

_encode = msgspec.json.Encoder().encode
_PREFIX: dict[Stream, bytes] = {
    "stdout": b'{"kind":"stdout","data":"',
    "stderr": b'{"kind":"stderr","data":"',
}


@dataclass(frozen=True, slots=True)
class OutputChunk:
    """A run of bytes of one stream, as text and, only where the text cannot reproduce them, as base64.

    The chunks of a stream are contiguous: each begins where the one before ended.
    """

    stream: Stream
    offset: int
    """Bytes of this stream before the chunk."""
    size: int
    """Bytes that the chunk covers; never 0."""
    content_json: bytes
    """The text as the inside of a JSON string: escaped, UTF-8, without the quotes."""
    raw: bytes | None = None
    """Padded standard base64 of the bytes, when `content_json` holds stand-ins for some of them."""


class OutputJoiner:
    """Turns the raw frames of one generation into chunks, in order of arrival.

    Up to three bytes of an incomplete UTF-8 scalar wait for the rest of it; `close` gives them out. Chunks pile up
    until `take` is called, which the caller does before anything else of the generation is told.
    """

    def __init__(self) -> None:
        self._offsets: dict[Stream, int] = {"stdout": 0, "stderr": 0}
        self._pending: dict[Stream, bytes] = {"stdout": b"", "stderr": b""}
        self._chunks: list[OutputChunk] = []
        self._merging: list[bytes] = []
        self._merging_stream: Stream = "stdout"
        self._merging_size = 0

    def text(self, stream: Stream, line: bytes, data: str) -> None:
        """A text frame: its line as it came, which the strict decoder accepted, and the text that it decoded to."""
        if self._pending[stream]:
            self._flush_pending(stream)
        size = len(data) if data.isascii() else len(data.encode())
        if size > MAX_CHUNK_BYTES:
            self._long_text(stream, data)
            return
        prefix = _PREFIX[stream]
        # A quote in the body could end the string and begin a second, duplicate field that the decoder preferred.
        if line.startswith(prefix) and line.endswith(b'"}') and line.find(b'"', len(prefix), -2) < 0:
            content = line[len(prefix) : -2]
        else:
            content = _encode(data)[1:-1]
        self._text(stream, size, content)

    def octets(self, stream: Stream, data: bytes) -> None:
        """The decoded bytes of a base64 frame."""
        if pending := self._pending[stream]:
            data = pending + data
        for start in range(0, len(data), MAX_CHUNK_BYTES):
            data_piece = data[start : start + MAX_CHUNK_BYTES]
            if start:
                data_piece = self._pending[stream] + data_piece
            self._octets(stream, data_piece)

    def close(self, stream: Stream) -> None:
        """The stream ended: bytes still waiting for the rest of a scalar are given out as they are."""
        if self._pending[stream]:
            self._flush_pending(stream)

    def take(self) -> list[OutputChunk]:
        """The chunks since the last call."""
        self._end_merge()
        chunks, self._chunks = self._chunks, []
        return chunks

    def _octets(self, stream: Stream, data: bytes) -> None:
        try:
            text, used = codecs.utf_8_decode(data, "strict", False)
            raw = None
        except UnicodeDecodeError:
            text, used = _lossy(data)
            raw = binascii.b2a_base64(data[:used], newline=False)
        self._pending[stream] = data[used:]
        if raw is not None:
            self._raw(stream, used, text, raw)
        elif used:
            self._text(stream, used, _encode(text)[1:-1])

    def _long_text(self, stream: Stream, data: str) -> None:
        step = MAX_CHUNK_BYTES // 4
        for start in range(0, len(data), step):
            piece = data[start : start + step]
            self._text(stream, len(piece.encode()), _encode(piece)[1:-1])

    def _flush_pending(self, stream: Stream) -> None:
        data, self._pending[stream] = self._pending[stream], b""
        self._raw(stream, len(data), data.decode(errors="replace"), binascii.b2a_base64(data, newline=False))

    def _raw(self, stream: Stream, size: int, text: str, raw: bytes) -> None:
        self._end_merge()
        self._append(stream, size, _encode(text)[1:-1], raw)

    def _text(self, stream: Stream, size: int, content: bytes) -> None:
        if not size:
            return
        merged = self._merging_size + size
        if self._merging and (self._merging_stream != stream or merged > MERGED_CHUNK_BYTES):
            self._end_merge()
        self._merging_stream = stream
        self._merging.append(content)
        self._merging_size += size

    def _end_merge(self) -> None:
        if not self._merging:
            return
        parts = self._merging
        content = parts[0] if len(parts) == 1 else b"".join(parts)
        size = self._merging_size
        self._merging, self._merging_size = [], 0
        self._append(self._merging_stream, size, content, None)

    def _append(self, stream: Stream, size: int, content: bytes, raw: bytes | None) -> None:
        offset = self._offsets[stream]
        self._offsets[stream] = offset + size
        self._chunks.append(OutputChunk(stream, offset, size, content, raw))


def _lossy(data: bytes) -> tuple[str, int]:
    """Text for people from bytes that are not UTF-8, and how many of them it stands for.

    Binary data, told by its beginning, is shown as a hex dump's right column shows it: every bad byte as U+FFFD would
    take twenty times as long and three times the room, and tell no more.
    """
    sample = codecs.utf_8_decode(data[:_SAMPLE_BYTES], "replace", False)[0]
    if sample.count("\N{REPLACEMENT CHARACTER}") * 8 > len(sample):
        return data.translate(_PRINTABLE).decode("ascii"), len(data)
    return codecs.utf_8_decode(data, "replace", False)
