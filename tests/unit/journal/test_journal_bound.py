import threading
from pathlib import Path

from journal_events import RUN_ID, append, dump, kind_of, line, lines, segments, wait_until

from hopline.journal import Journal, JournalOptions, JournalView
from hopline.journal.bound import bounded_segment_bytes, pausing_bytes
from hopline.journal.repair import check, repair

DROPPING = JournalOptions(reserve_bytes=0, max_bytes=400_000, when_full="drop-oldest")


def total(folder: Path) -> int:
    return sum(path.stat().st_size for path in (folder / "segments").iterdir())


def test_dropping_keeps_to_the_bound_and_says_what_went(tmp_path: Path) -> None:
    dropped: list[tuple[int, int, int]] = []
    journal = Journal.create(tmp_path, RUN_ID, DROPPING, on_dropped=lambda *went: dropped.append(went))
    largest = 0
    for _ in range(100):
        append(journal, 100, 300)
        largest = max(largest, total(tmp_path))
        assert journal.size_bytes == total(tmp_path) - spine_bytes(tmp_path)
    assert 300_000 < largest <= 400_000
    assert journal.room()
    assert dropped[0][0] == 1
    assert [first for first, _, _ in dropped[1:]] == [last + 1 for _, last, _ in dropped[:-1]]
    assert all(size == 301 * (last - first + 1) for first, last, size in dropped)
    assert journal.first_sequence == dropped[-1][1] + 1
    oldest = journal.read(0)
    assert oldest.first == journal.first_sequence
    assert journal.spine(10_000) == [line(s, 300, kind_of(s)) for s in range(10, 10_001, 10)]
    journal.close()
    view = JournalView.open(tmp_path)
    assert view.first_sequence == journal.first_sequence
    assert view.spine(10_000) == journal.spine(10_000)
    assert view.read(5).data[:400] == oldest.data[:400]
    view.close()
    assert check(tmp_path).sound


def spine_bytes(folder: Path) -> int:
    path = folder / "segments" / "spine.jsonl"
    return path.stat().st_size if path.exists() else 0


def test_after_dropping_fresh_is_still_rebuilt(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, RUN_ID, DROPPING)
    append(journal, 5000, 300)
    journal.close()
    fresh = dump(tmp_path)
    repair(tmp_path, live=False)
    assert dump(tmp_path) == fresh
    repair(tmp_path, live=False, rebuild=True)
    assert dump(tmp_path) == fresh


def test_a_drop_cut_short_anywhere_loses_no_spine_line(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, RUN_ID, JournalOptions(reserve_bytes=0, segment_bytes=50_000))
    append(journal, 1000, 300)
    expected = journal.spine(1000)
    journal.close()
    oldest = segments(tmp_path)[0]
    last = int(segments(tmp_path)[1].stem) - 1
    saved = [line(s, 300, kind_of(s)) + b"\n" for s in range(10, last + 1, 10)]
    # The lines are saved and the segment is still there: it counts.
    (tmp_path / "segments" / "spine.jsonl").write_bytes(b"".join(saved))
    (tmp_path / "segments" / "spine.new").write_bytes(b"half a li")
    for open_it in (JournalView.open, Journal.open):
        store = open_it(tmp_path)
        assert store.spine(1000) == expected
        assert store.first_sequence == 1
        store.close()
    # The segment is gone and the index does not know it yet.
    oldest.unlink()
    for open_it in (JournalView.open, Journal.open):
        store = open_it(tmp_path)
        assert store.spine(1000) == expected
        assert store.first_sequence == last + 1
        store.close()


def test_only_the_newest_word_on_what_was_dropped_is_kept(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, RUN_ID, DROPPING)
    for _ in range(50):
        journal.append(line(journal.next_sequence, 200, "journal_dropped"), kind="journal_dropped")
        append(journal, 99, 300)
    journal.close()
    saved = (tmp_path / "segments" / "spine.jsonl").read_bytes()
    assert saved.count(b'"type":"journal_dropped"') == 1
    assert saved.count(b'"type":"run_status_changed"') == saved.count(b"\n") - 1


def test_pausing_says_so_before_the_bound_and_keeps_room_for_the_end(tmp_path: Path) -> None:
    told: list[str | None] = []
    options = JournalOptions(reserve_bytes=0, max_bytes=400_000)
    journal = Journal.create(tmp_path, RUN_ID, options, on_state=told.append)
    while journal.room():
        append(journal, 10, 300)
    assert 340_000 < journal.size_bytes < 360_000
    wait_until(lambda: told == ["the journal has reached its bound (--max-journal)"])
    append(journal, 10, 300)
    assert not journal.room()
    assert journal.first_sequence == 1
    journal.close()
    assert total(tmp_path) <= 400_000


def test_the_bound_counts_what_is_not_committed_yet(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, RUN_ID, JournalOptions(reserve_bytes=0, max_bytes=4_000_000))
    while journal.room():
        journal.append(line(journal.next_sequence, 3000), kind="subprocess_output")
    journal.close()
    assert total(tmp_path) <= 4_000_000


def test_old_events_are_read_while_they_are_dropped(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, RUN_ID, DROPPING)
    append(journal, 2000, 300)
    done = threading.Event()
    cursor = slices = 0

    def write() -> None:
        append(journal, 8000, 300)
        done.set()

    # The one thread that appends is another one here; reading is what is put to the test.
    thread = threading.Thread(target=write)
    thread.start()
    while not done.is_set() or cursor < journal.committed_sequence:
        found = journal.read(cursor, max_bytes=2000)
        if found.count:
            assert found.data == lines(range(found.first, found.last + 1), 300)
            assert found.first > cursor
            cursor = found.last
            slices += 1
        journal.spine(10_000)
    thread.join()
    assert cursor == 10_000
    assert slices > 50
    assert journal.damage == []
    journal.close()


def test_how_long_segments_become() -> None:
    assert bounded_segment_bytes(JournalOptions()) == 64 << 20
    assert bounded_segment_bytes(JournalOptions(max_bytes=8 << 20)) == 64 << 20
    assert bounded_segment_bytes(JournalOptions(max_bytes=8 << 20, when_full="drop-oldest")) == 1 << 20
    assert pausing_bytes(JournalOptions()) is None
    assert pausing_bytes(JournalOptions(max_bytes=100 << 20)) == 99 << 20
    assert pausing_bytes(JournalOptions(max_bytes=800, when_full="pause")) == 700
