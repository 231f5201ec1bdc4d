"""What the receiver does with frames, down to the disk."""

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import lz4.block
import pytest
from transfer_wire import PLAIN, Side, Wire, frame, pieces, transcript

from hopline.fleet.transfer.intake import Intake
from hopline.fleet.transfer.ledger import Ledger
from hopline.fleet.transfer.receiver import Receiver
from hopline.wire.peer.limits import CHUNK_BYTES
from hopline.wire.peer.negotiation import FEATURES, SESSION_LZ4
from hopline.wire.peer.transfer import SessionOffer, SessionTransfer

CWD = "/home/x/app"
PLACED = ".claude/projects/-home-x-app/s-1.jsonl"


class Desk:
    """A receiver, its folders, and what is fed to it."""

    def __init__(self, root: Path, bound: int = 1 << 30) -> None:
        self.parts = root / "transfers"
        self.parts.mkdir(mode=0o700, exist_ok=True)
        self.home = root / "home"
        self.ledger = Ledger(self.parts)
        self.receiver = Receiver(Intake(self.parts, self.ledger, self.home, bound))
        self.wire = Wire()
        self.receiver.attach(self.wire)
        self.side = Side()

    async def chunk(self, whole: bytes, seq: int, side: Side | None = None, /, **other: object) -> None:
        cut = pieces(whole)
        said: dict[str, object] = {
            "session_id": "s-1",
            "cwd": CWD,
            "seq": seq,
            "total": len(cut),
            "digest": hashlib.sha256(whole).hexdigest(),
            "data": cut[seq],
        }
        await self.receiver.take_chunk(side or self.side, frame("session_transfer", {**said, **other}))

    async def offer(self, data: bytes, side: Side | None = None) -> None:
        digest = hashlib.sha256(data).hexdigest()
        offer = SessionOffer(session_id="s-1", cwd=CWD, total=len(pieces(data)), digest=digest)
        await self.receiver.take_offer(side or self.side, frame("session_offer", offer))

    def part(self, data: bytes) -> Path:
        return self.parts / f"{hashlib.sha256(data).hexdigest()}.part"

    @property
    def placed(self) -> Path:
        return self.home / PLACED


def run(root: Path, test: Callable[[Desk], Awaitable[None]], bound: int = 1 << 30) -> None:
    async def main() -> None:
        desk = Desk(root, bound)
        try:
            await asyncio.wait_for(test(desk), 20)
        finally:
            desk.receiver.close()

    asyncio.run(main())


def refusals(side: Side) -> list[str]:
    said = side.said()
    assert all(kind == "session_answer" for kind, _ in said), said
    return [str(answer["refused"]) for _, answer in said]


@pytest.mark.parametrize("size", [0, 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES, 3 * CHUNK_BYTES + 77])
def test_a_transcript_arrives_byte_for_byte_and_is_answered_on_its_connection(tmp_path: Path, size: int) -> None:
    data = transcript(tmp_path / "t", size)

    async def test(desk: Desk) -> None:
        for seq in range(len(pieces(data))):
            await desk.chunk(data, seq)
        assert desk.placed.read_bytes() == data
        ((kind, answer),) = desk.side.said()
        assert kind == "session_received"
        assert answer["session_id"] == "s-1"
        assert answer["path"] == str(desk.placed)
        assert answer["resume"] == "cd /home/x/app && claude --resume s-1 --fork-session"
        assert list(desk.parts.glob("*.part")) == []
        (entry,) = desk.ledger.all_received()
        assert (entry.peer, entry.bytes, entry.path) == ("a-00000000", size, str(desk.placed))

    run(tmp_path, test)


def test_what_is_written_is_open_to_its_owner_alone(tmp_path: Path) -> None:
    data = transcript(tmp_path / "t", CHUNK_BYTES + 1)
    before = os.umask(0)

    async def test(desk: Desk) -> None:
        await desk.chunk(data, 0)
        await desk.offer(data)  # waits for the write
        assert desk.part(data).stat().st_mode & 0o777 == 0o600
        await desk.chunk(data, 1)
        assert desk.placed.stat().st_mode & 0o777 == 0o600
        assert desk.placed.parent.stat().st_mode & 0o777 == 0o700

    try:
        run(tmp_path, test)
    finally:
        os.umask(before)


