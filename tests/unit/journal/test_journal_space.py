import os
from pathlib import Path

import pytest
from journal_events import RUN_ID, append, line, wait_until

from hopline.journal import Journal, JournalOptions
from hopline.journal.space import Space


def test_the_reserve_is_the_smaller_of_five_percent_and_two_gib(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.statvfs(tmp_path)

    def volume(blocks: int) -> None:
        fields = list(real)
        fields[1:5] = [4096, blocks, blocks, blocks]
        monkeypatch.setattr(os, "statvfs", lambda path: os.statvfs_result(fields))

    volume(1000)
    assert Space(tmp_path, -1).reserve_bytes == 1000 * 4096 // 20
    volume(1 << 30)
    assert Space(tmp_path, -1).reserve_bytes == 2 << 30
    assert Space(tmp_path, 12345).reserve_bytes == 12345


def test_the_volume_is_looked_at_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.statvfs(tmp_path)
    looks = 0

    def statvfs(path: Path) -> os.statvfs_result:
        nonlocal looks
        looks += 1
        return real

    monkeypatch.setattr(os, "statvfs", statvfs)
    space = Space(tmp_path, 0)
    before = looks
    for _ in range(1000):
        space.wrote(4 << 10)
    assert looks - before <= 3
    space.spare = 5 << 10
    space._look_after = space.spare // 2
    space.wrote(4 << 10)
    assert looks - before <= 4
    before = looks
    space.wrote(4 << 20)
    assert looks > before


def test_once_low_it_takes_a_little_more_than_the_reserve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = list(os.statvfs(tmp_path))

    def free(size: int) -> None:
        fields = [*real]
        fields[1], fields[4] = 1, size
        monkeypatch.setattr(os, "statvfs", lambda path: os.statvfs_result(fields))

    free(16_000)
    space = Space(tmp_path, 16_000)
    assert not space.low
    for size, low in ((15_999, True), (16_500, True), (17_000, False), (16_000, False), (15_999, True)):
        free(size)
        space.look()
        assert space.low == low


def test_a_volume_that_does_not_answer_counts_as_low(tmp_path: Path) -> None:
    space = Space(tmp_path, 0)
    assert not space.low
    space._folder = tmp_path / "gone"
    space.look()
    assert space.low


def test_below_the_reserve_output_is_held_back_and_lifecycle_events_go_on(tmp_path: Path) -> None:
    told: list[str | None] = []
    journal = Journal.create(tmp_path, RUN_ID, JournalOptions(reserve_bytes=1 << 60), on_state=told.append)
    assert not journal.room()
    append(journal, 10)
    assert not journal.room()
    wait_until(lambda: len(told) == 1)
    assert told == [f"less than the reserve of {1 << 60} bytes is free on the journal's volume"]
    journal._writer._parts.space.reserve_bytes = 0
    wait_until(journal.room)
    wait_until(lambda: told[-1] is None)
    append(journal, 10)
    journal.close()
    assert len(told) == 2


def test_too_much_that_waits_leaves_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    gate = threading.Event()
    real = os.pwritev

    def held(*arguments: object) -> int:
        gate.wait(10)
        return real(*arguments)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(os, "pwritev", held)
    journal = Journal.create(tmp_path, RUN_ID, JournalOptions(reserve_bytes=0))
    while journal.room():
        journal.append(line(journal.next_sequence, 100_000), kind="subprocess_output")
    assert journal.last_sequence == 42
    assert journal.committed_sequence == 0
    assert journal.read(0).count == 0
    gate.set()
    wait_until(journal.room)
    journal.close()
    assert journal.committed_sequence == 42
