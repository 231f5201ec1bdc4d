"""What a measurement is: samples, a median, a ratio to a reference, a bar and a verdict. Touches nothing outside.

A benchmark runs its sides in turns (A, B, A, B, ...), so that a slow minute of the machine falls on all of them.
"""

import fnmatch
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.context import Context

OURS = "hopline"


class Verdict(StrEnum):
    """What became of a row."""

    MET = "met"
    MISSED = "missed"
    SHOWN = "shown"
    """There is no bar; the figure is for information."""
    NOT_MEASURED = "not measured"
    """Its note says why."""


class NotMeasured(Exception):
    """This machine or this state of the project cannot run the benchmark; the message says why."""


@dataclass(frozen=True, slots=True)
class Bar:
    """What a row must reach: `ratio` bars judge ours / reference, the others our figure alone."""

    relation: str
    """">=", "<=" or "<"."""
    limit: float
    unit: str = "x"
    """"x" for a ratio, else the unit of the figure."""

    def met(self, figure: float | None, ratio: float | None) -> bool:
        """Whether the bar is reached; a missing or nonsensical number never reaches it."""
        judged = ratio if self.unit == "x" else figure
        if judged is None or math.isnan(judged):
            return False
        if self.relation == ">=":
            return judged >= self.limit
        return judged <= self.limit if self.relation == "<=" else judged < self.limit

    def __str__(self) -> str:
        limit = f"{self.limit:,.0f}" if self.limit >= 1000 else f"{self.limit:g}"
        return f"{self.relation} {limit}{'x' if self.unit == 'x' else ' ' + self.unit}"


@dataclass(frozen=True, slots=True)
class Sample:
    """One repetition of one side."""

    value: float
    cpu_seconds_per_gb: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Side:
    """All repetitions of one side."""

    name: str
    unit: str
    samples: tuple[Sample, ...]

    @property
    def value(self) -> float:
        """The median of the samples."""
        return median(sample.value for sample in self.samples)

    @property
    def cpu_seconds_per_gb(self) -> float | None:
        """The median CPU cost, when it was measured."""
        costs = [sample.cpu_seconds_per_gb for sample in self.samples if sample.cpu_seconds_per_gb is not None]
        return median(costs) if costs else None

    @property
    def note(self) -> str:
        """What the repetition nearest to the median had to say."""
        return min(self.samples, key=lambda sample: abs(sample.value - self.value)).note


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    name: str
    measure: str
    ours: Side | None
    reference: Side | None = None
    bar: Bar | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours / reference; None without both, or when the reference is 0."""
        if self.ours is None or self.reference is None or self.reference.value == 0:
            return None
        return self.ours.value / self.reference.value

    @property
    def verdict(self) -> Verdict:
        """Whether the bar is reached."""
        if self.ours is None:
            return Verdict.NOT_MEASURED
        if self.bar is None:
            return Verdict.SHOWN
        return Verdict.MET if self.bar.met(self.ours.value, self.ratio) else Verdict.MISSED


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One thing to run; it may fill several rows from the same repetitions."""

    name: str
    measures: str
    run: "Callable[[Context], list[Row]]" = field(repr=False)


def interleave(sides: Mapping[str, Callable[[], Sample]], repeats: int) -> dict[str, list[Sample]]:
    """Run every side `repeats` times in turns: A B C A B C ..."""
    samples: dict[str, list[Sample]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, measure in sides.items():
            samples[name].append(measure())
    return samples


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that `share` (0 to 1) of the values do not exceed (nearest rank).

    Raises ValueError when there are no values or the share is out of range.
    """
    ordered = sorted(values)
    if not ordered or not 0 <= share <= 1:
        raise ValueError(f"no percentile {share} of {len(ordered)} values")
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def choose(benchmarks: Sequence[Benchmark], wanted: Sequence[str]) -> list[Benchmark]:
    """The benchmarks whose name is wanted, begins with a wanted family and a dash, or matches a pattern; all for none.

    Raises KeyError with the first wanted name that chooses nothing.
    """

    def chooses(want: str, name: str) -> bool:
        return name == want or name.startswith(want + "-") or fnmatch.fnmatchcase(name, want)

    for want in wanted:
        if not any(chooses(want, benchmark.name) for benchmark in benchmarks):
            raise KeyError(want)
    return [each for each in benchmarks if not wanted or any(chooses(want, each.name) for want in wanted)]
