"""Sending a session: what goes over the wire, what is recorded, and how a cut transfer is taken up again."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
from transfer_wire import PLAIN, Side, Wire, frame, transcript

from hopline.errors import Refused, Unavailable, UsageError
from hopline.fleet.transfer.intake import Intake
from hopline.fleet.transfer.ledger import Ledger
from hopline.fleet.transfer.receiver import Receiver
from hopline.fleet.transfer.room import TransferRoom
from hopline.fleet.transfer.sender import Sender
from hopline.wire.hub.sessions import ListSessions, SendProgress, SendSession, SessionList, SessionSent
from hopline.wire.peer.limits import CHUNK_BYTES
from hopline.wire.peer.negotiation import FEATURES
from hopline.wire.peer.transfer import SessionReceived

QUICK = (0.01, 0.01)


class Pair:
    """A sender, a receiver, and the wire between them."""

    def __init__(self, root: Path, features: frozenset[str], bound: int, patience: float) -> None:
        self.root = root
        self.home = root / "home"
        for name in ("a", "b"):
            (root / name).mkdir(mode=0o700)
        self.ledger = Ledger(root / "a")
        self.receiver = Receiver(Intake(root / "b", Ledger(root / "b"), self.home, bound))
        self.sender = Sender(self.ledger, retry_seconds=QUICK, answer_seconds=patience)
        self.wire = Wire(features)
        self.receiver.attach(self.wire)
        self.sender.attach(self.wire)
        self.progress: list[SendProgress] = []

    def keep(self, news: msgspec.Struct) -> None:
        assert isinstance(news, SendProgress)
        self.progress.append(news)

    async def send(self, path: Path, **other: object) -> SessionSent:
        said: dict[str, object] = {
            "peer": "b-00000000",
            "session_id": "s-1",
            "transcript": str(path),
            "cwd": "/home/x/app",
            "max_bytes": 1 << 30,
        }
        return await self.sender.send(msgspec.convert({**said, **other}, SendSession), self.keep)

    @property
    def placed(self) -> Path:
        return self.home / ".claude/projects/-home-x-app/s-1.jsonl"


def run(
    root: Path,
    test: Callable[[Pair], Awaitable[None]],
    *,
    features: frozenset[str] = FEATURES,
    bound: int = 1 << 30,
    patience: float = 5.0,
) -> None:
    async def main() -> None:
        pair = Pair(root, features, bound, patience)
        try:
            await asyncio.wait_for(test(pair), 20)
        finally:
            pair.receiver.close()

    asyncio.run(main())


@pytest.mark.parametrize("features", [FEATURES, PLAIN, frozenset()])
@pytest.mark.parametrize("size", [0, 5, CHUNK_BYTES, 3 * CHUNK_BYTES + 7])
def test_a_sent_session_is_in_place_and_in_the_ledger(tmp_path: Path, size: int, features: frozenset[str]) -> None:
    data = transcript(tmp_path / "t", size)

    async def test(pair: Pair) -> None:
        sent = await pair.send(tmp_path / "t")
        assert pair.placed.read_bytes() == data
        assert (sent.state, sent.bytes, sent.bytes_sent) == ("received", size, size)
        assert sent.remote_path == str(pair.placed)
        assert sent.resume == "cd /home/x/app && claude --resume s-1 --fork-session"
        entry = pair.ledger.sent("s-1")
        assert entry is not None
        assert (entry.state, entry.peer, entry.bytes, entry.resume) == ("received", "b-00000000", size, sent.resume)
        assert {one.state for one in pair.progress} <= {"hashing", "connecting", "sending", "confirming"}

    run(tmp_path, test, features=features)


def test_every_chunk_repeats_the_claim_and_only_the_last_may_be_short(tmp_path: Path) -> None:
    """PL-TRANSFER-CHUNKS."""
    transcript(tmp_path / "t", 2 * CHUNK_BYTES + 7)

    async def test(pair: Pair) -> None:
        await pair.send(tmp_path / "t", remote_cwd="/srv/app")
        said = [msgspec.json.decode(one.payload) for one in pair.wire.sent]
        assert {one.msg_type for one in pair.wire.sent} == {"session_transfer"}
        assert [(one["seq"], one["total"], one["cwd"]) for one in said] == [(seq, 3, "/srv/app") for seq in range(3)]
        assert len({one["digest"] for one in said}) == 1
        assert [len(one["data"]) for one in said] == [699_052, 699_052, 12]

    run(tmp_path, test, features=PLAIN)


def test_where_it_was_agreed_chunks_are_compressed_if_that_makes_them_smaller(tmp_path: Path) -> None:
    """PL-TRANSFER-PACKED."""
    data = transcript(tmp_path / "t", CHUNK_BYTES) + os.urandom(CHUNK_BYTES)
    (tmp_path / "t").write_bytes(data)

    async def test(pair: Pair) -> None:
        sent = await pair.send(tmp_path / "t")
        said = [msgspec.json.decode(one.payload) for one in pair.wire.sent if one.msg_type == "session_transfer"]
        assert [one.get("packed") for one in said] == [True, None]
        assert len(said[0]["data"]) < 200_000
        assert sent.bytes_sent == 2 * CHUNK_BYTES
        assert pair.placed.read_bytes() == data

    run(tmp_path, test)


def test_a_cut_transfer_goes_on_by_itself_where_the_receiver_stands(tmp_path: Path) -> None:
    data = transcript(tmp_path / "t", 6 * CHUNK_BYTES)

    async def test(pair: Pair) -> None:
        pair.wire.cut_after = [4, 2]
        pair.wire.unreachable = {1}
        sent = await pair.send(tmp_path / "t")
        assert sent.state == "received"
        assert pair.placed.read_bytes() == data
        assert pair.wire.chunks() == [0, 1, 2, 3, 4, 5]
        assert "waiting" in [one.state for one in pair.progress]

    run(tmp_path, test)


def test_a_cut_transfer_to_a_peer_that_keeps_nothing_fails_and_ends_right_when_sent_again(tmp_path: Path) -> None:
    data = transcript(tmp_path / "t", 3 * CHUNK_BYTES)

    async def test(pair: Pair) -> None:
        pair.wire.cut_after = [2]
        with pytest.raises(Unavailable):
            await pair.send(tmp_path / "t")
        assert pair.wire.dials == 1
        assert (await pair.send(tmp_path / "t")).state == "received"
        assert pair.wire.chunks() == [0, 1, 0, 1, 2]
        assert pair.placed.read_bytes() == data

    run(tmp_path, test, features=PLAIN)


def test_a_transfer_that_is_cut_again_and_again_gives_up_and_says_what_to_do(tmp_path: Path) -> None:
    transcript(tmp_path / "t", 9 * CHUNK_BYTES)

    async def test(pair: Pair) -> None:
        pair.wire.cut_after = [2, 2, 2]
        with pytest.raises(Unavailable, match="same command again"):
            await pair.send(tmp_path / "t")
        assert pair.wire.chunks() == [0, 1, 2]
        assert (await pair.send(tmp_path / "t")).bytes_sent == 6 * CHUNK_BYTES

    run(tmp_path, test)


def test_a_session_that_is_there_already_costs_one_frame(tmp_path: Path) -> None:
    transcript(tmp_path / "t", 3 * CHUNK_BYTES)

    async def test(pair: Pair) -> None:
        await pair.send(tmp_path / "t")
        before = len(pair.wire.sent)
        sent = await pair.send(tmp_path / "t")
        assert (sent.state, sent.bytes_sent) == ("received", 0)
        assert [one.msg_type for one in pair.wire.sent[before:]] == ["session_offer"]

    run(tmp_path, test)


def test_a_refusal_reaches_the_person_with_its_reason_before_anything_is_sent(tmp_path: Path) -> None:
    transcript(tmp_path / "t", 3 * CHUNK_BYTES)

    async def test(pair: Pair) -> None:
        with pytest.raises(Refused, match="at most"):
            await pair.send(tmp_path / "t")
        assert pair.wire.chunks() == []
        assert await _states(pair) == ["refused"]

    run(tmp_path, test, bound=CHUNK_BYTES)


def test_a_refusal_in_the_middle_ends_the_transfer(tmp_path: Path) -> None:
    transcript(tmp_path / "t", 40 * CHUNK_BYTES)

    async def test(pair: Pair) -> None:
        taken = pair.wire.handlers["session_transfer"]

        async def then_in_the_way(inbound: object, arrived: object) -> None:
            if not pair.placed.exists():
                pair.placed.parent.mkdir(parents=True)
                pair.placed.write_bytes(b"mine")
                for part in (pair.root / "b").glob("*.part"):
                    part.unlink()
            await taken(inbound, arrived)  # type: ignore[arg-type]  # what the wire gives

        pair.wire.handlers["session_transfer"] = then_in_the_way
        with pytest.raises(Refused, match="never overwritten"):
            await pair.send(tmp_path / "t")
        assert len(pair.wire.chunks()) < 40
        assert pair.placed.read_bytes() == b"mine"

    run(tmp_path, test)


def test_without_an_answer_it_is_sent_and_unconfirmed_and_a_late_answer_settles_it(tmp_path: Path) -> None:
    """PL-TRANSFER-ANSWER."""
    transcript(tmp_path / "t", 9)

    async def test(pair: Pair) -> None:
        pair.wire.mute = True
        sent = await pair.send(tmp_path / "t")
        assert (sent.state, sent.resume) == ("sent", None)
        late = SessionReceived(session_id="s-1", path="/there\x1b[2J", resume="cd /there && claude")
        for peer, state in (("c-00000000", "sent"), ("b-00000000", "received")):
            await pair.sender.settle(Side(peer=peer), frame("session_received", late))
            entry = pair.ledger.sent("s-1")
            assert entry is not None
            assert entry.state == state
        assert entry.remote_path is not None
        assert entry.remote_path.isprintable()

    run(tmp_path, test, features=PLAIN, patience=0.1)


def test_a_transcript_that_grows_meanwhile_is_sent_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "t"
    data = transcript(path, 2 * CHUNK_BYTES + 9)

    async def test(pair: Pair) -> None:
        offered = pair.wire.handlers["session_offer"]

        async def then_grow(inbound: object, arrived: object) -> None:
            with path.open("ab") as file:
                file.write(b"one more line\n")
            await offered(inbound, arrived)  # type: ignore[arg-type]  # what the wire gives

        pair.wire.handlers["session_offer"] = then_grow
        assert (await pair.send(path)).state == "received"
        assert pair.placed.read_bytes() == data

    run(tmp_path, test)


def test_a_transcript_that_shrinks_meanwhile_is_said(tmp_path: Path) -> None:
    path = tmp_path / "t"
    transcript(path, 3 * CHUNK_BYTES)

    async def test(pair: Pair) -> None:
        offered = pair.wire.handlers["session_offer"]

        async def then_shrink(inbound: object, arrived: object) -> None:
            os.truncate(path, 10)
            await offered(inbound, arrived)  # type: ignore[arg-type]  # what the wire gives

        pair.wire.handlers["session_offer"] = then_shrink
        with pytest.raises(Unavailable, match="shorter"):
            await pair.send(path)
        assert pair.wire.dials == 1

    run(tmp_path, test)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"max_bytes": 99}, "larger --max-size"),
        ({"session_id": "../x"}, "no session id"),
        ({"cwd": "x"}, "absolute"),
        ({"remote_cwd": "/x/../y"}, "\\.\\."),
        ({"transcript": "/"}, "no plain file"),
    ],
)
def test_what_the_receiver_would_refuse_is_refused_here(tmp_path: Path, other: dict[str, object], why: str) -> None:
    transcript(tmp_path / "t", 100)

    async def test(pair: Pair) -> None:
        with pytest.raises(UsageError, match=why):
            await pair.send(tmp_path / "t", **other)
        assert pair.wire.dials == 0

    run(tmp_path, test)


def test_a_peer_is_named_by_what_it_alone_begins_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transcript(tmp_path / "t", 100)

    async def test(pair: Pair) -> None:
        assert (await pair.send(tmp_path / "t", peer="b")).peer == "b-00000000"
        monkeypatch.setattr(pair.wire, "peers", lambda: frozenset({"b-00000000", "b-1", "b"}))
        assert (await pair.send(tmp_path / "t", peer="b")).peer == "b"
        with pytest.raises(UsageError, match="begins 2 peers"):
            await pair.send(tmp_path / "t", peer="b-")

    run(tmp_path, test)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    async def test(pair: Pair) -> None:
        with pytest.raises(Unavailable, match="nowhere"):
            await pair.send(tmp_path / "nowhere")

    run(tmp_path, test)


def test_the_room_sends_receives_and_lists(tmp_path: Path) -> None:
    transcript(tmp_path / "t", 100)

    async def main() -> None:
        (tmp_path / "fleet").mkdir(mode=0o700)
        room = TransferRoom(tmp_path / "fleet", tmp_path / "home")
        wire = Wire()
        room.attach(wire)
        running = asyncio.create_task(room.run())
        operations = room.operations()
        asked = SendSession(
            peer="b-00000000", session_id="s-1", transcript=str(tmp_path / "t"), cwd="/home/x", max_bytes=1000
        )
        await operations["session.send"].run(asked, lambda _news: None)
        listed = await operations["session.ls"].run(ListSessions(), lambda _news: None)
        assert isinstance(listed, SessionList)
        assert sorted((one.direction, one.state, one.bytes) for one in listed.sessions) == [
            ("received", "received", 100),
            ("sent", "received", 100),
        ]
        running.cancel()
        await asyncio.wait([running])

    asyncio.run(asyncio.wait_for(main(), 20))


async def _states(pair: Pair) -> list[str]:
    return [pair.sender.state(entry) for entry in pair.ledger.all_sent()]


def test_a_transfer_is_in_the_ledger_from_its_beginning(tmp_path: Path) -> None:
    async def test(pair: Pair) -> None:
        path = pair.root / "t.jsonl"
        transcript(path, 3 * CHUNK_BYTES)
        seen: list[list[str]] = []

        def look(_news: msgspec.Struct) -> None:
            seen.append([pair.sender.state(entry) for entry in pair.ledger.all_sent()])

        pair.keep = look  # type: ignore[method-assign]  # it is told while the transfer is under way
        await pair.send(path)
        assert ["sending"] in seen
        assert await _states(pair) == ["received"]
        assert pair.ledger.all_sent()[0].digest

    run(tmp_path, test)


def test_a_transfer_that_nobody_is_about_any_more_was_cut(tmp_path: Path) -> None:
    async def test(pair: Pair) -> None:
        path = pair.root / "t.jsonl"
        transcript(path, 3 * CHUNK_BYTES)
        begun = asyncio.Event()
        pair.keep = lambda news: begun.set() if news.state == "connecting" else None  # type: ignore[method-assign]  # as above
        sending = asyncio.create_task(pair.send(path))
        await begun.wait()
        sending.cancel()
        await asyncio.wait([sending])
        assert pair.ledger.all_sent()[0].state == "sending"
        assert await _states(pair) == ["cut"]

    run(tmp_path, test)


def test_what_was_refused_is_listed_so_and_what_is_there_stays_there(tmp_path: Path) -> None:
    async def test(pair: Pair) -> None:
        path = pair.root / "t.jsonl"
        transcript(path, 1000)
        await pair.send(path)
        pair.placed.write_text("mine")
        with pytest.raises(Refused):
            await pair.send(path)
        assert await _states(pair) == ["received"]
        path.write_bytes(b"another")
        with pytest.raises(Refused):
            await pair.send(path)
        assert await _states(pair) == ["refused"]

    run(tmp_path, test)
