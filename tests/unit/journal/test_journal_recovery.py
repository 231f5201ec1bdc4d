import logging
from pathlib import Path

import pytest
from journal_events import append, fill, line, lines, segments

from hopline.errors import Misuse
from hopline.journal import Journal, JournalOptions, JournalView
from hopline.journal.port import OpenReport

OPTIONS = JournalOptions(reserve_bytes=0, segment_bytes=100_000)


def test_a_closed_journal_goes_on_in_the_same_segment(tmp_path: Path) -> None:
    fill(tmp_path, 100)
    journal = Journal.open(tmp_path, OPTIONS)
    assert journal.report == OpenReport()
    assert (journal.committed_sequence, journal.next_sequence, journal.first_sequence) == (100, 101, 1)
    store_id = journal.store_id
    append(journal, 50)
    assert journal.read(95).data == lines(range(96, 151))
    assert journal.read(120).data == lines(range(121, 151))
    assert len(journal.spine(150)) == 15
    journal.close()
    view = JournalView.open(tmp_path)
    assert view.store_id == store_id
    assert view.read(0).data == lines(range(1, 151))
    view.close()
    assert len(segments(tmp_path)) == 1


@pytest.mark.parametrize("left", [1, 60, 119])
def test_a_torn_last_line_is_cut_and_said(tmp_path: Path, left: int, caplog: pytest.LogCaptureFixture) -> None:
    fill(tmp_path, 100)
    path = segments(tmp_path)[0]
    whole = path.read_bytes()
    with path.open("ab") as file:
        file.write(line(101)[:left])
    with caplog.at_level(logging.WARNING):
        journal = Journal.open(tmp_path, OPTIONS)
    assert journal.report.torn_bytes == left
    assert f"an unfinished last line of {left} bytes was cut at byte {len(whole)}" in caplog.text
    append(journal, 1)
    journal.close()
    assert path.read_bytes() == whole + line(101) + b"\n"


def test_a_journal_of_one_torn_line_is_empty(tmp_path: Path) -> None:
    fill(tmp_path, 0)
    segments(tmp_path)[0].write_bytes(line(1)[:50])
    view = JournalView.open(tmp_path)
    assert (view.first_sequence, view.last_sequence, view.size_bytes) == (1, 0, 0)
    assert view.read(0).count == 0
    view.close()
    journal = Journal.open(tmp_path, OPTIONS)
    assert journal.next_sequence == 1
    journal.close()


def test_lines_after_the_last_indexed_one_are_found(tmp_path: Path) -> None:
    fill(tmp_path, 100)
    with segments(tmp_path)[0].open("ab") as file:
        file.write(lines(range(101, 151)))
    for _ in range(2):
        view = JournalView.open(tmp_path)
        assert view.last_sequence == 150
        assert len(view.spine(150)) == 15
        view.close()
        journal = Journal.open(tmp_path, OPTIONS)
        assert journal.committed_sequence == 150
        assert len(journal.spine(150)) == 15
        journal.close()
    assert journal.report.index == "current"


def test_a_segment_the_index_never_heard_of_is_found(tmp_path: Path) -> None:
    fill(tmp_path, 100)
    (tmp_path / "segments" / f"{101:020d}.jsonl").write_bytes(lines(range(101, 151)))
    journal = Journal.open(tmp_path, OPTIONS)
    assert journal.report.index == "caught up"
    assert journal.read(0).count + journal.read(100).count == 150
    assert len(journal.spine(150)) == 15
    journal.close()


def test_damage_at_the_end_stays_and_its_sequences_are_not_given_again(tmp_path: Path) -> None:
    fill(tmp_path, 100)
    path = segments(tmp_path)[0]
    with path.open("ab") as file:
        file.write(b"noise\nmore noise\n")
    journal = Journal.open(tmp_path, OPTIONS)
    (damage,) = journal.report.damage
    assert (damage.first_sequence, damage.last_sequence) == (101, 102)
    assert journal.next_sequence == 103
    append(journal, 5)
    found = journal.read(100)
    assert (found.first, found.count, found.data) == (103, 5, lines(range(103, 108)))
    journal.close()
    view = JournalView.open(tmp_path)
    assert view.read(0, before=101).data == lines(range(1, 101))
    assert view.read(100).data == lines(range(103, 108))
    assert [str(item).split(": ", 1)[1] for item in view.damage] == [
        f"bytes {damage.start} to {damage.end}: 2 lines there are no events; events 101 to 102 are lost"
    ]
    view.close()


def test_sequences_of_garbled_events_that_the_index_knows_are_not_given_again(tmp_path: Path) -> None:
    fill(tmp_path, 100)
    path = segments(tmp_path)[0]
    data = bytearray(path.read_bytes())
    data[-200:-10] = b"?" * 190
    path.write_bytes(data)
    journal = Journal.open(tmp_path, OPTIONS)
    assert journal.next_sequence == 101
    journal.close()


def test_a_reopened_journal_checks_what_others_wrote(tmp_path: Path) -> None:
    fill(tmp_path, 2000, size=300)
    path = segments(tmp_path)[0]
    data = bytearray(path.read_bytes())
    data[301 * 50 + 200] ^= 1
    path.write_bytes(data)
    journal = Journal.open(tmp_path, OPTIONS)
    assert journal.read(0).count == 2000
    assert len(journal.damage) == 1
    journal.close()


def test_nothing_is_appended_after_closing_or_out_of_order_or_over_the_bound(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, "0123456789ab", OPTIONS)
    for wrong in (line(2), line(0), b"{}", line(1).replace(b"{", b"{ ", 1)):
        with pytest.raises(Misuse, match="an event must begin with"):
            journal.append(wrong, kind="output")
    with pytest.raises(Misuse, match="event 1 has 1000001 bytes and may have 1000000"):
        journal.append(line(1, 1_000_001), kind="output")
    journal.append(line(1, 1_000_000), kind="output")
    assert not journal.close().unwritten_events
    assert not journal.close().unwritten_events
    with pytest.raises(Misuse, match="event 2 comes after the journal was closed"):
        journal.append(line(2), kind="output")
    assert journal.read(0).count == 1
