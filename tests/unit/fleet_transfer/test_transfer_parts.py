"""Part files on the disk, and how a whole one gets its place."""

import errno
import hashlib
import os
from pathlib import Path

import pytest

from hopline.fleet.transfer import parts as transfer_parts
from hopline.fleet.transfer.ledger import Ledger, Sent
from hopline.fleet.transfer.parts import MAX_PARTS, PART_SECONDS, Parts

DATA = b"a conversation\n" * 1000
DIGEST = hashlib.sha256(DATA).hexdigest()


def whole(folder: Path) -> Parts:
    folder.mkdir(mode=0o700)
    parts = Parts(folder)
    parts.restart(DIGEST)
    parts.append(DIGEST, DATA)
    assert parts.is_whole(DIGEST)
    return parts


@pytest.mark.parametrize("number", [errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP])
def test_where_no_link_can_be_made_it_is_copied_into_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    parts = whole(tmp_path / "parts")

    def no_links(*_names: object, **_options: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", no_links)
    target = tmp_path / "there" / "s.jsonl"
    parts.place(DIGEST, target)
    assert target.read_bytes() == DATA
    assert target.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in target.parent.iterdir()] == ["s.jsonl"]
    assert list((tmp_path / "parts").iterdir()) == []


@pytest.mark.parametrize("links", [True, False])
def test_what_is_there_stays_and_so_does_the_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    parts = whole(tmp_path / "parts")
    if not links:
        monkeypatch.setattr(os, "link", lambda *_names, **_options: (_ for _ in ()).throw(OSError(errno.EXDEV, "")))
    target = tmp_path / "s.jsonl"
    target.symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        parts.place(DIGEST, target)
    assert target.is_symlink()
    assert parts.held(DIGEST) == len(DATA)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "s.jsonl"]


def test_a_part_of_an_earlier_process_goes_on_where_it_ends(tmp_path: Path) -> None:
    (tmp_path / f"{DIGEST}.part").write_bytes(DATA[:100] + b"rest")
    parts = Parts(tmp_path)
    parts.cut(DIGEST, 100)
    parts.append(DIGEST, DATA[100:])
    assert parts.is_whole(DIGEST)
    parts.close()
    assert parts.held(DIGEST) == len(DATA)


def test_a_part_that_somebody_else_changed_is_read_again(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    parts.restart(DIGEST)
    parts.append(DIGEST, DATA[:100])
    (tmp_path / f"{DIGEST}.part").write_bytes(DATA[:50])
    parts.append(DIGEST, DATA[50:])
    assert parts.is_whole(DIGEST)


def test_a_link_in_the_place_of_a_part_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / f"{DIGEST}.part").symlink_to(tmp_path / "mine")
    parts = Parts(tmp_path)
    with pytest.raises(OSError, match="symbolic"):
        parts.append(DIGEST, DATA)
    parts.restart(DIGEST)
    parts.append(DIGEST, DATA)
    assert (tmp_path / "mine").read_bytes() == b"mine"


def test_old_parts_leave_and_of_too_many_those_that_grew_least_lately(tmp_path: Path) -> None:
    names = [hashlib.sha256(bytes([number])).hexdigest() for number in range(MAX_PARTS + 2)]
    for age, name in enumerate(names):
        path = tmp_path / f"{name}.part"
        path.touch()
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    Parts(tmp_path).restart(DIGEST)
    left = {path.stem for path in tmp_path.iterdir()}
    assert left == {DIGEST, *names[: MAX_PARTS - 1]}
    for path in tmp_path.iterdir():
        os.utime(path, (path.stat().st_mtime - PART_SECONDS - 1,) * 2)
    Parts(tmp_path).restart(names[-1])
    assert {path.stem for path in tmp_path.iterdir()} == {names[-1]}


def test_few_are_open_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer_parts, "MAX_PARTS", 3)
    parts = Parts(tmp_path)
    for number in range(9):
        parts.restart(hashlib.sha256(bytes([number])).hexdigest())
    held = [Path(entry.path).readlink() for entry in os.scandir("/proc/self/fd") if Path(entry.path).is_symlink()]
    assert sum(path.parent == tmp_path for path in held) == 3
    parts.close()


def test_a_record_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    assert ledger.all_received() == []
    (tmp_path / "bad.json").write_text("{")
    entry = Sent(
        session_id="s", peer="p", cwd="/", bytes=1, digest=DIGEST, state="sent", sent_at="2026-01-01T00:00:00.000Z"
    )
    ledger.record_sent(entry)
    assert ledger.all_sent() == [entry]
    assert ledger.sent("bad") is None
    assert (tmp_path / "s.json").stat().st_mode & 0o777 == 0o600