def test_the_same_transcript_in_place_is_answered_at_once_and_once_a_transfer(tmp_path: Path) -> None:
    data = transcript(tmp_path / "t", 3 * CHUNK_BYTES)

    async def test(desk: Desk) -> None:
        for seq in range(3):
            await desk.chunk(data, seq)
        desk.side.said()
        await desk.chunk(data, 0)
        assert [kind for kind, _ in desk.side.said()] == ["session_received"]
        await desk.chunk(data, 1)
        assert desk.side.said() == []
        assert list(desk.parts.glob("*.part")) == []

    run(tmp_path, test)


def test_another_file_in_place_is_never_overwritten(tmp_path: Path) -> None:
    """PL-TRANSFER-KEEPS."""
    data = transcript(tmp_path / "t", 100)

    async def test(desk: Desk) -> None:
        desk.placed.parent.mkdir(parents=True)
        for other in (b"", b"x" * 100, b"something longer" * 100):
            desk.placed.write_bytes(other)
            await desk.chunk(data, 0, Side(peer=f"p-{len(other):08x}"))
            assert desk.placed.read_bytes() == other
        assert list(desk.parts.glob("*.part")) == []

    run(tmp_path, test)


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "dangling"])
def test_what_is_no_plain_file_at_the_place_is_left_alone(tmp_path: Path, kind: str) -> None:
    data = transcript(tmp_path / "t", 100)
    elsewhere = tmp_path / "elsewhere"

    async def test(desk: Desk) -> None:
        desk.placed.parent.mkdir(parents=True)
        if kind == "link":
            elsewhere.write_bytes(b"mine")
            desk.placed.symlink_to(elsewhere)
        elif kind == "dangling":
            desk.placed.symlink_to(elsewhere)
        elif kind == "folder":
            desk.placed.mkdir()
        else:
            os.mkfifo(desk.placed)
        await desk.chunk(data, 0)
        (reason,) = refusals(desk.side)
        assert "never overwritten" in reason
        assert elsewhere.exists() is (kind == "link")
        assert not elsewhere.exists() or elsewhere.read_bytes() == b"mine"

    run(tmp_path, test)


def test_a_file_that_appears_while_chunks_come_is_not_overwritten_either(tmp_path: Path) -> None:
    data = transcript(tmp_path / "t", 2 * CHUNK_BYTES)

    async def test(desk: Desk) -> None:
        await desk.chunk(data, 0)
        desk.placed.parent.mkdir(parents=True)
        desk.placed.write_bytes(b"mine")
        await desk.chunk(data, 1)
        assert "never overwritten" in refusals(desk.side)[0]
        assert desk.placed.read_bytes() == b"mine"

    run(tmp_path, test)


def test_a_whole_that_is_not_what_its_digest_says_is_deleted(tmp_path: Path) -> None:
    """PL-TRANSFER-WHOLE."""
    data = transcript(tmp_path / "t", CHUNK_BYTES + 5)

    async def test(desk: Desk) -> None:
        await desk.chunk(data, 0, data=b"\0" * CHUNK_BYTES)
        await desk.chunk(data, 1)
        assert "SHA-256" in refusals(desk.side)[0]
        assert not desk.part(data).exists()
        assert not desk.placed.exists()

    run(tmp_path, test)


def test_a_chunk_that_does_not_follow_the_part_is_refused_and_the_first_begins_it_anew(tmp_path: Path) -> None:
    """PL-TRANSFER-ORDER."""
    data = transcript(tmp_path / "t", 3 * CHUNK_BYTES + 5)

    async def test(desk: Desk) -> None:
        await desk.chunk(data, 0)
        await desk.chunk(data, 2)
        assert "begin anew" in refusals(desk.side)[0]
        for seq in range(4):
            await desk.chunk(data, seq)
        assert desk.placed.read_bytes() == data

    run(tmp_path, test)


