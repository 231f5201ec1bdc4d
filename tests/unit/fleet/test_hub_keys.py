"""Identity, keys and addresses on disk."""

import errno
import json
import os
from pathlib import Path

import pytest

from hopline.errors import ConnectDenied, Corrupt, UsageError
from hopline.fleet.hub.keys import MAX_ADDRESSES, STALE_SECONDS, FileKeys
from hopline.fleet.links import addresses

KEY = bytes(range(32))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "fleet"


@pytest.fixture
def keys(folder: Path) -> FileKeys:
    return FileKeys(folder)


def test_an_identity_is_made_once_and_kept(keys: FileKeys, folder: Path) -> None:
    made = keys.identity("Box.example.org")
    assert made.startswith("box-")
    assert len(made) == len("box-") + 8
    assert FileKeys(folder).identity("elsewhere") == made
    assert (folder / "identity").read_text() == made


@pytest.mark.parametrize("text", ["", "a b", "_pending", "../x", "é"])
def test_a_file_that_holds_no_id_is_named(keys: FileKeys, folder: Path, text: str) -> None:
    (folder / "identity").write_text(text)
    with pytest.raises(Corrupt, match="identity holds no id"):
        keys.identity("box")


def test_a_key_is_hex_that_only_its_owner_may_read_and_nothing_else_is_left(keys: FileKeys, folder: Path) -> None:
    umask = os.umask(0)
    try:
        keys.keep("b-2", KEY)
        keys.keep_pending(KEY)
    finally:
        os.umask(umask)
    for name in ("b-2.key", "_pending.key"):
        path = folder / "peers" / name
        assert path.read_text() == KEY.hex()
        assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in (folder / "peers").iterdir()) == ["_pending.key", "b-2.key"]
    assert keys.key("b-2") == KEY
    assert keys.peers() == {"b-2"}


def test_the_pending_key_is_claimed_once(keys: FileKeys) -> None:
    assert keys.pending() is None
    keys.keep_pending(KEY)
    keys.claim_pending("b-2")
    assert keys.pending() is None
    assert keys.key("b-2") == KEY
    with pytest.raises(FileNotFoundError):
        keys.claim_pending("c-3")


@pytest.mark.parametrize("text", ["", "00", "g" * 64, "A" * 64, "a" * 65, "\xff" * 64])
def test_a_file_that_holds_no_key_is_none(keys: FileKeys, folder: Path, text: str) -> None:
    (folder / "peers" / "b-2.key").write_bytes(text.encode("latin-1"))
    assert keys.key("b-2") is None


@pytest.mark.parametrize("peer", ["", "../identity", "_pending", "a/b", "x" * 129])
def test_nothing_that_is_no_id_is_looked_up(keys: FileKeys, peer: str) -> None:
    keys.keep_pending(KEY)
    assert keys.key(peer) is None


def test_a_key_that_was_prepared_is_kept_without_writing_anything(keys: FileKeys, folder: Path) -> None:
    keys.prepare(KEY)
    assert keys.peers() == set()
    before = next((folder / "peers").iterdir()).stat()
    assert before.st_mode & 0o777 == 0o600
    keys.keep("b-2", KEY)
    keys.discard(KEY)
    assert [path.name for path in (folder / "peers").iterdir()] == ["b-2.key"]
    assert (folder / "peers" / "b-2.key").stat().st_ino == before.st_ino
    assert keys.key("b-2") == KEY


