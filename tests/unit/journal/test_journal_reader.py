import itertools
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from journal_events import fill, line, lines, segments

from hopline.journal import NOTHING, JournalView, Slice
from hopline.journal.port import Damage

COUNT = 6000


@pytest.fixture(scope="module", params=["one segment", "many segments"])
def journal(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("journal") / "journal"
    fill(folder, COUNT, size=300, segment_bytes=1 << 26 if request.param == "one segment" else 256 * 1024)
    return folder


@pytest.fixture(params=["indexed", "without index"])
def copy(request: pytest.FixtureRequest, journal: Path, tmp_path: Path) -> Path:
    shutil.copytree(journal, tmp_path / "journal")
    if request.param == "without index":
        (tmp_path / "journal" / "index.db").unlink()
    return tmp_path / "journal"


@pytest.fixture
def view(copy: Path) -> Iterator[JournalView]:
    view = JournalView.open(copy)
    yield view
    view.close()


def everything(view: JournalView, max_bytes: int = 1 << 20, after: int = 0) -> list[Slice]:
    slices = []
    while (found := view.read(after, max_bytes=max_bytes)).count:
        slices.append(found)
        after = found.last
    return slices


def joined(slices: list[Slice]) -> bytes:
    return b"".join(found.data for found in slices)


def sequences(slices: list[Slice]) -> list[int]:
    return [int(row.split(b'"sequence":')[1].split(b",")[0]) for row in joined(slices).splitlines()]


def overwrite(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def lost(view: JournalView) -> list[int]:
    return [
        sequence
        for damage in sorted(view.damage, key=lambda item: item.first_sequence)
        for sequence in range(damage.first_sequence, damage.last_sequence + 1)
    ]


@pytest.mark.parametrize("max_bytes", [1, 301, 1000, 65_536, 1 << 20, 1 << 30])
def test_slices_of_any_size_add_up_to_the_stored_bytes(view: JournalView, max_bytes: int) -> None:
    slices = everything(view, max_bytes, after=0 if max_bytes > 1000 else COUNT - 2000)
    assert joined(slices) == lines(range(COUNT - sum(found.count for found in slices) + 1, COUNT + 1), 300)
    for found in slices:
        assert found.last - found.first + 1 == found.count == found.data.count(b"\n")
        assert len(found.data) <= max_bytes or found.count == 1
    assert [found.first for found in slices[1:]] == [found.last + 1 for found in slices[:-1]]
    assert view.damage == []


def test_any_place_is_found_and_any_bound_is_kept(view: JournalView) -> None:
    chance = random.Random(3)
    for _ in range(150):
        after = chance.randrange(0, COUNT)
        before = chance.choice([None, after + 2, after + chance.randrange(2, 500)])
        found = view.read(after, before=before, max_bytes=chance.choice([1000, 100_000]))
        assert found.first == after + 1
        assert before is None or found.last < before
        assert found.data == lines(range(found.first, found.last + 1), 300)
        assert found.count == found.last - found.first + 1
    assert view.read(COUNT) == NOTHING
    assert view.read(COUNT + 100) == NOTHING
    assert view.read(10, before=11) == NOTHING
    assert view.read(-3).first == 1


def test_the_spine_is_given_up_to_a_sequence(view: JournalView) -> None:
    assert view.spine(100) == [line(sequence, 300, "run_status_changed") for sequence in range(10, 101, 10)]
    assert len(view.spine(10**9)) == COUNT // 10
    assert view.spine(9) == []


@pytest.mark.parametrize("place", ["start", "middle", "end"])
def test_garbage_is_stepped_over_and_said(copy: Path, place: str) -> None:
    path = segments(copy)[-1]
    size = path.stat().st_size
    offset = {"start": 0, "middle": size // 2, "end": size - 500}[place]
    overwrite(path, offset, b"\0" * 400)
    view = JournalView.open(copy)
    found = sequences(everything(view))
    # Only the index knows how many lines the last damaged ones were.
    known = COUNT - 1 if place == "end" and not (copy / "index.db").exists() else COUNT
    assert sorted([*found, *lost(view)]) == list(range(1, known + 1))
    assert 1 <= len(lost(view)) <= 3
    (damage,) = view.damage
    assert damage.path == path
    assert damage.start <= offset
    assert damage.end >= offset + 400 or place == "end"
    view.close()


def test_reading_begins_anywhere_around_damage(copy: Path) -> None:
    path = segments(copy)[0]
    overwrite(path, 301 * 400 + 5, b"?" * 3000)
    view = JournalView.open(copy)
    whole = sequences(everything(view))
    assert lost(view) == [sequence for sequence in range(1, COUNT + 1) if sequence not in whole]
    view.close()
    for after in range(380, 430):
        view = JournalView.open(copy)
        found = view.read(after, before=500)
        assert sequences([found]) == [sequence for sequence in whole if after < sequence < 500]
        assert found.count == len(sequences([found]))
        view.close()


def test_a_changed_letter_is_found_by_the_checksum(journal: Path, tmp_path: Path) -> None:
    shutil.copytree(journal, tmp_path / "journal")
    path = segments(tmp_path / "journal")[0]
    overwrite(path, 301 * 500 + 200, b"y")
    view = JournalView.open(tmp_path / "journal")
    assert sequences(everything(view)) == list(range(1, COUNT + 1))
    (damage,) = view.damage
    assert damage.reason == "the checksum differs although every line reads"
    assert damage.start <= 301 * 500 + 200 < damage.end
    assert damage.last_sequence < damage.first_sequence
    view.close()


def test_a_torn_line_inside_is_found_where_it_is(copy: Path) -> None:
    path = segments(copy)[0]
    data = path.read_bytes()
    path.write_bytes(data[: 301 * 100 + 17] + data[301 * 102 :])
    view = JournalView.open(copy)
    found = sequences(everything(view))
    assert set(range(1, COUNT + 1)) - set(found) == set(lost(view))
    assert {101, 102} <= set(lost(view)) <= {101, 102, 103}
    view.close()


def test_a_segment_that_lost_its_end_or_is_gone_is_said(tmp_path: Path) -> None:
    fill(tmp_path, 3000, size=300, segment_bytes=150_000)
    first, second, third = segments(tmp_path)[:3]
    data = first.read_bytes()
    first.write_bytes(data[:-301])
    second.unlink()
    third.write_bytes(third.read_bytes()[:-20])
    view = JournalView.open(tmp_path)
    found = sequences(everything(view))
    assert set(range(1, 3001)) - set(found) == set(lost(view))
    assert {damage.path for damage in view.damage} == {first, third}
    assert len(lost(view)) == int(third.stem) - int(second.stem) + 1 + 1
    view.close()


def test_a_wrong_sequence_costs_one_event(copy: Path) -> None:
    path = segments(copy)[0]
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"sequence":321,', b'"sequence":921,'))
    view = JournalView.open(copy)
    assert set(range(1, COUNT + 1)) - set(sequences(everything(view))) == {321} == set(lost(view))
    view.close()


def test_damage_is_told_once_however_often_it_is_met(copy: Path) -> None:
    path = segments(copy)[0]
    overwrite(path, 301 * 300 + 5, b"?" * 3000)
    view = JournalView.open(copy)
    for max_bytes in (1000, 5000, 1 << 20):
        everything(view, max_bytes)
    assert len(view.damage) == 1
    assert lost(view) == list(range(301, 311))
    view.close()


def test_damage_longer_than_a_slice_is_gone_past(copy: Path) -> None:
    path = segments(copy)[0]
    overwrite(path, 301 * 100, b"noise\n" * 20_000)
    view = JournalView.open(copy)
    found = sequences(everything(view, 1000))
    assert set(range(1, COUNT + 1)) - set(found) == set(lost(view))
    view.close()


def test_an_unfinished_last_line_is_no_event_and_stays(copy: Path) -> None:
    path = segments(copy)[-1]
    with path.open("ab") as file:
        file.write(line(COUNT + 1, 300)[:-10])
    size = path.stat().st_size
    view = JournalView.open(copy)
    assert view.last_sequence == COUNT
    assert sequences(everything(view))[-1] == COUNT
    view.close()
    assert path.stat().st_size == size


def test_a_damaged_last_line_is_no_last_event(copy: Path) -> None:
    path = segments(copy)[-1]
    overwrite(path, path.stat().st_size - 100, b"\0" * 20)
    view = JournalView.open(copy)
    assert view.last_sequence == COUNT - 1
    assert sequences(everything(view))[-1] == COUNT - 1
    view.close()
    overwrite(path, path.stat().st_size - 301, line(COUNT + 700, 300, "run_status_changed"))
    view = JournalView.open(copy)
    assert view.last_sequence == COUNT - 1
    view.close()


def test_an_index_that_is_wrong_about_places_is_not_believed(journal: Path, tmp_path: Path) -> None:
    import sqlite3

    shutil.copytree(journal, tmp_path / "journal")
    connection = sqlite3.connect(tmp_path / "journal" / "index.db")
    connection.execute("UPDATE marks SET offset = offset - 1234")
    connection.commit()
    connection.close()
    view = JournalView.open(tmp_path / "journal")
    for after in range(0, COUNT, 611):
        assert view.read(after, max_bytes=1000).data == lines(range(after + 1, after + 4), 300)
    view.close()


def test_events_of_very_different_sizes_are_found(tmp_path: Path) -> None:
    from journal_events import RUN_ID

    from hopline.journal import Journal

    chance = random.Random(11)
    journal = Journal.create(tmp_path, RUN_ID)
    rows = [line(sequence, chance.choice([100, 3000, 70_000, 999_000])) for sequence in range(1, 120)]
    for row in rows:
        journal.append(row, kind="subprocess_output")
    journal.close()
    for _ in range(2):
        view = JournalView.open(tmp_path)
        for after, max_bytes in itertools.product(range(118), (1, 100_000)):
            found = view.read(after, max_bytes=max_bytes)
            assert found.data == b"".join(row + b"\n" for row in rows[after : found.last])
            assert found.count == 1 or len(found.data) <= max_bytes
        assert view.damage == []
        view.close()
        (tmp_path / "index.db").unlink(missing_ok=True)


def test_damages_that_contain_one_another_are_kept_as_the_larger() -> None:
    from hopline.journal.catalogue import Catalogue
    from hopline.journal.reader import Reader

    reader = Reader(Catalogue([]))
    small, large = (Damage(Path("s"), start, end, 1, 1, "") for start, end in ((5, 7), (3, 9)))
    for damage in (small, large, small):
        reader._note(damage)
    assert reader.damage == [large]