@pytest.mark.parametrize(
    "other",
    [
        {"session_id": "../../.ssh/authorized_keys"},
        {"session_id": "--dangerously-skip-permissions"},
        {"cwd": "relative/x"},
        {"cwd": "/home/x/../../etc"},
        {"cwd": "/home/x\n/y"},
        {"digest": "../" + "a" * 61},
        {"total": 0},
        {"total": 4_000_000},
        {"seq": 9},
        {"data": b"short"},
        {"data": b"x" * (CHUNK_BYTES + 1)},
    ],
)
def test_a_frame_of_tricks_is_refused_and_nothing_is_written(tmp_path: Path, other: dict[str, object]) -> None:
    """PL-TRANSFER-ID, PL-TRANSFER-CWD, PL-TRANSFER-DIGEST, PL-TRANSFER-COUNT, PL-TRANSFER-BOUND, PL-TRANSFER-LENGTH."""
    data = transcript(tmp_path / "t", 2 * CHUNK_BYTES)

    async def test(desk: Desk) -> None:
        await desk.chunk(data, 0, **other)
        await desk.chunk(data, 0, **other)
        assert len(refusals(desk.side)) == 1, "once a transfer"
        assert list(desk.parts.iterdir()) == []
        assert not desk.home.exists()

    run(tmp_path, test)


@pytest.mark.parametrize("key", ["session_id", "cwd", "seq", "total", "digest", "data"])
def test_a_frame_that_lacks_a_key_is_dropped(tmp_path: Path, key: str) -> None:
    said = {"session_id": "s-1", "cwd": CWD, "seq": 0, "total": 1, "digest": "ab" * 32, "data": b"x"}

    async def test(desk: Desk) -> None:
        del said[key]
        await desk.receiver.take_chunk(desk.side, frame("session_transfer", said))
        assert desk.side.said() == []
        assert list(desk.parts.iterdir()) == []

    run(tmp_path, test)


@pytest.mark.parametrize("text", ["QUI", "QUJD RA==", "QU-_", "====", "QUJD===="])
def test_base64_that_is_not_the_standard_one_with_padding_is_refused(tmp_path: Path, text: str) -> None:
    said = {"session_id": "s-1", "cwd": CWD, "seq": 0, "total": 1, "digest": "ab" * 32, "data": text}

    async def test(desk: Desk) -> None:
        await desk.receiver.take_chunk(desk.side, frame("session_transfer", said))
        assert list(desk.parts.iterdir()) == []

    run(tmp_path, test)


def test_a_transcript_over_the_bound_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    data = transcript(tmp_path / "t", 3 * CHUNK_BYTES)

    async def test(desk: Desk) -> None:
        await desk.offer(data)
        await desk.chunk(data, 0)
        assert len(refusals(desk.side)) == 1
        assert list(desk.parts.iterdir()) == []

    run(tmp_path, test, bound=2 * CHUNK_BYTES)


