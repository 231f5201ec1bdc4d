"""The newest segment file: bytes go in at its end, whole or not at all."""

import os
from collections.abc import Sequence
from pathlib import Path

from hopline.journal.catalogue import Segment
from hopline.journal.identity import segment_path, sync_folder
from hopline.journal.window import Chunk

_MOST_VECTORS = 512
"""Well under IOV_MAX (1024)."""


class SegmentLog:
    """Appends to one segment after another. Used by one thread.

    Args:
        folder: the journal's.
        segment: the newest one; its file exists and holds `segment.size` bytes that count.
        durable: fdatasync before an append returns.
    """

    def __init__(self, folder: Path, segment: Segment, *, durable: bool) -> None:
        self.segment = segment
        self._folder = folder
        self._durable = durable
        self._descriptor = _open_segment(segment.path)

    def append(self, chunks: Sequence[Chunk]) -> int:
        """Put the chunks at the end and commit them; how many bytes of whole lines were committed.

        Fewer than all when the volume had no more room. Raises OSError when nothing was committed; the file then ends
        where it did before, or is made to by the next append.
        """
        start = self.segment.size
        buffers: list[bytes | memoryview] = [chunk.data for chunk in chunks]
        total = sum(len(chunk.data) for chunk in chunks)
        done = 0
        try:
            while done < total:
                count = os.pwritev(self._descriptor, buffers[:_MOST_VECTORS], start + done)
                done += count
                if done < total:
                    buffers = _after(buffers, count)
        except OSError:
            done = _whole_lines(chunks, done)
            os.ftruncate(self._descriptor, start + done)
            if not done:
                raise
        if self._durable:
            try:
                os.fdatasync(self._descriptor)
            except OSError:
                # What the kernel could not write it may have dropped: only writing it again can make it durable.
                os.ftruncate(self._descriptor, start)
                raise
        return done

    def turn(self, first: int) -> Segment:
        """Seal the segment and go on in a new one that begins with `first`. Raises OSError and changes nothing then."""
        segment = Segment(first, segment_path(self._folder, first), 0)
        descriptor = _open_segment(segment.path)
        try:
            if self._durable:
                sync_folder(segment.path.parent)
        except OSError:
            os.close(descriptor)
            raise
        os.close(self._descriptor)
        self._descriptor, self.segment = descriptor, segment
        return segment

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def split(chunks: Sequence[Chunk], size: int) -> tuple[list[Chunk], list[Chunk]]:
    """The chunks before and after `size` bytes, which is where a line ends."""
    head: list[Chunk] = []
    for place, chunk in enumerate(chunks):
        if size < len(chunk.data):
            if not size:
                return head, list(chunks[place:])
            data, rest = chunk.data[:size], chunk.data[size:]
            last = chunk.first + data.count(b"\n") - 1
            head.append(Chunk(chunk.first, last, data, tuple(line for line in chunk.spine if line[0] <= last)))
            tail = Chunk(last + 1, chunk.last, rest, tuple(line for line in chunk.spine if line[0] > last))
            return head, [tail, *chunks[place + 1 :]]
        head.append(chunk)
        size -= len(chunk.data)
    return head, []


def _open_segment(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _after(buffers: list[bytes | memoryview], count: int) -> list[bytes | memoryview]:
    place = 0
    while count >= len(buffers[place]):
        count -= len(buffers[place])
        place += 1
    return [memoryview(buffers[place])[count:], *buffers[place + 1 :]]


def _whole_lines(chunks: Sequence[Chunk], size: int) -> int:
    whole = 0
    for chunk in chunks:
        if size < len(chunk.data):
            return whole + chunk.data.rfind(b"\n", 0, size) + 1
        whole += len(chunk.data)
        size -= len(chunk.data)
    return whole
