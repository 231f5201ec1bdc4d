"""What one subscription is sent: bootstrap, tail and spine, coalescing, rebootstrap, frame split.

Source: docs/wire/client.md, "Bootstrap", "Live" and "Frames". A real journal in a temporary folder.
"""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hopline.journal.journal import Journal
from hopline.journal.port import JournalOptions
from hopline.run.cursor import Frames, StreamCursor
from hopline.wire.client.events import EventEncoder
from hopline.wire.client.payloads import RunStatusChanged
from hopline.wire.client.streams import MAX_STREAM_FRAME_BYTES

encoder = EventEncoder("r")


class Store:
    """A journal and the quickest way to fill it."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.journal = Journal.create(folder, "r", JournalOptions(reserve_bytes=0, **options))

    def outputs(self, count: int, text: str = "x") -> None:
        for _ in range(count):
            self.journal.append(encoder.line(self.journal.next_sequence, "t", "output", text=text), kind="output")
        self.commit()

    def status(self, status: str) -> None:
        data = RunStatusChanged(status=status, previous="starting")
        line = encoder.line(self.journal.next_sequence, "t", "run_status_changed", data=data)
        self.journal.append(line, kind="run_status_changed")
        self.commit()

    def commit(self) -> None:
        deadline = time.monotonic() + 10
        while self.journal.committed_sequence < self.journal.last_sequence:
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def cursor(self, after: int = 0, store_id: str = "", tail: int | None = None) -> StreamCursor:
        return StreamCursor(self.journal, self.journal.committed_sequence, after=after, store_id=store_id, tail=tail)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Store]]:
    made: list[Store] = []

    def factory(**options: Any) -> Store:
        made.append(Store(tmp_path / f"journal-{len(made)}", **options))
        return made[-1]

    yield factory
    for store in made:
        store.journal.close()


def frames(cursor: StreamCursor, shared: Frames | None = None) -> list[dict[str, Any]]:
    """Every frame due, decoded; each within the cap."""
    found = []
    while (frame := cursor.next_frame(shared)) is not None:
        assert len(frame) <= MAX_STREAM_FRAME_BYTES
        found.append(json.loads(frame))
    return found


def sequences(batch: dict[str, Any]) -> list[int]:
    return [event["sequence"] for event in batch["events"]]


def test_the_first_batch_is_sent_even_when_there_is_nothing(make: Callable[..., Store]) -> None:
    store = make()
    [batch] = frames(store.cursor())
    assert batch == {
        "type": "event_batch",
        "events": [],
        "through_sequence": 0,
        "active_executions": [],
        "active_executions_checkpoint_id": None,
        "store_id": store.journal.store_id,
        "history_after_sequence": 0,
        "rebootstrap": False,
    }


def test_a_full_replay_gives_everything_with_floor_zero(make: Callable[..., Store]) -> None:
    store = make()
    store.outputs(100)
    [batch] = frames(store.cursor())
    assert (sequences(batch), batch["through_sequence"]) == (list(range(1, 101)), 100)
    assert (batch["history_after_sequence"], batch["rebootstrap"]) == (0, False)


@pytest.mark.parametrize("after", [0, 1, 40, 99, 100])
def test_a_resume_gives_what_is_past_the_cursor(make: Callable[..., Store], after: int) -> None:
    store = make()
    store.outputs(100)
    [batch] = frames(store.cursor(after, store.journal.store_id))
    assert sequences(batch) == list(range(after + 1, 101))
    assert batch["history_after_sequence"] == 0


def test_another_store_is_replayed_from_its_start_and_not_marked(make: Callable[..., Store]) -> None:
    store = make()
    store.outputs(10)
    [batch] = frames(store.cursor(7, "another"))
    assert (sequences(batch), batch["rebootstrap"]) == (list(range(1, 11)), False)


def test_a_cursor_beyond_the_end_waits_for_what_comes(make: Callable[..., Store]) -> None:
    store = make()
    store.outputs(5)
    cursor = store.cursor(50)
    [batch] = frames(cursor)
    assert (sequences(batch), batch["through_sequence"]) == ([], 5)
    store.outputs(1)
    assert [sequences(one) for one in frames(cursor)] == [[6]]


def test_a_tail_has_the_spine_before_it_and_names_its_floor(make: Callable[..., Store]) -> None:
    store = make()
    store.outputs(3)
    store.status("running")
    store.outputs(10)
    [batch] = frames(store.cursor(tail=5))
    assert (sequences(batch), batch["history_after_sequence"]) == ([4, 10, 11, 12, 13, 14], 9)
    assert batch["through_sequence"] == 14


def test_a_tail_longer_than_the_run_has_no_spine(make: Callable[..., Store]) -> None:
    store = make()
    store.status("running")
    store.outputs(3)
    [batch] = frames(store.cursor(tail=50))
    assert (sequences(batch), batch["history_after_sequence"]) == ([1, 2, 3, 4], 0)


def test_a_tail_never_reaches_before_the_cursor(make: Callable[..., Store]) -> None:
    store = make()
    store.status("running")
    store.outputs(10)
    [batch] = frames(store.cursor(after=8, tail=9))
    assert (sequences(batch), batch["history_after_sequence"]) == ([1, 9, 10, 11], 8)


def test_what_piles_up_between_two_frames_is_one_batch(make: Callable[..., Store]) -> None:
    store = make()
    cursor = store.cursor()
    received = frames(cursor)
    for _ in range(10):
        store.outputs(10)
    received += frames(cursor)
    assert len(received) == 2
    assert sequences(received[1]) == list(range(1, 101))


def test_more_than_the_tail_at_once_restarts_the_replay_with_the_marker(make: Callable[..., Store]) -> None:
    store = make()
    store.status("running")
    store.outputs(20)
    cursor = store.cursor(tail=10)
    [first] = frames(cursor)
    assert first["rebootstrap"] is False
    store.outputs(10)
    [second] = frames(cursor)
    assert (second["rebootstrap"], sequences(second)) == (False, list(range(22, 32)))
    store.outputs(11)
    [third] = frames(cursor)
    assert third["rebootstrap"] is True
    assert (sequences(third), third["history_after_sequence"]) == ([1, *range(33, 43)], 32)
    store.outputs(1)
    [fourth] = frames(cursor)
    assert (fourth["rebootstrap"], sequences(fourth), fourth["history_after_sequence"]) == (False, [43], 32)


def test_a_large_batch_is_split_and_each_frame_says_how_far_it_goes(make: Callable[..., Store]) -> None:
    store = make()
    store.outputs(40, "y" * 100_000)
    received = frames(store.cursor())
    assert len(received) > 3
    assert [number for batch in received for number in sequences(batch)] == list(range(1, 41))
    assert [batch["through_sequence"] for batch in received] == [sequences(batch)[-1] for batch in received]
    assert not any(batch["rebootstrap"] for batch in received)


def test_a_frame_is_filled_as_far_as_whole_events_go(make: Callable[..., Store]) -> None:
    store = make()
    store.outputs(40, "y" * 100_000)
    cursor = store.cursor()
    sizes = [len(frame) for frame in iter(cursor.next_frame, None)]
    event = len(encoder.line(10, "t", "output", text="y" * 100_000))
    assert all(size + event > MAX_STREAM_FRAME_BYTES for size in sizes[:-1])


def test_only_the_first_frame_of_a_split_rebootstrap_is_marked(make: Callable[..., Store]) -> None:
    store = make()
    cursor = store.cursor(tail=30)
    frames(cursor)
    store.outputs(40, "y" * 100_000)
    received = frames(cursor)
    assert [batch["rebootstrap"] for batch in received] == [True, *[False] * (len(received) - 1)]
    assert {batch["history_after_sequence"] for batch in received} == {10}
    assert [number for batch in received for number in sequences(batch)] == list(range(11, 41))


def test_a_spine_larger_than_a_frame_is_split_too(make: Callable[..., Store]) -> None:
    store = make()
    for _ in range(30):
        line = encoder.line(store.journal.next_sequence, "t", "run_failed", text="z" * 90_000)
        store.journal.append(line, kind="run_failed")
    store.outputs(3)
    received = frames(store.cursor(tail=2))
    assert [number for batch in received for number in sequences(batch)] == [*range(1, 31), 32, 33]
    assert received[-1]["through_sequence"] == 33
    assert len(received) >= 3


def test_the_largest_event_goes_alone_in_a_frame(make: Callable[..., Store]) -> None:
    store = make()
    store.status("running")
    store.outputs(2, "w" * 2_000_000)
    received = frames(store.cursor())
    assert [sequences(batch) for batch in received] == [[1, 2], [3]]
    assert received[-1]["events"][0]["truncated"] is True


def test_subscribers_at_one_place_share_one_frame(make: Callable[..., Store]) -> None:
    store = make()
    one, other = store.cursor(), store.cursor()
    frames(one)
    frames(other)
    store.outputs(5)
    shared: Frames = {}
    first = one.next_frame(shared)
    assert other.next_frame(shared) is first
    assert one.sent == other.sent == 5
    assert other.next_frame(shared) is None


def test_dropped_events_are_declared_by_the_floor(make: Callable[..., Store]) -> None:
    store = make(max_bytes=400_000, when_full="drop-oldest")
    store.status("running")
    store.outputs(3000, "d" * 300)
    kept = store.journal.first_sequence
    assert kept > 1
    received = frames(store.cursor())
    found = [number for batch in received for number in sequences(batch)]
    assert found == [1, *range(kept, 3002)]
    assert {batch["history_after_sequence"] for batch in received} == {kept - 1}
    assert not received[0]["rebootstrap"]


def test_a_subscriber_whose_next_events_were_dropped_is_rebootstrapped(make: Callable[..., Store]) -> None:
    store = make(max_bytes=400_000, when_full="drop-oldest")
    store.status("running")
    cursor = store.cursor()
    frames(cursor)
    store.outputs(3000, "d" * 300)
    kept = store.journal.first_sequence
    received = frames(cursor)
    assert received[0]["rebootstrap"] is True
    assert [number for batch in received for number in sequences(batch)] == [1, *range(kept, 3002)]


def test_a_batch_whose_rest_was_dropped_half_way_is_rebootstrapped(make: Callable[..., Store]) -> None:
    store = make(max_bytes=8_000_000, when_full="drop-oldest")
    store.status("running")
    store.outputs(4000, "d" * 600)
    cursor = store.cursor()
    first = cursor.next_frame()
    assert first is not None and cursor.inside_batch and cursor.behind
    store.outputs(12000, "d" * 600)
    kept = store.journal.first_sequence
    assert kept > cursor.sent + 1
    received = frames(cursor)
    assert received[0]["rebootstrap"] is True
    assert [number for batch in received for number in sequences(batch)] == [1, *range(kept, 16002)]
    assert not cursor.behind


def test_subscribers_share_every_frame_of_a_large_batch(make: Callable[..., Store]) -> None:
    store = make()
    one, other = store.cursor(), store.cursor()
    frames(one)
    frames(other)
    store.outputs(40, "y" * 100_000)
    shared: Frames = {}
    for _ in range(3):
        frame = one.next_frame(shared)
        assert frame is not None and other.next_frame(shared) is frame
    assert one.sent == other.sent > 0


def test_a_spine_that_fills_its_frame_goes_without_the_events_after_it(make: Callable[..., Store]) -> None:
    store = make()
    for _ in range(2):
        line = encoder.line(store.journal.next_sequence, "t", "run_failed", text="z" * 520_000)
        store.journal.append(line, kind="run_failed")
    store.outputs(1, "w" * 900_000)
    received = frames(store.cursor(tail=1))
    assert [sequences(batch) for batch in received] == [[1, 2], [3]]
    assert [batch["through_sequence"] for batch in received] == [2, 3]
