import shutil
import sqlite3
from pathlib import Path

import pytest
from journal_events import append, dump, fill, lines, segments, wait_until

from hopline.journal import Journal, JournalOptions, JournalView
from hopline.journal.identity import read_identity
from hopline.journal.index import VERSION
from hopline.journal.index_view import IndexView
from hopline.journal.repair import repair
from hopline.journal.sql import queries, script


@pytest.fixture(params=[1, 4000, 9000])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A closed journal of one or several segments."""
    fill(tmp_path / "journal", request.param, size=300, segment_bytes=900_000)
    return tmp_path / "journal"


def to_version_1(folder: Path) -> None:
    """Turn the index into what an old hopline would have written."""
    new = sqlite3.connect(folder / "index.db")
    ((store_id, run_id),) = new.execute("SELECT store_id, run_id FROM store")
    segments = list(new.execute("SELECT first_sequence, last_sequence, size, crc32 FROM segments"))
    marks, spine = (list(new.execute(f"SELECT * FROM {table}")) for table in ("marks", "spine"))
    new.close()
    (folder / "index.db").unlink()
    old = sqlite3.connect(folder / "index.db")
    old.executescript(Path(__file__).with_name("index_version_1.sql").read_text())
    meta = {"store_id": store_id, "run_id": run_id, "last_sequence": str(segments[-1][1])}
    old.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    old.executemany("INSERT INTO segments VALUES (?, ?, ?)", [(first, size, crc) for first, _, size, crc in segments])
    old.executemany("INSERT INTO marks VALUES (?, ?, ?, ?)", marks)
    old.executemany("INSERT INTO spine VALUES (?, ?, ?, ?, ?)", spine)
    old.commit()
    old.close()


def test_fresh_and_migrated_and_rebuilt_are_the_same(journal: Path) -> None:
    fresh = dump(journal)
    to_version_1(journal)
    assert dump(journal) != fresh
    assert repair(journal, live=False).index == "current"
    assert dump(journal) == fresh
    (journal / "index.db").unlink()
    assert repair(journal, live=False).index == "rebuilt"
    assert dump(journal) == fresh
    assert repair(journal, live=False, rebuild=True).index == "rebuilt"
    assert dump(journal) == fresh


def test_an_index_caught_up_from_any_point_is_the_same(journal: Path) -> None:
    fresh = dump(journal)
    whole = {path: path.read_bytes() for path in segments(journal)}
    newest = segments(journal)[-1]
    data = whole[newest]
    for cut in (0, len(data) // 3, len(data) - 1):
        for path in segments(journal):
            path.write_bytes(whole[path])
        newest.write_bytes(data[:cut])
        (journal / "index.db").unlink()
        repair(journal, live=False)
        newest.write_bytes(data)
        report = repair(journal, live=False)
        assert report.index == "caught up"
        assert report.indexed_bytes <= len(data) - data.rfind(b"\n", 0, cut) - 1
        assert dump(journal) == fresh


def test_an_index_ahead_of_its_segments_forgets_what_is_gone(journal: Path) -> None:
    newest = segments(journal)[-1]
    newest.write_bytes(newest.read_bytes()[: newest.stat().st_size // 3])
    repair(journal, live=False)
    caught_up = dump(journal)
    repair(journal, live=False, rebuild=True)
    assert dump(journal) == caught_up


def test_writing_on_leaves_the_index_of_one_piece(journal: Path, tmp_path: Path) -> None:
    for _ in range(3):
        again = Journal.open(journal, JournalOptions(reserve_bytes=0, segment_bytes=900_000))
        append(again, 1500, 300)
        again.close()
    written = dump(journal)
    repair(journal, live=False, rebuild=True)
    assert dump(journal) == written


@pytest.mark.parametrize("how", ["noise", "empty", "another store", "newer", "truncated", "a folder of SQL"])
def test_an_index_that_is_none_is_made_anew(journal: Path, tmp_path: Path, how: str) -> None:
    fresh = dump(journal)
    path = journal / "index.db"
    match how:
        case "noise":
            path.write_bytes(b"noise" * 1000)
        case "empty":
            path.write_bytes(b"")
        case "truncated":
            path.write_bytes(path.read_bytes()[:5000])
        case "another store":
            fill(tmp_path / "other", 50)
            shutil.copy(tmp_path / "other" / "index.db", path)
        case _:
            connection = sqlite3.connect(path)
            connection.executescript("PRAGMA user_version = 99" if how == "newer" else "DROP TABLE marks")
            connection.close()
    view = JournalView.open(journal)
    count = view.last_sequence
    assert view.read(count - 1).data == lines([count], 300)
    assert len(view.spine(count)) == count // 10
    view.close()
    repair(journal, live=False)
    assert dump(journal) == fresh


def test_a_view_changes_nothing_on_disk(journal: Path) -> None:
    def everything() -> dict[str, tuple[int, int]]:
        return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in journal.rglob("*")}

    for prepare in (lambda: None, lambda: to_version_1(journal), (journal / "index.db").unlink):
        prepare()
        before = everything()
        view = JournalView.open(journal)
        view.read(0)
        view.spine(100)
        view.close()
        assert everything() == before


def test_a_view_reads_the_index_of_a_live_writer_without_touching_it(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, "0123456789ab", JournalOptions(reserve_bytes=0))
    append(journal, 9000, 300)
    wait_until(lambda: journal._writer._parts.ledger.current)
    shm = tmp_path / "index.db-shm"
    before = shm.stat().st_mtime_ns, sorted(tmp_path.iterdir())
    index = IndexView.open(tmp_path, read_identity(tmp_path))
    assert index is not None
    assert index.segments()[0].last_sequence > 3000
    assert len(index.spine()) > 300
    view = JournalView.open(tmp_path)
    assert view.last_sequence == 9000
    assert len(view.spine(9000)) == 900
    view.close()
    index.close()
    assert index.segments() == []
    assert (shm.stat().st_mtime_ns, sorted(tmp_path.iterdir())) == before
    journal.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.db", "segments", "store.json"]


@pytest.mark.parametrize("left", [("-wal", "-shm"), ("-wal",), ("-shm",), ("-journal",), ()])
def test_an_index_left_by_a_killed_writer_is_read_or_done_without(tmp_path: Path, left: tuple[str, ...]) -> None:
    journal = Journal.create(tmp_path / "live", "0123456789ab", JournalOptions(reserve_bytes=0))
    append(journal, 9000, 300)
    wait_until(lambda: journal._writer._parts.ledger.current)
    shutil.copytree(tmp_path / "live", tmp_path / "killed")
    journal.close()
    for path in (tmp_path / "killed").glob("index.db-*"):
        if path.name.removeprefix("index.db") not in left:
            path.unlink()
    if "-journal" in left:
        (tmp_path / "killed" / "index.db-journal").write_bytes(b"half")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "killed").iterdir()}
    view = JournalView.open(tmp_path / "killed")
    assert view.read(8998).data == lines([8999, 9000], 300)
    assert len(view.spine(9000)) == 900
    view.close()
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "killed").iterdir()} == before
    report = repair(tmp_path / "killed", live=False)
    assert not report.damage
    assert dump(tmp_path / "killed") == dump(tmp_path / "live")


def test_every_query_says_its_purpose_and_every_file_is_read() -> None:
    for text in queries().values():
        assert text.startswith("-- ")
        assert text.endswith(";")
    assert f"PRAGMA user_version = {VERSION};" in script("schema")
    for version in range(1, VERSION):
        assert f"PRAGMA user_version = {version + 1};" in script(f"migrate_{version}_to_{version + 1}")


def test_an_index_that_cannot_be_written_does_not_stop_the_journal(tmp_path: Path) -> None:
    (tmp_path / "journal" / "index.db").mkdir(parents=True)
    journal = Journal.create(tmp_path / "journal", "0123456789ab", JournalOptions(reserve_bytes=0))
    append(journal, 9000, 300)
    assert not journal.close().unwritten_events
    (tmp_path / "journal" / "index.db").rmdir()
    view = JournalView.open(tmp_path / "journal")
    assert view.last_sequence == 9000
    view.close()
    assert repair(tmp_path / "journal", live=False).index == "rebuilt"
