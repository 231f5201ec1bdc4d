from pathlib import Path

import pytest
from journal_events import append, fill, line, lines, segments

from hopline.errors import Refused
from hopline.journal import Journal, JournalOptions, JournalView
from hopline.journal.identity import read_identity
from hopline.journal.repair import check, repair


def test_a_sound_journal_is_said_to_be_sound(tmp_path: Path) -> None:
    fill(tmp_path, 9000, size=300, segment_bytes=1 << 20)
    seen: list[tuple[int, int]] = []
    report = check(tmp_path, lambda done, total: seen.append((done, total)))
    assert report.sound
    assert (report.segments, report.events, report.bytes) == (len(segments(tmp_path)), 9000, 301 * 9000)
    assert (report.first_sequence, report.last_sequence) == (1, 9000)
    assert report.store_id == read_identity(tmp_path).store_id
    assert (report.torn_bytes, report.damage, report.index) == (0, (), "current")
    assert seen[-1] == (301 * 9000, 301 * 9000)
    assert seen == sorted(seen)


def test_an_empty_journal_is_sound(tmp_path: Path) -> None:
    fill(tmp_path, 0)
    report = check(tmp_path)
    assert report.sound
    assert (report.events, report.first_sequence, report.last_sequence) == (0, 1, 0)


def test_every_damage_is_listed_in_order_and_stays(tmp_path: Path) -> None:
    fill(tmp_path, 9000, size=300, segment_bytes=1 << 20)
    first, second, *_ = segments(tmp_path)
    for path, offset, what in ((second, 300_000, b"\0" * 10), (first, 301 * 700 + 250, b"y"), (first, 100, b'"')):
        with path.open("r+b") as file:
            file.seek(offset)
            file.write(what)
    before = {path: path.read_bytes() for path in segments(tmp_path)}
    report = check(tmp_path)
    assert not report.sound
    assert [(item.path, item.last_sequence - item.first_sequence + 1) for item in report.damage] == [
        (first, 1),
        (second, 1),
    ]
    assert report.events == 8998
    assert repair(tmp_path, live=False).damage == ()
    assert {path: path.read_bytes() for path in segments(tmp_path)} == before
    assert check(tmp_path).damage == report.damage


def test_a_torn_tail_and_a_lost_index_are_said_and_mended(tmp_path: Path) -> None:
    fill(tmp_path, 5000, size=300)
    with segments(tmp_path)[0].open("ab") as file:
        file.write(lines(range(5001, 5004), 300) + line(5004)[:33])
    report = check(tmp_path)
    assert (report.torn_bytes, report.index, report.events) == (33, "behind", 5003)
    (tmp_path / "index.db").unlink()
    assert check(tmp_path).index == "missing"
    (tmp_path / "index.db").write_bytes(b"noise")
    assert check(tmp_path).index == "unusable"
    seen: list[tuple[int, int]] = []
    mended = repair(tmp_path, live=False, progress=lambda done, total: seen.append((done, total)))
    assert (mended.torn_bytes, mended.index, mended.damage) == (33, "rebuilt", ())
    assert seen[-1] == (301 * 5003, 301 * 5003)
    assert check(tmp_path).sound
    assert check(tmp_path).last_sequence == 5003


def test_a_live_journal_is_checked_but_not_mended(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, "0123456789ab", JournalOptions(reserve_bytes=0))
    append(journal, 9000, 300)
    report = check(tmp_path)
    assert report.events == 9000
    assert not report.damage
    with pytest.raises(Refused, match="is live and writes it") as refused:
        repair(tmp_path, live=True)
    assert refused.value.code == "run_live"
    journal.close()
    assert check(tmp_path).sound


def test_a_store_is_read_through_one_port(tmp_path: Path) -> None:
    from hopline.journal import EventStore

    journal = Journal.create(tmp_path, "0123456789ab", JournalOptions(reserve_bytes=0))
    append(journal, 100)
    view = JournalView.open(tmp_path)

    def everything(store: EventStore) -> list[object]:
        return [
            store.store_id,
            store.run_id,
            store.first_sequence,
            store.last_sequence,
            store.committed_sequence,
            store.size_bytes,
            store.damage,
            store.read(0),
            store.read(20, before=30, max_bytes=500),
            store.spine(55),
        ]

    assert everything(journal) == everything(view)
    assert journal.folder == view.folder
    journal.close()
    view.close()
