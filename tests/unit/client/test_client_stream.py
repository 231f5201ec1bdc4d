"""Following a run over connections that fail: what is sent, what is given, and how long it waits. The clock jumps."""

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from client_batches import OTHER_STORE, RUN, STORE, batch, execution, parts_of
from jumping_loop import run_jumping
from scripted_dialler import ScriptedDialler

from hopline.client.items import (
    Connected,
    Disconnected,
    Executions,
    Finished,
    Item,
    Position,
    Rebootstrapped,
    Reconnected,
)
from hopline.client.resume import Resume
from hopline.client.stream import EventStream, StreamFailed
from hopline.errors import ConnectDenied, ConnectFailed, HoplineError, Refused, RunGone, Unavailable
from hopline.wire.client.events import RunEvent
from hopline.wire.client.responses import diagnosed, encode_response, failed
from hopline.wire.client.streams import ProtocolError, SingleEvent, Subscribed


def ack(latest: int, run_id: str = RUN) -> Any:
    return lambda sent: msgspec.json.encode(
        Subscribed(request_id=sent["request_id"], client_id=sent["client_id"], run_id=run_id, latest_sequence=latest)
    )


def refusal(code: str) -> Any:
    def answer(sent: dict[str, Any]) -> bytes:
        diagnostic = diagnosed("1", code, "No.")
        return encode_response(failed(sent["request_id"], "", "2026-01-01T00:00:00Z", diagnostic))

    return answer


def frame(*arguments: Any, **fields: Any) -> bytes:
    return msgspec.json.encode(batch(*arguments, **fields))


def protocol_error(code: str, retryability: str) -> bytes:
    diagnostic = diagnosed("1", code, "It broke", hint="Mend it.", retryability=retryability)
    return msgspec.json.encode(ProtocolError(request_id=None, code=code, message="It broke", diagnostic=diagnostic))


def follow(
    dialler: ScriptedDialler, resume: Resume | None = None, *, follow: bool = True, most: int = 1000
) -> tuple[list[Item], BaseException | None, EventStream]:
    """Everything a reader is given, and what ended it."""
    given: list[Item] = []

    async def read() -> tuple[BaseException | None, EventStream]:
        async with EventStream(dialler, resume or Resume(), "me", follow=follow) as stream:
            try:
                async for item in stream:
                    given.append(item)
                    if len(given) >= most:
                        break
            except HoplineError as error:
                return error, stream
            return None, stream

    error, stream = run_jumping(read())
    return given, error, stream


def sequences(items: Iterable[Item]) -> list[int]:
    return [item.sequence for item in items if isinstance(item, RunEvent)]


def ending(sequence: int) -> bytes:
    return msgspec.json.encode(
        msgspec.structs.replace(
            batch([sequence]),
            events=[RunEvent(sequence=sequence, run_id=RUN, timestamp="2026-01-01T00:00:00Z", type="run_finished")],
        )
    )


def test_a_run_is_given_from_its_start_to_its_end() -> None:
    dialler = ScriptedDialler([ack(2), frame([1, 2]), frame([3]), ending(4)])
    items, error, _ = follow(dialler)
    assert error is None
    assert items[0] == Connected(RUN, 2, 0, STORE)
    assert sequences(items) == [1, 2, 3, 4]
    assert items[-1] == Finished(Position(4, STORE), complete=True)
    assert dialler.channels[0].closed
    assert dialler.channels[0].sent[0]["client_id"] == "me"


def test_a_lost_connection_is_resumed_exactly_and_said_twice() -> None:
    dialler = ScriptedDialler([ack(2), frame([1, 2])], [ack(3), frame([3]), ending(4)])
    items, _, _ = follow(dialler)
    assert sequences(items) == [1, 2, 3, 4]
    assert isinstance(items[3], Disconnected)
    assert items[4] == Reconnected(Position(2, STORE), 3, missed_nothing=True)
    assert dialler.subscribed == [(0, None, ""), (2, None, STORE)]
    assert dialler.dialled_at == [0.0, 0.5]
    assert dialler.forgotten == 1


def test_after_five_attempts_the_reader_is_told_how_long_it_took() -> None:
    dialler = ScriptedDialler([ack(1), frame([1])])
    items, error, stream = follow(dialler)
    assert [item.retry_seconds for item in items if isinstance(item, Disconnected)] == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert dialler.dialled_at == [0.0, 0.5, 1.5, 3.5, 7.5, 15.5]
    assert type(error) is Unavailable
    assert "5 attempts in 15.5 s" in str(error)
    assert stream.position == Position(1, STORE)


def test_a_first_dial_that_fails_is_an_error_at_once() -> None:
    _, error, _ = follow(ScriptedDialler(RunGone("nothing listens.")))
    assert type(error) is RunGone


