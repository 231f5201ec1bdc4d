import os
from pathlib import Path

import pytest
from journal_events import RUN_ID, fill

from hopline.errors import Corrupt, Unavailable
from hopline.journal import Journal, JournalOptions, JournalView
from hopline.journal.identity import create_identity, read_identity


def test_a_new_journal_has_a_random_store_id_and_private_files(tmp_path: Path) -> None:
    fill(tmp_path / "a" / "journal", 10)
    fill(tmp_path / "b" / "journal", 10)
    one, other = (read_identity(tmp_path / name / "journal") for name in ("a", "b"))
    assert one.run_id == RUN_ID
    assert len(one.store_id) == 32
    assert one.store_id != other.store_id
    for path in (tmp_path / "a" / "journal").rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    assert (tmp_path / "a" / "journal").stat().st_mode & 0o777 == 0o700


def test_a_second_journal_is_not_made_over_the_first(tmp_path: Path) -> None:
    fill(tmp_path, 10)
    with pytest.raises(Unavailable, match="already holds a journal"):
        Journal.create(tmp_path, RUN_ID)
    (tmp_path / "store.json").unlink()
    with pytest.raises(Unavailable, match="already holds a journal"):
        Journal.create(tmp_path, RUN_ID)


def test_a_journal_that_cannot_be_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(Unavailable, match=r"No space left on device; free some room"):
        Journal.create(tmp_path / "journal", RUN_ID)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="Not a directory"):
        Journal.create(tmp_path / "file" / "journal", RUN_ID)


def test_a_journal_of_a_newer_format_is_not_opened(tmp_path: Path) -> None:
    fill(tmp_path, 10)
    path = tmp_path / "store.json"
    path.write_bytes(path.read_bytes().replace(b'"format":1', b'"format":2,"more":true'))
    for open_it in (JournalView.open, Journal.open):
        with pytest.raises(Unavailable, match="has format 2 and this hopline reads up to 1; update hopline"):
            open_it(tmp_path)


def test_what_is_no_journal_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"holds no journal \(there is no store.json\)"):
        JournalView.open(tmp_path)
    (tmp_path / "store.json").write_bytes(b"{}")
    with pytest.raises(Corrupt, match="does not say what journal this is"):
        JournalView.open(tmp_path)
    create_identity(tmp_path / "journal", RUN_ID, durable=True)
    (tmp_path / "journal" / "segments" / f"{1:020d}.jsonl").unlink()
    for open_it in (JournalView.open, Journal.open):
        with pytest.raises(Unavailable, match="has lost its segments"):
            open_it(tmp_path / "journal")


def test_a_journal_that_cannot_be_read_is_unavailable(tmp_path: Path) -> None:
    fill(tmp_path, 10)
    (tmp_path / "store.json").unlink()
    (tmp_path / "store.json").mkdir()
    with pytest.raises(Unavailable, match=r"cannot read .* check its owner and mode"):
        JournalView.open(tmp_path)


def test_a_full_journal_is_made_on_stable_storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").resolve().name)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    journal = Journal.create(tmp_path / "run" / "journal", RUN_ID, JournalOptions(durability="full"))
    journal.close()
    assert synced == [f"{1:020d}.jsonl", "store.json.new", "segments", "journal", "run"]
