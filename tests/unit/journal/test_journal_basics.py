from pathlib import Path
from threading import Event

import pytest

from hopline.errors import Misuse, Unavailable
from hopline.journal import Journal, JournalOptions, JournalView


def line(sequence: int, kind: str = "subprocess_output", size: int = 100) -> bytes:
    head = b'{"protocol_version":1,"sequence":%d,"run_id":"0123456789ab","type":"%s","text":"' % (
        sequence,
        kind.encode(),
    )
    return head + b"x" * max(size - len(head) - 2, 0) + b'"}'


def wait_committed(journal: Journal, sequence: int, event: Event) -> None:
    while journal.committed_sequence < sequence:
        assert event.wait(5)
        event.clear()


def test_what_is_appended_is_read_back_live_and_after(tmp_path: Path) -> None:
    committed = Event()
    journal = Journal.create(tmp_path / "journal", "0123456789ab", JournalOptions(), committed.set)
    for sequence in range(1, 1001):
        assert journal.append(line(sequence), kind="subprocess_output") == sequence
    wait_committed(journal, 1000, committed)
    live = journal.read(0)
    assert (live.first, live.last, live.count) == (1, 1000, 1000)
    assert live.data == b"".join(line(s) + b"\n" for s in range(1, 1001))
    assert journal.read(1000).count == 0
    assert journal.close().unwritten_events == 0
    view = JournalView.open(tmp_path / "journal")
    assert view.last_sequence == 1000
    assert view.read(0).data == live.data
    assert view.read(499, before=502).data == line(500) + b"\n" + line(501) + b"\n"
    assert view.store_id == journal.store_id
    view.close()


def test_an_event_must_carry_the_next_sequence(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path / "journal", "0123456789ab")
    with pytest.raises(Misuse):
        journal.append(line(2), kind="subprocess_output")
    with pytest.raises(Misuse):
        journal.append(line(1, size=1_000_001), kind="subprocess_output")
    journal.append(line(1, size=1_000_000), kind="subprocess_output")
    journal.close()
    with pytest.raises(Unavailable):
        Journal.create(tmp_path / "journal", "0123456789ab")