def test_a_full_disk_is_said_and_what_came_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PL-TRANSFER-ROOM."""
    data = transcript(tmp_path / "t", 3 * CHUNK_BYTES)
    written = os.pwrite

    def full(descriptor: int, block: bytes, offset: int) -> int:
        if offset >= CHUNK_BYTES:
            raise OSError(28, "No space left on device")
        return written(descriptor, block, offset)

    async def test(desk: Desk) -> None:
        monkeypatch.setattr(os, "pwrite", full)
        for seq in range(3):
            await desk.chunk(data, seq)
        assert "disk is full" in refusals(desk.side)[0]
        assert list(desk.parts.iterdir()) == []
        monkeypatch.setattr(os, "pwrite", written)
        for seq in range(3):
            await desk.chunk(data, seq)
        assert desk.placed.read_bytes() == data

    run(tmp_path, test)


def test_what_else_the_disk_refuses_is_said(tmp_path: Path) -> None:
    """PL-TRANSFER-DISK."""
    data = transcript(tmp_path / "t", 9)

    async def test(desk: Desk) -> None:
        desk.home.write_bytes(b"a file where a folder should be")
        await desk.chunk(data, 0)
        assert "cannot keep it" in refusals(desk.side)[0]

    run(tmp_path, test)


def test_an_offer_is_answered_with_where_the_part_ends(tmp_path: Path) -> None:
    """PL-TRANSFER-OFFER."""
    data = transcript(tmp_path / "t", 3 * CHUNK_BYTES + 9)

    async def test(desk: Desk) -> None:
        await desk.offer(data)
        await desk.chunk(data, 0)
        await desk.chunk(data, 1)
        await desk.offer(data)
        assert [answer["next_seq"] for _, answer in desk.side.said()] == [0, 2]

    run(tmp_path, test)

    async def after_a_restart(desk: Desk) -> None:
        with desk.part(data).open("ab") as part:
            part.write(b"half a chunk")
        await desk.offer(data)
        await desk.chunk(data, 2)
        await desk.chunk(data, 3)
        assert [kind for kind, _ in desk.side.said()] == ["session_answer", "session_received"]
        assert desk.placed.read_bytes() == data

    run(tmp_path, after_a_restart)


def test_what_the_cut_connection_still_delivers_is_dropped_once_its_sender_is_back(tmp_path: Path) -> None:
    """TCP hands over what it held long after the sender has dialled anew."""
    data = transcript(tmp_path / "t", 4 * CHUNK_BYTES)

    async def test(desk: Desk) -> None:
        cut, back = Side(), Side()
        await desk.offer(data, cut)
        await desk.chunk(data, 0, cut)
        await desk.offer(data, back)
        await desk.chunk(data, 1, cut)
        for seq in (1, 2, 3):
            await desk.chunk(data, seq, back)
        assert [kind for kind, _ in cut.said()] == ["session_answer"]
        assert [kind for kind, _ in back.said()] == ["session_answer", "session_received"]
        assert desk.placed.read_bytes() == data

    run(tmp_path, test)


def test_an_offer_of_what_is_in_place_is_answered_as_received(tmp_path: Path) -> None:
    data = transcript(tmp_path / "t", 9)

    async def test(desk: Desk) -> None:
        await desk.chunk(data, 0)
        await desk.offer(data)
        assert [kind for kind, _ in desk.side.said()] == ["session_received"] * 2

    run(tmp_path, test)


def test_a_peer_that_did_not_agree_to_offers_gets_no_frame_of_ours(tmp_path: Path) -> None:
    data = transcript(tmp_path / "t", 9)

    async def test(desk: Desk) -> None:
        plain = Side(features=PLAIN)
        await desk.offer(data, plain)
        await desk.chunk(data, 0, plain, cwd="relative")
        assert plain.said() == []
        await desk.chunk(data, 0, plain)
        assert [kind for kind, _ in plain.said()] == ["session_received"]

    run(tmp_path, test)


def test_two_senders_of_one_transcript_end_with_it_in_place(tmp_path: Path) -> None:
    data = transcript(tmp_path / "t", 4 * CHUNK_BYTES)

    async def test(desk: Desk) -> None:
        one, two = Side(peer="a-1"), Side(peer="a-2")
        for seq, side in [(0, one), (1, one), (0, two), (2, one), (1, two), (2, two), (3, two), (3, one)]:
            await desk.chunk(data, seq, side)
        assert desk.placed.read_bytes() == data
        assert "session_received" in [kind for kind, _ in one.said()]
        assert "session_received" in [kind for kind, _ in two.said()]

    run(tmp_path, test)


def test_what_comes_while_the_hub_ends_is_left_for_the_next_one(tmp_path: Path) -> None:
    data = transcript(tmp_path / "t", 3 * CHUNK_BYTES)

    async def test(desk: Desk) -> None:
        await desk.chunk(data, 0)
        desk.receiver.close()
        said = {"session_id": "s-1", "cwd": CWD, "seq": 1, "total": 3, "digest": desk.part(data).stem, "data": b""}
        for kind in ("session_transfer", "session_offer"):
            await desk.wire.handlers[kind](desk.side, frame(kind, {**said, "data": pieces(data)[1]}))
        assert desk.side.said() == []
        assert desk.part(data).stat().st_size == CHUNK_BYTES

    run(tmp_path, test)


def test_an_answer_whose_connection_is_gone_goes_by_the_link(tmp_path: Path) -> None:
    data = transcript(tmp_path / "t", 9)

    async def test(desk: Desk) -> None:
        desk.side.gone = True
        await desk.chunk(data, 0)
        ((peer, kind, _),) = desk.wire.by_link
        assert (peer, kind) == ("a-00000000", "session_received")

    run(tmp_path, test)


def test_a_compressed_chunk_is_taken_where_it_was_agreed_to(tmp_path: Path) -> None:
    """PL-TRANSFER-PACKED."""
    data = transcript(tmp_path / "t", 2 * CHUNK_BYTES + 9)

    async def test(desk: Desk) -> None:
        for seq, piece in enumerate(pieces(data)):
            block = lz4.block.compress(piece, store_size=True)
            await desk.chunk(data, seq, data=block, packed=True)
        assert [kind for kind, _ in desk.side.said()] == ["session_received"]
        assert desk.placed.read_bytes() == data

    run(tmp_path, test)


@pytest.mark.parametrize(
    "block",
    [
        b"",
        b"\x00\x00\x08",
        b"\x00\x00\x08\x00",
        b"\x00\x00\x08\x00garbage",
        lz4.block.compress(b"x" * (CHUNK_BYTES + 1), store_size=True),
        lz4.block.compress(b"x" * (CHUNK_BYTES - 1), store_size=True),
        b"\x00\x00\x08\x00" + lz4.block.compress(b"x" * (CHUNK_BYTES - 1), store_size=False),
        b"\x00\x00\x08\x00" + lz4.block.compress(b"x" * (CHUNK_BYTES + 1), store_size=False),
        b"\xff\xff\xff\xff" + lz4.block.compress(b"x" * CHUNK_BYTES, store_size=False),
    ],
)
def test_a_block_that_does_not_hold_a_chunk_is_refused(tmp_path: Path, block: bytes) -> None:
    data = transcript(tmp_path / "t", 2 * CHUNK_BYTES)

    async def test(desk: Desk) -> None:
        await desk.chunk(data, 0, data=block, packed=True)
        await desk.offer(data)  # waits for the write
        said = [answer for _, answer in desk.side.said()]
        assert "refused" in said[0]
        assert list(desk.parts.iterdir()) == []

    run(tmp_path, test)


def test_a_compressed_chunk_that_was_not_agreed_to_is_refused(tmp_path: Path) -> None:
    data = transcript(tmp_path / "t", 2 * CHUNK_BYTES)

    async def test(desk: Desk) -> None:
        side = Side(features=FEATURES - {SESSION_LZ4})
        await desk.chunk(data, 0, side, data=lz4.block.compress(pieces(data)[0]), packed=True)
        assert "not agreed" in refusals(side)[0]

    run(tmp_path, test)


def test_a_run_s_events_are_answered_with_what_shows_them(tmp_path: Path) -> None:
    data = b'{"protocol_version":1,"sequence":1,"run_id":"abc","timestamp":"t","type":"run_started","data":null}\n'

    async def test(desk: Desk) -> None:
        await desk.chunk(data, 0)
        assert desk.side.said()[0][1]["resume"] == f"less {desk.placed}"

    run(tmp_path, test)


def test_a_frame_whose_payload_is_the_struct_survives_the_wire() -> None:
    chunk = SessionTransfer(session_id="s", cwd="/", seq=0, total=1, digest="ab" * 32, data=b"\0\xff")
    assert b'"data":"AP8="' in bytes(frame("session_transfer", chunk).payload)