def test_a_full_disk_is_told_with_its_place_and_leaves_nothing(
    keys: FileKeys, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("hopline.fleet.hub.keys.os.fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*/peers/b-2\.key'"):
        keys.keep("b-2", KEY)
    assert list((folder / "peers").iterdir()) == []


def test_what_was_prepared_for_nothing_is_gone_with_the_next_hub(keys: FileKeys, folder: Path) -> None:
    keys.prepare(KEY)
    FileKeys(folder)
    assert list((folder / "peers").iterdir()) == []


def test_what_is_forgotten_is_gone_with_its_addresses(keys: FileKeys, folder: Path) -> None:
    keys.keep("b-2", KEY)
    keys.note_addresses("b-2", ["10.0.0.2:1"], 1000, seen=True)
    assert keys.forget("b-2")
    assert not keys.forget("b-2")
    assert keys.addresses("b-2") == []
    assert list((folder / "peers").iterdir()) == []


def test_addresses_are_kept_newest_first_once_each_and_eight_at_most(keys: FileKeys, folder: Path) -> None:
    for number in range(12):
        keys.note_addresses("b-2", [f"10.0.0.{number}:1"], 1000 + number, seen=False)
    keys.note_addresses("b-2", ["10.0.0.9:1"], 2000, seen=True)
    found = FileKeys(folder).addresses("b-2")
    assert found[:2] == ["10.0.0.9:1", "10.0.0.11:1"]
    assert len(found) == len(set(found)) == MAX_ADDRESSES
    told = json.loads((folder / "peers" / "b-2.meta").read_text())
    assert (told["addr"], told["last_seen"]) == ("10.0.0.9:1", 2000)
    assert told["addrs"][0] == {"addr": "10.0.0.9:1", "last_seen": 2000}


def test_an_older_programs_single_address_is_read(keys: FileKeys, folder: Path) -> None:
    (folder / "peers" / "b-2.meta").write_text('{"addr":"10.0.0.2:9847","last_seen":5,"other":1}')
    assert keys.addresses("b-2") == ["10.0.0.2:9847"]


def test_a_peer_that_stays_does_not_wear_out_the_disk(keys: FileKeys, folder: Path) -> None:
    keys.note_addresses("b-2", ["10.0.0.2:1"], 1000, seen=True)
    path = folder / "peers" / "b-2.meta"
    path.write_text("untouched")
    keys.note_addresses("b-2", ["10.0.0.2:1"], 1000 + STALE_SECONDS, seen=True)
    assert path.read_text() == "untouched"
    keys.note_addresses("b-2", ["10.0.0.2:1"], 1001 + STALE_SECONDS, seen=True)
    assert json.loads(path.read_text())["last_seen"] == 1001 + STALE_SECONDS


def test_a_folder_that_others_may_enter_is_refused(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    with pytest.raises(ConnectDenied, match="chmod 700"):
        FileKeys(folder)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10.0.0.1", "10.0.0.1:9847"),
        ("10.0.0.1:5", "10.0.0.1:5"),
        ("::1", "[::1]:9847"),
        ("[::1]", "[::1]:9847"),
        ("[fe80::1]:7", "[fe80::1]:7"),
        (" 127.0.0.1:65535 ", "127.0.0.1:65535"),
    ],
)
def test_an_address_is_named_with_or_without_its_port(text: str, found: str) -> None:
    assert addresses.named(text, 9847) == found


@pytest.mark.parametrize(
    "text", ["", "host", "10.0.0.1:0", "10.0.0.1:70000", "0.0.0.0:1", "224.0.0.1:1", "a:b:c", "1:"]
)
def test_what_is_no_address_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"for example 192\.168\.1\.50:9847"):
        addresses.named(text, 9847)


def test_an_offered_loopback_address_counts_only_from_loopback() -> None:
    offer = ["127.0.0.1:1", "10.0.0.1:1", "10.0.0.1:1", "x", "[::]:1", "[::1]:1"]
    assert addresses.offered(offer, "10.0.0.9", 8) == ["10.0.0.1:1"]
    assert addresses.offered(offer, "127.0.0.1", 8) == ["127.0.0.1:1", "10.0.0.1:1", "[::1]:1"]
    assert addresses.offered(offer, "::1", 1) == ["127.0.0.1:1"]


def test_a_source_has_one_form() -> None:
    assert addresses.source_of("::ffff:10.0.0.1") == "10.0.0.1"
    assert addresses.source_of("fe80::1%eth0") == "fe80::1"
    assert addresses.is_loopback("127.9.9.9")
    assert not addresses.is_loopback("somewhere")