def test_a_door_that_is_shut_is_not_tried_again() -> None:
    dialler = ScriptedDialler([ack(1), frame([1])], ConnectDenied("not yours."))
    _, error, _ = follow(dialler)
    assert type(error) is ConnectDenied
    assert len(dialler.dialled_at) == 2


def test_a_server_without_tails_is_asked_again_without_one() -> None:
    dialler = ScriptedDialler([refusal("invalid_value"), ack(1), frame([1]), ending(2)])
    items, _, _ = follow(dialler, Resume(tail=9))
    assert sequences(items) == [1, 2]
    assert dialler.subscribed == [(0, 9, ""), (0, None, "")]


def test_a_subscription_that_is_refused_for_good_is_refused() -> None:
    _, error, _ = follow(ScriptedDialler([refusal("invalid_value"), refusal("invalid_value")]), Resume(tail=9))
    assert type(error) is Refused


def test_a_busy_server_is_waited_for() -> None:
    dialler = ScriptedDialler([ack(1), frame([1])], [refusal("too_many_connections")], [ack(2), ending(2)])
    items, error, _ = follow(dialler)
    assert error is None
    assert sequences(items) == [1, 2]


def test_a_server_that_never_acknowledges_is_given_up_for_that_time() -> None:
    dialler = ScriptedDialler([ack(1), frame([1])], [...], [ack(2), ending(2)])
    items, _, _ = follow(dialler)
    assert sequences(items) == [1, 2]
    assert dialler.dialled_at == [0.0, 0.5, 31.5]


def test_a_protocol_error_ends_the_stream_and_is_no_outage() -> None:
    items, error, _ = follow(ScriptedDialler([ack(1), frame([1]), protocol_error("stream_failed", "manual")]))
    assert type(error) is StreamFailed
    assert "It broke" in str(error)
    assert "Mend it." in str(error)
    assert not any(isinstance(item, Disconnected) for item in items)


def test_a_protocol_error_that_may_pass_is_tried_again() -> None:
    dialler = ScriptedDialler(
        [ack(1), frame([1])], [protocol_error("backend_unavailable", "automatic")], [ack(2), ending(2)]
    )
    items, error, _ = follow(dialler)
    assert error is None
    assert sequences(items) == [1, 2]


@pytest.mark.parametrize(("code", "kind"), [("not_found", RunGone), ("permission_denied", ConnectDenied)])
def test_a_gateway_s_error_before_the_acknowledgement_is_an_error_of_its_kind(
    code: str, kind: type[HoplineError]
) -> None:
    _, error, _ = follow(ScriptedDialler([protocol_error(code, "never")]))
    assert type(error) is kind


def test_why_a_channel_ended_is_told_with_the_loss() -> None:
    dialler = ScriptedDialler([ack(1), frame([1]), ConnectFailed("a line that is too long.")], [ack(2), ending(2)])
    items, _, _ = follow(dialler)
    lost = next(item for item in items if isinstance(item, Disconnected))
    assert lost.reason == "a line that is too long."


def test_a_store_that_cannot_continue_is_asked_for_from_its_start_at_once() -> None:
    dialler = ScriptedDialler(
        [ack(5), frame([1, 2, 3, 4, 5])],
        [ack(2), frame([], through_sequence=2)],
        [ack(2), frame([1, 2]), ending(3)],
    )
    items, _, _ = follow(dialler)
    assert dialler.dialled_at == [0.0, 0.5, 0.5]
    restart = next(index for index, item in enumerate(items) if isinstance(item, Rebootstrapped))
    assert sequences(items[restart:]) == [1, 2, 3]


def test_the_position_is_that_of_the_last_item_given_and_not_of_the_frame() -> None:
    dialler = ScriptedDialler([ack(9), frame(range(1, 10)), ...])
    items, _, stream = follow(dialler, most=4)
    assert sequences(items) == [1, 2, 3]
    assert stream.position == Position(3, STORE)


def test_starting_over_moves_the_position_into_the_new_store() -> None:
    dialler = ScriptedDialler([ack(1), frame([1]), frame([1, 2, 3], store_id=OTHER_STORE, rebootstrap=True), ...])
    items, _, stream = follow(dialler, most=3)
    assert isinstance(items[-1], Rebootstrapped)
    assert stream.position == Position(0, OTHER_STORE)


def test_without_following_it_ends_where_the_run_was() -> None:
    items, _, _ = follow(ScriptedDialler([ack(2), frame([1]), frame([2]), ...]), follow=False)
    assert sequences(items) == [1, 2]
    assert items[-1] == Finished(Position(2, STORE), complete=False)


def test_a_run_whose_server_is_gone_is_given_and_not_waited_for() -> None:
    items, _, _ = follow(ScriptedDialler([ack(2), frame([1, 2]), ...], live=False))
    assert items[-1] == Finished(Position(2, STORE), complete=False)


