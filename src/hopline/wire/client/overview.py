"""RunOverview: the run's header facts, once as `run_started` carries them and once as the snapshot completes them.

Source: docs/wire/client.md, "Overview" (frontend reference 6.4). Unknown keys are rejected.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Direction = Annotated[str, Meta(examples=["max", "min"])]


class Evaluator(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The evaluator package that the task pins."""

    name: str
    version: str


class Objective(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the run is to achieve."""

    text: str
    """Markdown."""
    metric: str | None = None
    correctness_check: list[str] = []
    """The argv of the check that a candidate must pass; empty when there is none."""
    unit: str | None = None
    direction: Direction | None = None


class Benchmarks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What measures it."""

    evaluator: Evaluator | None = None
    """None for an evaluator in the source tree."""


class RunOverview(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The header facts of a run."""

    overview_version: Literal[1] = 1
    objective: Objective
    benchmarks: Benchmarks
