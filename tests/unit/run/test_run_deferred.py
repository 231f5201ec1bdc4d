"""A list of executions too large for its batch comes in parts (docs/wire/client.md, "Deferred checkpoints")."""

import asyncio
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopline.client.checkpoints import CheckpointAssembler, Fault
from hopline.client.items import Executions
from hopline.journal.port import NOTHING, Slice
from hopline.run import batching
from hopline.run.answers import Answers
from hopline.run.connection import serve
from hopline.run.cursor import Frames, StreamCursor
from hopline.run.fold import RunFold
from hopline.run.scratch import ScratchStore
from hopline.run.subscriptions import Subscriptions
from hopline.serve.memory import MemoryListener
from hopline.wire.client import checkpoint
from hopline.wire.client.checkpoint import (
    MAX_STREAM_FRAME_BYTES,
    NO_EXECUTIONS,
    PART_CODE_POINTS,
    CheckpointTooLarge,
    ExecutionList,
)
from hopline.wire.client.events import EventEncoder
from hopline.wire.client.streams import ActiveExecutionsChunk, EventBatch, decode_server_line
from hopline.wire.client.turns import InvocationStarted

encoder = EventEncoder("r")


class Fold:
    """Tells the list that a test wants."""

    def __init__(self, text: bytes = b"[]") -> None:
        self.list = ExecutionList(text)

    def executions_at(self, sequence: int) -> ExecutionList:
        return self.list

    def has_executed(self, execution_id: str) -> bool:
        return True


