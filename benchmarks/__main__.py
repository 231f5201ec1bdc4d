"""`python -m benchmarks`: run them, print the table on stdout and progress on stderr, keep the figures as JSON."""

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.catalogue import BENCHMARKS
from benchmarks.context import Context, disk_folder, private_environment
from benchmarks.harness import Benchmark, NotMeasured, Row, Verdict, choose
from benchmarks.processes import TookTooLong, adopt_orphans, end_orphans
from benchmarks.table import markdown, render, report
from benchmarks.workloads import Programs

RESULTS = Path(__file__).parent / "results"


def parse(words: list[str]) -> argparse.Namespace:
    """The options. Exits with 2 on a wrong one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure hopline beside its references.")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="these alone: a name, a family or a pattern"
    )
    parser.add_argument("--list", action="store_true", help="name the benchmarks and run none")
    parser.add_argument("--quick", action="store_true", help="a tenth of every size; figures are rough")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the figures go (default benchmarks/results/)")
    parser.add_argument("--markdown", action="store_true", help="print the table as docs/performance.md shows it")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is missed or a row not measured")
    parser.add_argument(
        "--no-compiler", action="store_true", help="loads and reader in Python although there is a compiler"
    )
    return parser.parse_args(words)


def run_one(benchmark: Benchmark, context: Context) -> list[Row]:
    """The benchmark's rows; one row with a note when it could not be measured. Leaves no process behind."""
    try:
        rows = benchmark.run(context)
    except NotMeasured as reason:
        rows = [Row(benchmark.name, benchmark.name, None, note=str(reason))]
    except (TookTooLong, RuntimeError, OSError, ValueError, KeyError) as error:
        rows = [Row(benchmark.name, benchmark.name, None, note=f"{type(error).__name__}: {error}")]
    if left := end_orphans():
        context.say(f"{benchmark.name}: ended what was left: {', '.join(left)}")
    return rows


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "cpus": len(os.sched_getaffinity(0)),
        "load_average": os.getloadavg()[0],
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def main(words: list[str]) -> int:
    """Run the program. Returns its exit status."""
    options = parse(words)
    try:
        chosen = choose(BENCHMARKS, options.only)
    except KeyError as unknown:
        names = ", ".join(benchmark.name for benchmark in BENCHMARKS)
        print(f"there is no benchmark {unknown}; there are: {names}", file=sys.stderr)
        return 2
    if options.list:
        width = max(len(benchmark.name) for benchmark in chosen)
        print("\n".join(f"{benchmark.name:<{width}}  {benchmark.measures}" for benchmark in chosen))
        return 0
    adopt_orphans()
    before, started = machine(), time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="hopline-bench-", dir=disk_folder()))

    def say(line: str) -> None:
        print(f"[{time.monotonic() - started:5.0f} s] {line}", file=sys.stderr, flush=True)

    rows: list[Row] = []
    try:
        programs = Programs(folder, compile_them=not options.no_compiler)
        context = Context(folder, programs, private_environment(folder), 0.1 if options.quick else 1.0, say)
        for benchmark in chosen:
            say(benchmark.name)
            rows += run_one(benchmark, context)
    finally:
        end_orphans()
        shutil.rmtree(folder, ignore_errors=True)
    seconds = time.monotonic() - started
    print(markdown(rows) if options.markdown else render(rows, colours=sys.stdout.isatty()), end="")
    load = before["load_average"]
    sizes = "a tenth of the sizes named" if options.quick else "full sizes"
    print(f"{len(chosen)} benchmarks in {seconds:.0f} s, {sizes}; loads in {programs.kind}; load before: {load:.1f}")
    figures = {
        "machine": before,
        "quick": options.quick,
        "loads": programs.kind,
        "seconds": seconds,
        "rows": report(rows),
    }
    target = options.json or RESULTS / time.strftime("%Y-%m-%dT%H%M%S.json")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(figures, indent=1) + "\n")
    say(f"figures in {target}")
    failed = any(row.verdict in (Verdict.MISSED, Verdict.NOT_MEASURED) for row in rows)
    return int(options.strict and failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
