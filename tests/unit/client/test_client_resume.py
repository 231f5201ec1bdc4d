"""Where a reader stands across connections: requests, continuation, starting over, and the waits between attempts."""

import pytest
from client_batches import OTHER_STORE, RUN, STORE, batch, event

from hopline.client.checkpoints import Fault
from hopline.client.items import Connected, Disconnected, Position, Reason, Rebootstrapped, Reconnected
from hopline.client.resume import BACKOFF_SECONDS, GaveUp, Resume, StartOver
from hopline.wire.client.events import RunEvent
from hopline.wire.client.streams import EventBatch


def connected(
    after: Position | None = None, tail: int | None = None, through: int = 10, floor: int = 0, store: str = STORE
) -> Resume:
    """A reader that has been given events up to `through`."""
    resume = Resume(after, tail)
    resume.request()
    resume.acknowledged(RUN, through)
    first = floor + 1 if after is None else after.sequence + 1
    items = resume.receive(batch(range(first, through + 1), history_after_sequence=floor, store_id=store))
    assert isinstance(items, list)
    assert isinstance(items[0], Connected)
    return resume


def again(resume: Resume, frame: EventBatch, latest: int = 0, run_id: str = RUN) -> object:
    """What the first frame of the next connection means."""
    resume.lost("cut.", 0.0)
    resume.request()
    resume.acknowledged(run_id, latest or frame.through_sequence)
    return resume.receive(frame)


def sequences(items: object) -> list[int]:
    assert isinstance(items, list)
    return [item.sequence for item in items if isinstance(item, RunEvent)]


def test_the_first_request_asks_from_the_start_with_the_tail() -> None:
    request = Resume(tail=1000).request()
    assert (request.after_sequence, request.tail, request.store_id) == (0, 1000, "")


def test_a_resumed_request_names_cursor_and_store_and_no_tail() -> None:
    request = connected(tail=5).request()
    assert (request.after_sequence, request.tail, request.store_id) == (10, None, STORE)


def test_a_refused_tail_is_left_out_once_and_for_good() -> None:
    resume = Resume(tail=5)
    assert resume.request().tail == 5
    assert resume.rejected()
    assert resume.request().tail is None
    assert not resume.rejected()


def test_a_refused_store_id_leaves_the_cursor_alone() -> None:
    resume = connected()
    assert resume.request().store_id == STORE
    assert resume.rejected()
    request = resume.request()
    assert (request.after_sequence, request.store_id) == (10, "")
    assert not resume.rejected()


def test_the_connection_says_what_it_found() -> None:
    resume = Resume(tail=4)
    resume.request()
    resume.acknowledged(RUN, 9)
    items = resume.receive(batch([2, 6, 7, 8, 9], history_after_sequence=5))
    assert isinstance(items, list)
    assert items[0] == Connected(RUN, 9, 5, STORE)
    assert sequences(items) == [2, 6, 7, 8, 9]
    assert resume.position == Position(9, STORE)
    assert resume.caught_up


def test_frames_of_one_connection_go_on_from_one_another() -> None:
    resume = connected()
    assert sequences(resume.receive(batch([11, 12]))) == [11, 12]
    assert resume.position == Position(12, STORE)


def test_holes_in_the_sequence_are_no_loss_and_the_cursor_may_run_ahead() -> None:
    resume = connected()
    assert sequences(resume.receive(batch([11, 15], through_sequence=20))) == [11, 15]
    assert resume.position.sequence == 20


def test_what_was_given_already_is_not_given_again() -> None:
    resume = connected()
    assert sequences(resume.receive(batch([9, 10, 11]))) == [11]


def test_a_reconnect_to_the_same_store_missed_nothing() -> None:
    resume = connected()
    items = again(resume, batch([11, 12]))
    assert isinstance(items, list)
    assert items[0] == Reconnected(Position(10, STORE), 12, missed_nothing=True)
    assert sequences(items) == [11, 12]