def listing(size: int, fill: str = "x") -> bytes:
    entry = {
        "execution_id": "e",
        "agent_kind": "a",
        "round_label": "r",
        "stage": "s",
        "attempt": None,
        "assignment": "",
        "started_at": "t",
        "activity": {"kind": "agent_execution_activity_changed", "mode": "thinking", "summary": "s", "tool": None},
        "provider": None,
        "model": None,
    }
    empty = len(json.dumps([entry], separators=(",", ":")))
    entry["assignment"] = fill * ((size - empty) // len(fill.encode()))
    return json.dumps([entry], separators=(",", ":"), ensure_ascii=False).encode()


def store_with(*sizes: int) -> ScratchStore:
    store = ScratchStore("r", "s" * 32)
    for size in sizes:
        store.append(encoder.line(store.next_sequence, "t", "output", text="y" * size), kind="output")
    return store


def frames_of(cursor: StreamCursor, shared: Frames | None = None) -> list[bytes]:
    found = []
    while (frame := cursor.next_frame(shared)) is not None:
        assert len(frame) <= MAX_STREAM_FRAME_BYTES
        found.append(frame)
    assert not cursor.behind
    return found


def read(frames: list[bytes]) -> tuple[list[int], list[Executions]]:
    """What a client of ours makes of it; it must find no fault."""
    assembler = CheckpointAssembler()
    sequences: list[int] = []
    lists: list[Executions] = []
    for frame in frames:
        message: Any = decode_server_line(frame)
        if isinstance(message, EventBatch):
            sequences += [event.sequence for event in message.events]
            outcome = assembler.batch(message)
        else:
            assert isinstance(message, ActiveExecutionsChunk)
            outcome = assembler.chunk(message)
        assert not isinstance(outcome, Fault), outcome
        if outcome is not None:
            lists.append(outcome)
    return sequences, lists


def is_deferred(frame: bytes) -> bool:
    message = decode_server_line(frame)
    return isinstance(message, EventBatch) and message.active_executions is None


def test_a_list_that_fits_is_in_every_frame_of_its_batch() -> None:
    store = store_with(*[100_000] * 15)
    frames = frames_of(StreamCursor(store, 15, after=0, fold=Fold(listing(200_000))))
    assert len(frames) == 2
    assert all(not is_deferred(frame) for frame in frames)
    assert all(frame.count(b'"execution_id":"e"') == 1 for frame in frames)
    sequences, lists = read(frames)
    assert sequences == list(range(1, 16))
    assert len(lists) == 2


def test_a_list_that_cannot_share_a_frame_with_one_event_is_deferred() -> None:
    text = listing(100_000)
    store = store_with(10, 990_000, 10)
    frames = frames_of(StreamCursor(store, 3, after=0, fold=Fold(text)))
    assert [is_deferred(frame) for frame in frames] == [True, False, False]
    message = decode_server_line(frames[-1])
    assert isinstance(message, ActiveExecutionsChunk)
    assert (message.parts, message.through_sequence, message.store_id) == (2, 3, "s" * 32)
    assert message.checkpoint_id == hashlib.sha256(text).hexdigest()
    assert b"".join(bytes(one) for one in read(frames)[1][0].executions) == text[1:-1]


def test_the_edge_is_exact() -> None:
    text = listing(100_000)
    room = batching.BatchEnvelope("s" * 32, 0, ExecutionList(text)).max_events_bytes
    overhead = len(encoder.line(1, "t", "output")) + 1
    for size, deferred in ((room - overhead, False), (room - overhead + 1, True)):
        frames = frames_of(StreamCursor(store_with(size), 1, after=0, fold=Fold(text)))
        assert is_deferred(frames[0]) is deferred


def test_a_list_larger_than_a_frame_follows_one_empty_deferred_frame() -> None:
    frames = frames_of(StreamCursor(store_with(), 0, after=0, fold=Fold(listing(1_100_000))))
    first = decode_server_line(frames[0])
    assert isinstance(first, EventBatch) and first.events == [] and is_deferred(frames[0])
    assert len(frames) == 1 + -(-1_100_000 // PART_CODE_POINTS)
    assert read(frames)[0] == []


def test_a_spine_line_that_cannot_share_a_frame_defers_too() -> None:
    store = ScratchStore("r")
    store.append(encoder.line(1, "t", "run_finished", text="z" * 990_000), kind="run_finished")
    store.append(encoder.line(2, "t", "output"), kind="output")
    frames = frames_of(StreamCursor(store, 2, after=0, tail=1, fold=Fold(listing(100_000))))
    assert is_deferred(frames[0])
    assert read(frames)[0] == [1, 2]


def test_a_long_batch_is_not_looked_through_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "SCAN_BYTES", 1000)
    frames = frames_of(StreamCursor(store_with(600, 600), 2, after=0, fold=Fold(listing(100_000))))
    assert is_deferred(frames[0])
    assert read(frames)[0] == [1, 2]


def test_the_next_batch_carries_its_list_again_when_it_fits() -> None:
    store, fold = store_with(990_000), Fold(listing(100_000))
    cursor = StreamCursor(store, 1, after=0, fold=fold)
    assert is_deferred(frames_of(cursor)[0])
    store.append(encoder.line(2, "t", "output"), kind="output")
    (frame,) = frames_of(cursor)
    assert not is_deferred(frame)
    fold.list = NO_EXECUTIONS
    store.append(encoder.line(3, "t", "output"), kind="output")
    (frame,) = frames_of(cursor)
    assert b'"active_executions":[]' in frame


def test_nothing_comes_between_the_last_frame_and_the_parts() -> None:
    store = store_with(990_000)
    cursor = StreamCursor(store, 1, after=0, fold=Fold(listing(200_000)))
    frames = [cursor.next_frame()]
    store.append(encoder.line(2, "t", "output"), kind="output")
    assert cursor.inside_batch
    frames += frames_of(cursor)
    kinds = [json.loads(frame or b"")["type"] for frame in frames]
    assert kinds == ["event_batch", *["active_executions_chunk"] * 4, "event_batch"]


@pytest.mark.parametrize("too", ["long", "many"])
def test_a_list_that_cannot_be_sent_moves_no_cursor(too: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "MAX_CHECKPOINT_BYTES" if too == "long" else "MAX_PARTS", 15)
    with pytest.raises(CheckpointTooLarge):
        StreamCursor(store_with(10), 1, after=0, fold=Fold(listing(1_100_000)))
    store, fold = store_with(10), Fold()
    cursor = StreamCursor(store, 1, after=0, fold=fold)
    frames_of(cursor)
    store.append(encoder.line(2, "t", "output"), kind="output")
    fold.list = ExecutionList(listing(1_100_000))
    with pytest.raises(CheckpointTooLarge):
        cursor.next_frame()
    assert cursor.sent == 1


def test_subscribers_at_one_cursor_share_frames_and_all_get_the_parts() -> None:
    store, fold = store_with(), Fold(listing(2_000_000))
    cursors = [StreamCursor(store, 0, after=0, fold=fold) for _ in range(2)]
    for cursor in cursors:
        frames_of(cursor)
    store.append(encoder.line(1, "t", "output"), kind="output")
    shared: Frames = {}
    first, second = (frames_of(cursor, shared) for cursor in cursors)
    assert first == second
    assert first[0] is second[0]
    assert read(first)[0] == [1]


@settings(max_examples=25, deadline=None)
@given(
    st.integers(300, 1_300_000),
    st.sampled_from(["x", "é", "\N{GRINNING FACE}"]),
    st.lists(st.integers(0, 990_000), max_size=4),
)
def test_however_large_the_list_and_the_events_are_the_client_gets_both(size: int, fill: str, sizes: list[int]) -> None:
    text = listing(size, fill)
    store = store_with(*sizes)
    frames = frames_of(StreamCursor(store, len(sizes), after=0, fold=Fold(text)))
    sequences, lists = read(frames)
    assert sequences == list(range(1, len(sizes) + 1))
    assert [b"".join(bytes(raw) for raw in one.executions) for one in lists] == [text[1:-1]] * len(lists)
    assert lists[-1].through_sequence == len(sizes)
    room = batching.BatchEnvelope("s" * 32, 0, ExecutionList(text)).max_events_bytes
    stored = [len(line) + 1 for line, _ in store.entries()]
    assert is_deferred(frames[0]) is (room < 1 or any(one > room for one in stored))


def legacy(store: ScratchStore, prompt: str) -> None:
    data = InvocationStarted(system_prompt="", user_prompt=prompt)
    line = encoder.line(store.next_sequence, "t", "invocation_started", data=data, invocation_id="i")
    store.append(line, kind="invocation_started")


def test_legacy_events_are_translated_where_nothing_else_tells_of_them_and_left_out_where_it_does() -> None:
    store = ScratchStore("r")
    legacy(store, "u")
    (frame,) = frames_of(StreamCursor(store, 1, after=0))
    assert [event["type"] for event in json.loads(frame)["events"]] == ["agent_execution_started"]
    cursor = StreamCursor(store, 1, after=0, fold=Fold())
    (frame,) = frames_of(cursor)
    assert json.loads(frame)["events"] == [] and json.loads(frame)["through_sequence"] == 1
    assert cursor.sent == 1


def test_translated_events_are_longer_and_still_fit_their_frame() -> None:
    store = ScratchStore("r")
    room = batching.BatchEnvelope(store.store_id, 0).max_events_bytes
    legacy(store, "")
    overhead, store = store.size_bytes, ScratchStore("r")
    for _ in range(6):
        legacy(store, "u" * (room // 6 - overhead))
    assert store.size_bytes <= room
    frames = frames_of(StreamCursor(store, 6, after=0))
    assert len(frames) == 2
    assert read(frames)[0] == [1, 2, 3, 4, 5, 6]


def test_a_batch_with_damage_in_it_is_looked_through_to_the_damage() -> None:
    class Damaged(ScratchStore):
        def read(self, after: int, *, before: int | None = None, max_bytes: int = 1 << 20) -> Slice:
            return NOTHING if after >= 1 else super().read(after, before=2, max_bytes=max_bytes)

    store = Damaged("r")
    for number in (1, 2):
        store.append(encoder.line(number, "t", "output"), kind="output")
    cursor = StreamCursor(store, 2, after=0, fold=Fold(listing(100_000)))
    frames = [frame for _ in range(2) if (frame := cursor.next_frame()) is not None]
    assert not is_deferred(frames[0]) and cursor.sent == 2


@pytest.mark.parametrize("live", [False, True])
def test_a_list_that_cannot_be_sent_fails_the_stream_before_any_of_its_events(
    live: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "MAX_CHECKPOINT_BYTES", 15)

    async def main() -> list[dict[str, Any]]:
        store, fold = store_with(10), Fold(b"[]" if live else listing(1_100_000))
        subscriptions = Subscriptions(store, "r", fold)
        answers = Answers(store, RunFold("r"), None, None)
        async with asyncio.TaskGroup() as tasks:
            listener = MemoryListener(lambda channel: serve(channel, answers, subscriptions), tasks)
            client = listener.connect()
            await client.send(b'{"type":"subscribe","request_id":"q"}')
            found = [await client.receive() for _ in range(2)]
            if live:
                fold.list = ExecutionList(listing(1_100_000))
                store.append(encoder.line(2, "t", "output"), kind="output")
                subscriptions.wake()
                found.append(await client.receive())
            assert await client.receive() is None
        return [json.loads(message or b"") for message in found]

    first, *between, last = asyncio.run(main())
    assert first["type"] == "subscribed"
    assert [batch["through_sequence"] for batch in between] == ([1] if live else [])
    assert (last["type"], last["code"], last["request_id"]) == ("protocol_error", "stream_failed", "q")
    assert "active executions" in last["diagnostic"]["detail"] and last["diagnostic"]["hint"] is None
