import threading
from pathlib import Path

from journal_events import RUN_ID, append, lines

from hopline.journal import Journal, JournalOptions, JournalView


def test_two_readers_beside_a_writer_see_whole_events_in_order(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, RUN_ID, JournalOptions(reserve_bytes=0, segment_bytes=200_000))
    append(journal, 100, 300)
    done = threading.Event()
    problems: list[BaseException] = []
    rounds = [0, 0]

    def watch(which: int) -> None:
        cursor = 0
        try:
            while not done.is_set() or cursor < journal.committed_sequence:
                committed = journal.committed_sequence
                view = JournalView.open(tmp_path)
                assert view.last_sequence >= committed
                while (found := view.read(cursor, max_bytes=50_000)).count:
                    assert found.first == cursor + 1
                    assert found.data == lines(range(found.first, found.last + 1), 300)
                    cursor = found.last
                assert len(view.spine(cursor)) == cursor // 10
                assert view.damage == []
                view.close()
                rounds[which] += 1
        except BaseException as error:
            problems.append(error)
            raise

    threads = [threading.Thread(target=watch, args=(which,)) for which in (0, 1)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        append(journal, 300, 300)
    done.set()
    for thread in threads:
        thread.join(30)
    assert problems == []
    assert min(rounds) > 3
    journal.close()


def test_a_segment_that_goes_while_a_view_is_open_is_passed_by(tmp_path: Path) -> None:
    options = JournalOptions(reserve_bytes=0, max_bytes=400_000, when_full="drop-oldest")
    journal = Journal.create(tmp_path, RUN_ID, options)
    append(journal, 1000, 300)
    view = JournalView.open(tmp_path)
    append(journal, 700, 300)
    found = view.read(0)
    assert found.first == journal.first_sequence
    assert found.data == lines(range(found.first, found.last + 1), 300)
    assert all(damage.reason == "the file is gone" for damage in view.damage)
    view.close()
    journal.close()
