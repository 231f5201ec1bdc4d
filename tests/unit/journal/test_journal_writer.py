import errno
import os
import threading
from pathlib import Path

import pytest
from journal_events import RUN_ID, append, fill, line, wait_until

from hopline.errors import Unavailable
from hopline.journal import Journal, JournalOptions

OPTIONS = JournalOptions(reserve_bytes=0)


def test_an_event_is_readable_when_its_commit_is_told_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    synced: list[int] = []
    real = os.fdatasync
    journal: Journal

    def fdatasync(descriptor: int) -> None:
        gate.wait(10)
        synced.append(os.fstat(descriptor).st_size)
        real(descriptor)

    seen: list[tuple[int, int, int]] = []

    def told() -> None:
        seen.append((journal.committed_sequence, journal.read(0).last, synced[-1]))

    monkeypatch.setattr(os, "fdatasync", fdatasync)
    journal = Journal.create(tmp_path, RUN_ID, JournalOptions("full", reserve_bytes=0), told)
    journal.append(line(1), kind="subprocess_output")
    wait_until(lambda: (tmp_path / "segments" / f"{1:020d}.jsonl").stat().st_size > 0)
    assert journal.committed_sequence == 0
    assert journal.read(0).count == 0
    assert journal.spine(10) == []
    assert journal.last_sequence == 1
    gate.set()
    wait_until(lambda: journal.committed_sequence == 1)
    journal.close()
    assert seen == [(1, 1, len(line(1)) + 1)]


def test_all_that_is_queued_is_committed_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    syncs = 0
    real = os.fdatasync

    def fdatasync(descriptor: int) -> None:
        nonlocal syncs
        gate.wait(10)
        syncs += 1
        real(descriptor)

    monkeypatch.setattr(os, "fdatasync", fdatasync)
    journal = Journal.create(tmp_path, RUN_ID, JournalOptions("full", reserve_bytes=0))
    for sequence in range(1, 5001):
        journal.append(line(sequence), kind="subprocess_output")
    gate.set()
    wait_until(lambda: journal.committed_sequence == 5000)
    journal.close()
    assert syncs <= 3


def test_an_owner_that_has_left_does_not_stop_the_writer(tmp_path: Path) -> None:
    def gone() -> None:
        raise RuntimeError("Event loop is closed")

    def gone_too(*what: object) -> None:
        gone()

    options = JournalOptions(reserve_bytes=1 << 60, max_bytes=100_000, when_full="drop-oldest")
    journal = Journal.create(tmp_path, RUN_ID, options, gone, gone_too, gone_too)
    append(journal, 3000)
    assert journal.first_sequence > 1000
    assert not journal.close().unwritten_events


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_writer_that_fails_is_told_and_its_events_are_counted(tmp_path: Path) -> None:
    told: list[str | None] = []

    def broken() -> None:
        raise ValueError("a bug")

    journal = Journal.create(tmp_path, RUN_ID, OPTIONS, broken, told.append)
    journal.append(line(1), kind="subprocess_output")
    wait_until(lambda: bool(told))
    assert "its writer ended: ValueError('a bug')" in (told[0] or "")
    assert not journal.room()
    journal.append(line(2), kind="subprocess_output")
    report = journal.close(1)
    assert (report.unwritten_events, report.first_unwritten) == (1, 2)
    assert report.reason == "its writer ended: ValueError('a bug')"


def test_closing_does_not_wait_for_a_volume_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    real = os.fdatasync

    def hung(descriptor: int) -> None:
        gate.wait(10)
        real(descriptor)

    monkeypatch.setattr(os, "fdatasync", hung)
    journal = Journal.create(tmp_path, RUN_ID, JournalOptions("full", reserve_bytes=0))
    journal.append(line(1), kind="subprocess_output")
    report = journal.close(0.1)
    assert (report.unwritten_events, report.reason) == (1, "the volume does not answer")
    gate.set()
    wait_until(lambda: journal.committed_sequence == 1)


def test_a_volume_that_fails_is_tried_again_until_it_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str | None] = []
    broken = True
    real = os.fdatasync

    def fdatasync(descriptor: int) -> None:
        if broken:
            raise OSError(errno.EIO, "Input/output error")
        real(descriptor)

    monkeypatch.setattr(os, "fdatasync", fdatasync)
    journal = Journal.create(tmp_path, RUN_ID, JournalOptions("full", reserve_bytes=0), on_state=told.append)
    journal.append(line(1), kind="subprocess_output")
    wait_until(lambda: bool(told))
    assert told == ["the journal cannot be written (Input/output error); it goes on when there is room"]
    assert journal.committed_sequence == 0
    assert (tmp_path / "segments" / f"{1:020d}.jsonl").stat().st_size == 0
    broken = False
    wait_until(lambda: journal.committed_sequence == 1)
    wait_until(journal.room)
    journal.close()
    assert told[1:] == [None]


@pytest.mark.parametrize("missing", ["descriptors", "threads"])
def test_a_journal_that_cannot_be_written_is_not_left_half_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    def no_volume(path: Path) -> os.statvfs_result:
        raise OSError(errno.EMFILE, "Too many open files")

    def no_thread(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    if missing == "descriptors":
        monkeypatch.setattr(os, "statvfs", no_volume)
    else:
        monkeypatch.setattr(threading.Thread, "start", no_thread)
    with pytest.raises(Unavailable, match=r"cannot write the journal in .*; close some programs or runs"):
        Journal.create(tmp_path / "journal", RUN_ID)
    assert list(tmp_path.iterdir()) == []


def test_a_reopened_journal_leaves_one_index_file(tmp_path: Path) -> None:
    fill(tmp_path, 3000, 300)
    journal = Journal.open(tmp_path, OPTIONS)
    append(journal, 3000, 300)
    journal.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.db", "segments", "store.json"]
