"""What takes too long for every run: 200 kills, and a journal of 1 GB."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from journal_events import RUN_ID, append, line, wait_until

from hopline.journal import Journal, JournalOptions, JournalView
from hopline.journal.repair import check, repair

RIGS = Path(__file__).parents[1] / "rigs"
OPTIONS = JournalOptions(reserve_bytes=0)


@pytest.mark.parametrize("batch", range(5))
@pytest.mark.parametrize("mode", ["normal", "full"])
def test_two_hundred_kills_lose_no_committed_event(tmp_path: Path, mode: str, batch: int) -> None:
    seed = int.from_bytes(os.urandom(4), "big")
    print("seed", seed)
    done = subprocess.run(
        [sys.executable, str(RIGS / "journal_killing.py"), str(tmp_path / "journal"), "20", str(seed), mode],
        env={**os.environ, "PYTHONPATH": str(RIGS)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"seed {seed}: {done.stderr}"
    assert json.loads(done.stdout)["events"] > 100


@pytest.mark.timeout(600)
def test_a_gigabyte_opens_like_a_megabyte_and_is_rebuilt_to_the_same(tmp_path: Path) -> None:
    folders = {}
    for name, size_bytes in (("small", 1_000_000), ("large", 1_000_000_000)):
        folders[name] = tmp_path / name
        journal = Journal.create(folders[name], RUN_ID, OPTIONS)
        while journal.size_bytes < size_bytes - 400_000:
            for _ in range(5):
                journal.append(line(journal.next_sequence, size_bytes // 10_000), kind="subprocess_output")
            wait_until(journal.room)
        append(journal, 1000, 300)
        assert not journal.close().unwritten_events
    best = dict.fromkeys(folders, float("inf"))
    for _ in range(60):
        for name, folder in folders.items():
            started = time.perf_counter()
            view = JournalView.open(folder)
            assert view.read(view.last_sequence - 100).count == 100
            view.spine(view.last_sequence)
            view.close()
            best[name] = min(best[name], time.perf_counter() - started)
    print(best)
    assert best["large"] <= 1.3 * best["small"] + 0.0005
    report = check(folders["large"])
    assert report.sound
    assert report.bytes > 999_000_000
    (folders["large"] / "index.db").unlink()
    assert repair(folders["large"], live=False).indexed_bytes == report.bytes
    assert check(folders["large"]) == report
