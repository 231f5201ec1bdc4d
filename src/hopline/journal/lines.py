"""Lines of a segment: where they begin, which sequence they carry, whether they are whole. Pure."""

from __future__ import annotations

import re

import msgspec

PREFIX = b'{"protocol_version":1,"sequence":'
"""Every stored event begins with this, its sequence and a comma; so any line tells its place without being parsed."""

_LONGEST_SEQUENCE = 20


class Head(msgspec.Struct):
    """What the journal looks at when it parses a line; the rest of the line is checked to be JSON and skipped."""

    sequence: int
    type: str


_spelt = re.compile(b"\n" + re.escape(PREFIX) + b"[1-9][0-9]*,")
_head: msgspec.json.Decoder[Head] = msgspec.json.Decoder(Head)


def prefix(sequence: int) -> bytes:
    """How the stored line of this sequence begins."""
    return b'{"protocol_version":1,"sequence":%d,' % sequence


def sequence_at(data: bytes, offset: int = 0) -> int | None:
    """The sequence of the line that begins at `offset`, or None when no event of ours begins there."""
    if not data.startswith(PREFIX, offset):
        return None
    start = offset + len(PREFIX)
    end = data.find(b",", start, start + _LONGEST_SEQUENCE)
    digits = data[start : max(end, start)]
    return int(digits) if digits.isdigit() and digits[:1] != b"0" else None


def last_line_start(data: bytes) -> int:
    """Where the last line of `data` begins; `data` ends with a newline."""
    return data.rfind(b"\n", 0, len(data) - 1) + 1


def seek(data: bytes, sequence: int, start: int = 0, end: int | None = None) -> int:
    """Where the line with the largest sequence <= `sequence` begins, by bisection.

    Args:
        data: whole lines of increasing sequence from `start` on.
        sequence: at least that of the line at `start`.
        start: where a line begins.
        end: where to stop looking; the length of `data` by default.
    """
    low, high = start, len(data) if end is None else end
    while high - low > 1:
        middle = (low + high) // 2
        place = data.find(b"\n", middle - 1, high - 1) + 1
        found = None
        while place and (found := sequence_at(data, place)) is None:
            place = data.find(b"\n", place, high - 1) + 1
        if found is not None and found <= sequence:
            low = place
        else:
            high = middle
    return low


def parse(line: bytes) -> Head | None:
    """The head of a whole line, or None when it is not an event of ours: not JSON, not UTF-8, not our prefix."""
    try:
        head = _head.decode(line)
        line.decode()
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return head if line.startswith(prefix(head.sequence)) else None


def parse_run(data: bytes, first: int) -> list[Head] | None:
    """The heads of all lines of `data` when they are all events with sequences `first`, `first` + 1, ...; else None."""
    try:
        heads = _head.decode_lines(data)
        if not data.isascii():
            data.decode()
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    count = data.count(b"\n")
    if len(heads) != count or [head.sequence for head in heads] != list(range(first, first + count)):
        return None
    # JSON may be spelt otherwise, but then a bisection would not find the line again.
    return heads if sequence_at(data) == first and len(_spelt.findall(data)) == count - 1 else None
