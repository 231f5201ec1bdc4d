"""The program itself, as `make bench` starts it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "benchmarks", *words]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=30, check=False)


def test_the_list_names_every_benchmark_and_runs_none() -> None:
    done = bench("--list")
    assert (done.returncode, done.stderr) == (0, "")
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert "relay-ansi" in names
    assert len(names) == len(set(names))


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    done = bench("--only", "nonsense")
    assert done.returncode == 2
    assert "'nonsense'" in done.stderr
    assert "relay-ansi" in done.stderr
