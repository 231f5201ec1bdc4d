"""Bytes on their way into one of the worker's pipes, and what is owed when they are there or cannot be.

Source: docs/wire/worker.md, "Input and interrupts" and "Retirement".
"""

from collections import deque
from itertools import islice, takewhile

import msgspec

_PIECE_BYTES = 128
"""Counted for each piece besides its data, so that many empty ones are bounded too."""
_PIECES_A_WRITE = 16
"""Offered to one gathered write: more than a pipe takes, unless they are small, and then it does not matter."""


class _Piece(msgspec.Struct):
    data: bytes
    request_id: int | None = None
    keep: bool = False
    """Whether it may still wait for the worker when retirement has begun."""
    end: bool = False
    """Whether it stands for an end of input whose bytes are not known yet."""
    mute: bool = False
    """Whether nobody is told when it cannot be written."""
    written: int = 0

    @property
    def settled(self) -> bool:
        return self.written == len(self.data) and not self.end


_LINE_ENDS = b"\n\r\x04"
"""After one of these a terminal, as it is usually set, holds no unfinished line."""


class WorkerInput:
    """One byte stream into the worker: its fd 0 or its sideband. Open until `closed`, which never reverts."""

    def __init__(self) -> None:
        self._pieces: deque[_Piece] = deque()
        self._last_offer = False
        self._close_when_empty = False
        self._end_asked = False
        self._last_byte = _LINE_ENDS[0]
        self.closed = False
        self.size = 0
        """Bytes that wait."""

    @property
    def weight(self) -> int:
        """About the memory that what waits takes."""
        return self.size + _PIECE_BYTES * len(self._pieces)

    @property
    def accepting(self) -> bool:
        """Whether `put` has a meaning: not closed, and no close asked for."""
        return not self.closed and not self._close_when_empty

    def put(self, data: bytes, request_id: int | None = None, *, keep: bool = False) -> None:
        """Queue `data`; with a request id, even empty data is owed a receipt once what is before it is written."""
        self._pieces.append(_Piece(data, request_id, keep))
        self.size += len(data)

    def close_when_empty(self) -> None:
        """Close after everything queued before."""
        self._close_when_empty = True

    def put_end(self) -> None:
        """Queue an end of input that closes nothing: its bytes are asked for when it is its turn (WW-TERMINAL)."""
        self._pieces.append(_Piece(b"", end=True, mute=True))

    def take_end(self) -> bool:
        """Whether the bytes of an end of input are to be found now; True once for each."""
        if self._end_asked or not self._pieces or not self._pieces[0].end:
            return False
        self._end_asked = True
        return True

    def end_with(self, data: bytes) -> None:
        """The bytes that were asked for, if they are still wanted."""
        self._end_asked = False
        if self._pieces and self._pieces[0].end:
            self._pieces[0].end = False
            self._pieces[0].data = data
            self.size += len(data)

    @property
    def unfinished(self) -> bool:
        """Whether what was written last is no whole line, as far as its last byte tells."""
        return self._last_byte not in _LINE_ENDS

    def offer_last(self) -> None:
        """Retirement: what waits is offered once more, and what then stalls is given up (WW-TELL-WORKER)."""
        self._last_offer = True

    def buffers(self) -> list[bytes | memoryview]:
        """What to offer to one write; empty when nothing waits."""
        pieces = takewhile(lambda piece: not piece.end, islice(self._pieces, _PIECES_A_WRITE))
        return [memoryview(piece.data)[piece.written :] for piece in pieces if piece.data]

    def wrote(self, count: int) -> list[int]:
        """`count` bytes are in the pipe; returns the request ids that are thereby answered.

        With 0 it settles pieces without data.
        """
        receipts = []
        self.size -= count
        while self._pieces:
            piece = self._pieces[0]
            step = min(count, len(piece.data) - piece.written)
            piece.written += step
            count -= step
            if step:
                self._last_byte = piece.data[piece.written - 1]
            if not piece.settled:
                break
            self._pieces.popleft()
            if piece.request_id is not None:
                receipts.append(piece.request_id)
        return receipts

    def stalled(self) -> None:
        """The pipe took all it can now. After `offer_last` the rest is dropped, and if that cuts a piece short the
        stream closes: nothing may follow it (WW-ABORTED-FRAME)."""
        if not self._last_offer:
            return
        if self._pieces and self._pieces[0].written and not self._pieces[0].keep:
            self.close()
            return
        kept = [piece for piece in self._pieces if piece.keep]
        self._pieces = deque(kept)
        self.size = sum(len(piece.data) - piece.written for piece in kept)

    def should_close(self) -> bool:
        """Whether everything is written and the end was asked for."""
        return not self.closed and self._close_when_empty and not self._pieces

    def close(self) -> list[int | None]:
        """Close now; returns the request id, or None, of each piece that will not be written in full."""
        unwritten = [piece.request_id for piece in self._pieces if not piece.mute]
        self._pieces.clear()
        self.size = 0
        self.closed = True
        return unwritten