def test_a_reconnect_after_a_tail_boot_continues_although_the_floor_is_no_longer_told() -> None:
    resume = connected(tail=4, floor=6)
    items = again(resume, batch([11], history_after_sequence=0))
    assert isinstance(items, list)
    assert items[0] == Reconnected(Position(10, STORE), 11, missed_nothing=True)


def test_another_store_on_a_reconnect_starts_over_without_a_marker() -> None:
    resume = connected()
    items = again(resume, batch([1, 2, 3], store_id=OTHER_STORE))
    assert isinstance(items, list)
    assert items[0] == Reconnected(Position(10, STORE), 3, missed_nothing=False)
    assert items[1] == Rebootstrapped(Reason.STORE_CHANGED, RUN, OTHER_STORE, 0, Position(10, STORE))
    assert sequences(items) == [1, 2, 3]
    assert resume.position == Position(3, OTHER_STORE)


def test_another_store_from_a_server_that_was_not_told_ours_is_asked_for_from_its_start() -> None:
    resume = connected()
    resume.lost("cut.", 0.0)
    resume.request()
    assert resume.rejected()
    resume.request()
    resume.acknowledged(RUN, 30)
    assert resume.receive(batch(range(11, 31), store_id=OTHER_STORE)) == StartOver()
    request = resume.request()
    assert (request.after_sequence, request.store_id) == (0, "")
    resume.acknowledged(RUN, 30)
    items = resume.receive(batch(range(1, 31), store_id=OTHER_STORE))
    assert isinstance(items, list)
    assert isinstance(items[1], Rebootstrapped)
    assert sequences(items) == list(range(1, 31))


def test_a_store_that_lost_its_newest_events_is_read_again_from_its_start() -> None:
    resume = connected()
    assert again(resume, batch([], through_sequence=7), latest=7) == StartOver()
    assert resume.request().after_sequence == 0
    resume.acknowledged(RUN, 7)
    items = resume.receive(batch(range(1, 8)))
    assert isinstance(items, list)
    assert isinstance(items[1], Rebootstrapped)
    assert items[1].reason is Reason.EVENTS_LOST
    assert resume.position == Position(7, STORE)


def test_a_higher_floor_on_a_reconnect_starts_over() -> None:
    resume = connected()
    items = again(resume, batch([3, 21, 22], history_after_sequence=20))
    assert isinstance(items, list)
    assert isinstance(items[1], Rebootstrapped)
    assert (items[1].reason, items[1].floor) == (Reason.EVENTS_DROPPED, 20)
    assert sequences(items) == [3, 21, 22]


def test_a_first_connection_that_cannot_continue_a_saved_position_says_so() -> None:
    resume = Resume(Position(10, STORE))
    resume.request()
    resume.acknowledged(RUN, 2)
    items = resume.receive(batch([1, 2], store_id=OTHER_STORE))
    assert isinstance(items, list)
    assert isinstance(items[0], Connected)
    assert isinstance(items[1], Rebootstrapped)
    assert sequences(items) == [1, 2]


@pytest.mark.parametrize(
    ("tail", "store", "reason"),
    [(5, STORE, Reason.FELL_BEHIND), (None, STORE, Reason.EVENTS_DROPPED), (5, OTHER_STORE, Reason.STORE_CHANGED)],
)
def test_a_marked_frame_supersedes_what_was_given(tail: int | None, store: str, reason: Reason) -> None:
    resume = connected(tail=tail)
    items = resume.receive(batch([2, 96, 97], history_after_sequence=95, rebootstrap=True, store_id=store))
    assert isinstance(items, list)
    assert items[0] == Rebootstrapped(reason, RUN, store, 95, Position(10, STORE))
    assert sequences(items) == [2, 96, 97]
    assert sequences(resume.receive(batch([98], history_after_sequence=95, store_id=store))) == [98]


def test_another_store_without_a_marker_is_a_fault() -> None:
    assert isinstance(connected().receive(batch([11], store_id=OTHER_STORE)), Fault)


