"""Whatever chunks come in whatever order from whomever: only a whole transcript is placed, once, and only then told."""

import asyncio
import hashlib
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from transfer_wire import Side, Wire, frame, pieces

from hopline.fleet.transfer.intake import Intake
from hopline.fleet.transfer.ledger import Ledger
from hopline.fleet.transfer.receiver import Receiver
from hopline.wire.peer.limits import CHUNK_BYTES

WHOLES = [b"a" * (2 * CHUNK_BYTES + 7), b"b" * (CHUNK_BYTES + 1)]
PLACED = ".claude/projects/-w/s-1.jsonl"

steps = st.lists(
    st.tuples(
        st.sampled_from((0, 1)),  # whose chunk
        st.sampled_from((0, 1)),  # of which transcript
        st.sampled_from(("chunk", "chunk", "chunk", "offer", "restart", "damage")),
        st.integers(0, 2),
    ),
    max_size=25,
)


async def play(folder: Path, moves: list[tuple[int, int, str, int]]) -> None:
    sides = [Side(peer="a-1"), Side(peer="a-2")]
    parts = folder / "transfers"
    parts.mkdir(mode=0o700)
    placed = folder / PLACED
    seen: bytes | None = None

    def begin() -> Receiver:
        made = Receiver(Intake(parts, Ledger(parts), folder))
        made.attach(Wire())
        return made

    receiver = begin()
    for whose, which, kind, seq in moves:
        whole = WHOLES[which]
        cut = pieces(whole)
        claim = {"session_id": "s-1", "cwd": "/w", "total": len(cut), "digest": hashlib.sha256(whole).hexdigest()}
        if kind == "chunk" and seq < len(cut):
            chunk = frame("session_transfer", {**claim, "seq": seq, "data": cut[seq]})
            await receiver.take_chunk(sides[whose], chunk)
        elif kind == "offer":
            await receiver.take_offer(sides[whose], frame("session_offer", claim))
        elif kind == "restart":
            receiver.close()
            receiver = begin()
        elif kind == "damage":
            for part in parts.glob("*.part"):
                part.write_bytes(b"?" * part.stat().st_size)
        now = placed.read_bytes() if placed.exists() else None
        assert now in (None, *WHOLES)
        assert seen is None or now == seen
        seen = now
        told = [one for one, _ in sides[whose].said() if one == "session_received"]
        assert not told or now == whole
    receiver.close()


@settings(max_examples=30, deadline=None)
@given(steps)
def test_only_a_whole_transcript_is_ever_placed_and_it_never_changes(moves: list[tuple[int, int, str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(asyncio.wait_for(play(Path(folder), moves), 30))
