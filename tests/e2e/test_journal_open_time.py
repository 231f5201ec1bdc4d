"""Opening a journal and reading its tail takes the same work and time, whatever the run's size."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from journal_events import RUN_ID, append, kind_of, line, wait_until

from hopline.journal import Journal, JournalOptions, JournalView

OPTIONS = JournalOptions(reserve_bytes=0)
TAIL = 100
ROUNDS = 40


def build(folder: Path, size_bytes: int) -> Path:
    """A run that said much early on and little in the end."""
    journal = Journal.create(folder, RUN_ID, OPTIONS)
    large = min(500_000, size_bytes // 40)
    while journal.size_bytes < size_bytes - 500_000:
        for _ in range(20):
            sequence = journal.next_sequence
            kind = kind_of(sequence)
            journal.append(line(sequence, large if kind == "subprocess_output" else 300, kind), kind=kind)
        wait_until(lambda: journal.committed_sequence == journal.last_sequence)
    append(journal, 1500, 300)
    journal.close()
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("small") / "journal", 1_000_000)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = build(tmp_path_factory.mktemp("large") / "journal", 100_000_000)
    yield folder
    for path in (folder / "segments").iterdir():
        path.unlink()


def view_tail(folder: Path) -> None:
    """What attaching to a finished run asks of its journal."""
    view = JournalView.open(folder)
    floor = view.last_sequence - TAIL
    assert view.read(floor).count == TAIL
    view.spine(50)
    view.close()


def take_over(folder: Path) -> None:
    """What the next writer of a run asks of it."""
    journal = Journal.open(folder, OPTIONS)
    assert journal.report.indexed_bytes == 0
    assert journal.read(journal.last_sequence - TAIL).count == TAIL
    journal.close()


@pytest.mark.parametrize("ask", [view_tail, take_over])
def test_a_large_journal_opens_in_the_time_of_a_small_one(
    small: Path, large: Path, ask: Callable[[Path], None]
) -> None:
    best = {small: float("inf"), large: float("inf")}
    for _ in range(ROUNDS):
        for folder in (small, large):
            started = time.perf_counter()
            ask(folder)
            best[folder] = min(best[folder], time.perf_counter() - started)
    assert best[large] <= 1.3 * best[small] + 0.0005, best


@pytest.mark.parametrize("index", ["current", "missing"])
def test_a_large_journal_is_opened_with_a_bounded_amount_of_reading(
    large: Path, monkeypatch: pytest.MonkeyPatch, index: str
) -> None:
    reads: list[int] = []
    real = os.pread

    def pread(descriptor: int, size: int, offset: int) -> bytes:
        data = real(descriptor, size, offset)
        reads.append(len(data))
        return data

    monkeypatch.setattr(os, "pread", pread)
    if index != "current":
        (large / "index.db").rename(large / "index.away")
    try:
        view = JournalView.open(large)
        assert view.read(view.last_sequence - TAIL).count == TAIL
        if index == "current":
            view.spine(50)
        view.close()
    finally:
        if index != "current":
            (large / "index.away").rename(large / "index.db")
    assert len(reads) <= 60
    assert sum(reads) <= 2 << 20