def test_a_cursor_that_goes_back_is_a_fault() -> None:
    assert isinstance(connected().receive(batch([], through_sequence=9)), Fault)


def test_an_unknown_store_is_taken_for_the_same_one() -> None:
    resume = connected(store="")
    items = again(resume, batch([11], store_id=""))
    assert isinstance(items, list)
    assert items[0] == Reconnected(Position(10, ""), 11, missed_nothing=True)


def test_an_event_of_another_run_is_left_out_and_its_frame_s_cursor_with_it() -> None:
    resume = connected()
    foreign = EventBatch(
        events=[event(11), event(12, run_id="f" * 12)],
        through_sequence=40,
        store_id=STORE,
        history_after_sequence=39,
    )
    assert sequences(resume.receive(foreign)) == [11]
    assert resume.position == Position(11, STORE)
    assert not resume.applied
    assert resume.floor == 0


def test_another_run_in_the_same_store_is_a_fault() -> None:
    assert isinstance(again(connected(), batch([11]), run_id="f" * 12), Fault)


def test_starting_over_may_adopt_another_run() -> None:
    resume = connected()
    frame = EventBatch(events=[event(1, run_id="f" * 12)], through_sequence=1, store_id=OTHER_STORE)
    items = again(resume, frame, run_id="f" * 12)
    assert isinstance(items, list)
    assert isinstance(items[1], Rebootstrapped)
    assert items[1].run_id == resume.run_id == "f" * 12


def test_a_single_event_of_the_legacy_form_moves_the_cursor() -> None:
    resume = connected()
    assert sequences(resume.receive_event(event(11))) == [11]
    assert resume.position == Position(11, STORE)


def test_the_waits_grow_and_then_the_reader_is_told() -> None:
    resume = connected()
    now = 100.0
    waits = []
    for attempt in range(1, len(BACKOFF_SECONDS) + 1):
        lost = resume.lost("cut.", now)
        assert isinstance(lost, Disconnected)
        assert lost.attempt == attempt
        assert lost.position == Position(10, STORE)
        assert resume.next_deadline() == now + lost.retry_seconds
        waits.append(lost.retry_seconds)
        now += lost.retry_seconds
        resume.request()
        assert resume.next_deadline() is None
    assert tuple(waits) == (0.5, 1.0, 2.0, 4.0, 8.0)
    gave_up = resume.lost("refused.", now)
    assert isinstance(gave_up, GaveUp)
    assert "5 attempts in 15.5 s" in gave_up.sentence
    assert "refused." in gave_up.sentence
    assert "10" in gave_up.sentence


def test_a_frame_is_a_success_and_the_waits_begin_anew() -> None:
    resume = connected()
    resume.lost("cut.", 0.0)
    resume.lost("cut.", 1.0)
    again(resume, batch([11]))
    lost = resume.lost("cut.", 50.0)
    assert isinstance(lost, Disconnected)
    assert (lost.retry_seconds, lost.attempt) == (0.5, 1)


def test_an_acknowledgement_alone_is_no_success() -> None:
    resume = connected()
    resume.lost("cut.", 0.0)
    resume.request()
    resume.acknowledged(RUN, 10)
    lost = resume.lost("cut.", 1.0)
    assert isinstance(lost, Disconnected)
    assert lost.attempt == 2


def test_the_run_is_over_with_its_end_and_not_when_it_was_started_again() -> None:
    resume = connected()
    resume.receive(EventBatch(events=[event(11, "run_failed")], through_sequence=11, store_id=STORE))
    assert resume.over
    resume.receive(EventBatch(events=[event(12, "run_started")], through_sequence=12, store_id=STORE))
    assert not resume.over


def test_nothing_is_caught_up_before_the_first_frame() -> None:
    resume = Resume()
    resume.request()
    resume.acknowledged(RUN, 0)
    assert not resume.caught_up
    resume.receive(batch([]))
    assert resume.caught_up