def test_an_event_of_the_legacy_form_is_given() -> None:
    single = msgspec.json.encode(SingleEvent(event=batch([2]).events[0]))
    items, _, _ = follow(ScriptedDialler([ack(1), frame([1]), single, ending(3)]))
    assert sequences(items) == [1, 2, 3]


EXECUTION = [execution("exec-1")]


def test_a_deferred_list_is_given_whole_after_its_events_and_only_when_it_changed() -> None:
    digest, parts = parts_of(EXECUTION, 100, through_sequence=2, store_id=STORE)
    deferred = frame([2], active_executions=None, active_executions_checkpoint_id=digest)
    again = frame([3], active_executions=[msgspec.Raw(msgspec.json.encode(EXECUTION[0]))])
    dialler = ScriptedDialler([ack(1), frame([1]), deferred, *map(msgspec.json.encode, parts), again, ending(4)])
    items, _, _ = follow(dialler)
    lists = [item for item in items if isinstance(item, Executions)]
    assert [len(item.executions) for item in lists] == [1, 0]
    assert items.index(lists[0]) > items.index(next(i for i in items if isinstance(i, RunEvent) and i.sequence == 2))


def test_parts_of_two_connections_never_combine() -> None:
    digest, parts = parts_of(EXECUTION, 100, through_sequence=2, store_id=STORE)
    deferred = frame([2], active_executions=None, active_executions_checkpoint_id=digest)
    first, *rest = map(msgspec.json.encode, parts)
    dialler = ScriptedDialler(
        [ack(1), frame([1]), deferred, first], [ack(2), *rest], [ack(2), frame([], through_sequence=2), ending(3)]
    )
    items, _, _ = follow(dialler)
    assert not any(isinstance(item, Executions) for item in items)
    assert sum(isinstance(item, Disconnected) for item in items) == 2
    assert sequences(items) == [1, 2, 3]


def test_what_is_no_message_is_a_lost_connection() -> None:
    dialler = ScriptedDialler([ack(1), frame([1]), b"{}"], [ack(1), b"nonsense"], [ack(2), ending(2)])
    items, error, _ = follow(dialler)
    assert error is None
    assert sequences(items) == [1, 2]


def test_a_reader_that_leaves_hangs_up() -> None:
    dialler = ScriptedDialler([ack(1), frame([1]), ...])
    follow(dialler, most=1)
    assert dialler.channels[0].closed


def events_answer(*sequences: int) -> Any:
    def answer(sent: dict[str, Any]) -> bytes:
        assert (sent["type"], sent["timeout_ms"]) == ("query.events", 10_000)
        events = [{"sequence": sequence} for sequence in sequences if sequence > sent["after_sequence"]]
        response = failed(sent["request_id"], "", "2026-01-01T00:00:00Z", diagnosed("1", "x", "No."))
        raw = msgspec.Raw(msgspec.json.encode(events))
        return encode_response(msgspec.structs.replace(response, ok=True, error=None, diagnostic=None, events=raw))

    return answer


def test_a_quiet_run_that_only_its_record_answers_for_is_over() -> None:
    dialler = ScriptedDialler([ack(2), frame([1, 2]), ...], [events_answer()])
    items, error, _ = follow(dialler)
    assert error is None
    assert items[-1] == Finished(Position(2, STORE), complete=False)
    assert dialler.dialled_at == [0.0, 3.0]
    assert all(channel.closed for channel in dialler.channels)


def test_a_quiet_run_that_lives_is_asked_once_and_followed_on() -> None:
    dialler = ScriptedDialler([ack(2), frame([1, 2]), 60.0, frame([3]), 60.0, ending(4)], [10.0, events_answer()])
    items, _, _ = follow(dialler)
    assert sequences(items) == [1, 2, 3, 4]
    assert items[-1] == Finished(Position(4, STORE), complete=True)
    assert dialler.dialled_at == [0.0, 3.0]


def test_a_run_that_ends_while_it_is_asked_has_its_end_given() -> None:
    for answers in ([events_answer(3)], [RunGone("it has left.")], [0.5, events_answer()]):
        dialler = ScriptedDialler([ack(2), frame([1, 2]), 3.25, ending(3)], answers)
        items, _, _ = follow(dialler)
        assert items[-1] == Finished(Position(3, STORE), complete=True)


def test_nobody_is_asked_where_it_is_known_whether_the_run_lives() -> None:
    dialler = ScriptedDialler([ack(2), frame([1, 2]), 60.0, ending(3)], live=True)
    follow(dialler)
    assert dialler.dialled_at == [0.0]


def test_a_message_that_comes_while_it_is_asked_is_given() -> None:
    dialler = ScriptedDialler([ack(1), frame([1]), 5.0, frame([2]), ending(3)], [9.0, events_answer()])
    assert sequences(follow(dialler)[0]) == [1, 2, 3]
