"""The page in a real Chromium: a million lines streamed through it, and how soon it shows output once opened."""

import os
import shutil
from pathlib import Path

import msgspec

from benchmarks import product
from benchmarks.context import Context
from benchmarks.harness import OURS, Bar, Benchmark, NotMeasured, Row, Sample, Side
from benchmarks.workloads import PROGRAMS

LINES = 1_000_000
REPEATS = 3
RIG = Path(__file__).parent.parent / "tests" / "e2e"


class Page(msgspec.Struct):
    """What programs/page.py says."""

    seconds: float
    longest_ms: float
    tasks: int
    openings_ms: list[float]


def observed(context: Context, lines: int) -> Page:
    """One run of the program. Raises NotMeasured without Chromium, RuntimeError with its last words when it failed."""
    if shutil.which("chromium") is None:
        raise NotMeasured("Chromium is not installed; scripts/system-packages.sh installs it")
    with context.stage() as stage:
        said, into_said = stage.pipe()
        complaint, into_complaint = stage.pipe()
        argv = [context.program("python"), PROGRAMS / "page.py", str(lines)]
        pid = stage.start(argv, env={"PYTHONPATH": str(RIG)}, stdout=into_said, stderr=into_complaint)
        stage.close(into_said, into_complaint)
        status = stage.finish(pid, 120).status
        if status != 0:
            os.set_blocking(complaint, False)
            words = os.read(complaint, 65536).decode(errors="replace").strip().splitlines()
            raise RuntimeError(words[-1] if words else f"programs/page.py ended with {status}")
        return msgspec.json.decode(os.read(said, 65536), type=Page)


def measure(context: Context) -> list[Row]:
    """Three streams, each opened three times; the gateway is `hopline web`, the runs are ordinary ones.

    The longest task of all streams is judged, and the median of the openings.
    """
    product.program(context)
    lines = context.size(LINES)
    found = [observed(context, lines) for _ in range(REPEATS)]
    each = ", ".join(f"{one.longest_ms:.0f} ms in {one.seconds:.1f} s" for one in found)
    note = f"{lines:,} lines until the last is on the screen, three times: {each}"
    longest = Side(OURS, "ms", (Sample(max(one.longest_ms for one in found), note=note),))
    opening = Side(OURS, "ms", tuple(Sample(time) for one in found for time in one.openings_ms))
    return [
        Row("page", "page: longest task, 1,000,000 lines streamed", longest, None, Bar("<=", 200, "ms")),
        Row("page-open", "  output after opening", opening, None, Bar("<", 1000, "ms")),
    ]


BENCHMARKS = [Benchmark("page", "the page in Chromium: a million lines, and the first output after opening", measure)]
