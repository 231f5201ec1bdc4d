"""Reads committed events from segment files: slices forwarded as they are stored, damage stepped over."""

import logging
from collections import OrderedDict
from enum import Enum, auto

from hopline.journal import lines
from hopline.journal.catalogue import Catalogue, Segment
from hopline.journal.checksums import Checksums, Marks, Verdict
from hopline.journal.place import find_place
from hopline.journal.port import NOTHING, Damage, Slice
from hopline.journal.stepper import NO_LIMIT, Stepper

_PROBE_BYTES = 4096
_LONG_PROBE_BYTES = 512 * 1024
_STEP_BYTES = 1 << 20
_REMEMBERED = 256

_log = logging.getLogger(__name__)


class Trust(Enum):
    """What is passed on without being parsed, as long as it begins and ends as it should."""

    NOTHING = auto()
    CHECKSUMS = auto()
    """Blocks that sum up."""
    EVERYTHING = auto()
    """Blocks that sum up, and those nobody has summed up: this process wrote them."""


class Reader:
    """Slices of one store's segments. Not thread-safe: one thread reads.

    Args:
        catalogue: the segments and how far each may be read.
        marks: the sparse index, or None to find every place by probing the segments and check no sums.
        trust: what is not parsed line by line.
    """

    def __init__(self, catalogue: Catalogue, marks: Marks | None = None, trust: Trust = Trust.CHECKSUMS) -> None:
        self.damage: list[Damage] = []
        self._catalogue = catalogue
        self._marks = marks
        self._checksums = None if marks is None else Checksums(catalogue, marks, self._note)
        self._trust = trust
        self._ends: OrderedDict[int, tuple[int, int]] = OrderedDict()
        self._latest: tuple[tuple[int, int | None, int], Slice] | None = None

    def read(self, after: int, before: int | None, max_bytes: int) -> Slice:
        """As EventStore.read. Raises OSError only when the volume cannot be read."""
        key = (after, before, max_bytes)
        if self._latest is not None and self._latest[0] == key:
            return self._latest[1]
        found = self._find(after + 1, before, max_bytes)
        if found.count:
            self._latest = (key, found)
        return found

    def _find(self, wanted: int, before: int | None, max_bytes: int) -> Slice:
        while before is None or wanted < before:
            segment, following = self._catalogue.holding(wanted)
            wanted = max(wanted, segment.first)
            try:
                found = self._read_in(segment, following, wanted, before, max_bytes)
            except FileNotFoundError:
                if segment not in self._catalogue.segments:
                    continue
                limit = wanted + 1 if following is None else following.first
                self._note(Damage(segment.path, 0, 0, segment.first, limit - 1, "the file is gone"))
                found = NOTHING
            if found.count or following is None:
                return found
            wanted = following.first
        return NOTHING

    def _read_in(
        self, segment: Segment, following: Segment | None, wanted: int, before: int | None, max_bytes: int
    ) -> Slice:
        """A slice of this segment from `wanted` on; empty when it has no such event."""
        size = self._catalogue.size(segment)
        limit = NO_LIMIT if following is None else following.first
        known = self._ends.get(wanted - 1)
        if known is not None and known[0] == segment.first:
            offset = known[1]
        else:
            offset = find_place(self._catalogue, self._marks, segment, wanted, size)
        if offset >= size:
            if following is not None and wanted < limit:
                self._note(Damage(segment.path, size, size, wanted, limit - 1, "lines are missing there"))
            return NOTHING
        data = self._pread_lines(segment, offset, size, max_bytes)
        last = lines.sequence_at(data, lines.last_line_start(data))
        verdict = Verdict.UNKNOWN
        if self._checksums is not None:
            verdict = self._checksums.verdict(segment, size, offset, offset + len(data), wanted, last)
        if last is None or verdict is Verdict.DAMAGED or not self._is_run(data, wanted, last, verdict):
            return self._step(segment, size, offset, data, wanted, limit, before)
        self._remember(last, segment, offset + len(data))
        if before is not None and last >= before:
            data, last = data[: lines.seek(data, before)], before - 1
        return Slice(wanted, last, last - wanted + 1, data)

    def _is_run(self, data: bytes, first: int, last: int, verdict: Verdict) -> bool:
        """Whether `data` holds the events `first` to `last`; every line is parsed where nothing vouches for it."""
        if lines.sequence_at(data) != first or last < first:
            return False
        if verdict is Verdict.SOUND and self._trust is not Trust.NOTHING:
            return True
        return self._trust is Trust.EVERYTHING or lines.parse_run(data, first) is not None

    def _step(
        self, segment: Segment, size: int, offset: int, data: bytes, wanted: int, limit: int, before: int | None
    ) -> Slice:
        """The events among damaged lines, from `data` or, when it has none, from what follows."""
        stepper = Stepper(segment.path, wanted, offset, limit)
        while True:
            finished = data.endswith(b"\n")
            # An unfinished line is damage in a sealed segment, and nothing yet in the newest.
            kept = stepper.feed(data) if finished or limit != NO_LIMIT else []
            offset += len(data)
            if kept or not finished or offset >= size:
                break
            data = self._pread_lines(segment, offset, size, _STEP_BYTES)
        if offset >= size or not finished:
            stepper.finish()
        for damage in stepper.damage:
            self._note(damage)
        if kept:
            self._remember(kept[-1][2].sequence, segment, stepper.offset - len(data) + kept[-1][1])
        if before is not None:
            kept = [event for event in kept if event[2].sequence < before]
        if not kept:
            return NOTHING
        joined = b"".join(data[start:end] for start, end, _ in kept)
        return Slice(kept[0][2].sequence, kept[-1][2].sequence, len(kept), joined)

    def _pread_lines(self, segment: Segment, offset: int, size: int, max_bytes: int) -> bytes:
        """Whole lines from `offset`, about `max_bytes` but at least one; unfinished when none ends before `size`."""
        stop = min(offset + max(max_bytes, 1), size)
        if stop < size:
            # The end is looked for first, so that the slice itself is read once and never copied.
            for span in (_PROBE_BYTES, _LONG_PROBE_BYTES):
                start = max(offset, stop - span)
                found = self._catalogue.pread(segment, stop - start, start).rfind(b"\n")
                if found >= 0:
                    return self._catalogue.pread(segment, start + found + 1 - offset, offset)
        while True:
            data = self._catalogue.pread(segment, stop - offset, offset)
            found = data.rfind(b"\n") if stop - offset <= max_bytes else data.find(b"\n")
            if found >= 0 or stop >= size or not data:
                return data if found < 0 or found + 1 == len(data) else data[: found + 1]
            stop = min(stop + _STEP_BYTES, size)

    def _remember(self, last: int, segment: Segment, end: int) -> None:
        self._ends[last] = (segment.first, end)
        self._ends.move_to_end(last)
        if len(self._ends) > _REMEMBERED:
            self._ends.popitem(last=False)

    def _note(self, damage: Damage) -> None:
        """Keep a damage, unless it is part of one that is known; a larger one takes the place of its parts."""
        for known in self.damage:
            if known.path == damage.path and known.start <= damage.start and damage.end <= known.end:
                return
        self.damage = [
            known
            for known in self.damage
            if not (known.path == damage.path and damage.start <= known.start and known.end <= damage.end)
        ]
        self.damage.append(damage)
        _log.warning("%s", damage)
