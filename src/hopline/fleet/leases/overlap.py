"""Which resources overlap, and an index that finds them without looking at every one.

Two `path_glob` values overlap when what is fixed of one is a prefix of what is fixed of the other; any other kind
compares whole values (docs/wire/peer.md, "Fleet leases").
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator

PATH_GLOB = "path_glob"
"""The one kind whose values overlap by prefix."""

_WILD = "*?[{"


def fixed_part(value: str) -> str:
    """What of a `path_glob` value is compared; empty for a value that overlaps everything.

    `.` segments and doubled slashes are dropped, then everything from the first wildcard on, then closing slashes. A
    value with a `..` segment may lie anywhere.
    """
    if "." in value or "//" in value:
        segments = value.split("/")
        if ".." in segments:
            return ""
        value = "/".join(part for at, part in enumerate(segments) if part != "." and (part or at == 0))
    for at, character in enumerate(value):
        if character in _WILD:
            value = value[:at]
            break
    return value.rstrip("/")


def overlap(kind: str, one: str, other: str) -> bool:
    """Whether two values of `kind` overlap (PL-LEASE-OVERLAP)."""
    if kind != PATH_GLOB:
        return one == other
    mine, theirs = fixed_part(one), fixed_part(other)
    return mine.startswith(theirs) or theirs.startswith(mine)


class OverlapIndex:
    """Names by the resource each stands for. Finding costs by what is found, not by what is held."""

    def __init__(self) -> None:
        self._exact: dict[tuple[str, str], dict[str, None]] = {}
        self._paths: dict[str, dict[str, None]] = {}
        self._sorted: list[str] = []
        self._lengths: Counter[int] = Counter()

    def add(self, name: str, kind: str, value: str) -> None:
        """Hold `name` under its resource."""
        if kind != PATH_GLOB:
            self._exact.setdefault((kind, value), {})[name] = None
            return
        fixed = fixed_part(value)
        if fixed not in self._paths:
            self._paths[fixed] = {}
            insort(self._sorted, fixed)
            self._lengths[len(fixed)] += 1
        self._paths[fixed][name] = None

    def discard(self, name: str, kind: str, value: str) -> None:
        """Forget `name`, held under this resource."""
        if kind != PATH_GLOB:
            names = self._exact[kind, value]
            del names[name]
            if not names:
                del self._exact[kind, value]
            return
        fixed = fixed_part(value)
        names = self._paths[fixed]
        del names[name]
        if names:
            return
        del self._paths[fixed]
        del self._sorted[bisect_left(self._sorted, fixed)]
        self._lengths[len(fixed)] -= 1
        if not self._lengths[len(fixed)]:
            del self._lengths[len(fixed)]

    def overlapping(self, kind: str, value: str) -> Iterator[str]:
        """The names whose resource overlaps this one, in no particular order. Do not change the index meanwhile."""
        if kind != PATH_GLOB:
            yield from self._exact.get((kind, value), ())
            return
        fixed = fixed_part(value)
        for length in self._lengths:
            if length < len(fixed):
                yield from self._paths.get(fixed[:length], ())
        for at in range(bisect_left(self._sorted, fixed), len(self._sorted)):
            longer = self._sorted[at]
            if not longer.startswith(fixed):
                return
            yield from self._paths[longer]
