"""The view's loop on scripted frames: what is shown, once and in order, also across lost connections."""

import json

import pytest
from scripted_server import batch, event, output, subscribed

from hopline.cli.screen import Screen
from hopline.cli.showing import ViewOptions
from hopline.cli.view import View
from hopline.client import Subscription
from hopline.client.facts import RunFacts
from hopline.errors import Unavailable

END = event(99, "run_finished")


def gone(_cursor: int, _store_id: str) -> None:
    return None


@pytest.fixture
def view(scripted):
    """Makes a view of one subscription with these frames."""

    def make(frames, **options):
        server = scripted(lambda _: [subscribed(0), *frames])
        made = View(Screen(), ViewOptions(**options), Subscription(server.connection), gone)
        made.gaps.unsure = True  # what these scripts leave out is not what they are about
        return made

    return make


def test_what_was_dropped_is_told_where_it_is_missing(view, capfdbinary) -> None:
    later = (output(4, "b"), event(5, "run_finished"))
    shown = view([batch(1, output(1, "a")), batch(5, *later, history_after_sequence=3)])
    assert shown.run() is None
    out, told = capfdbinary.readouterr()
    assert out == b"ab"
    assert told == (
        b"hopline: the output has a gap: 2 events were dropped before they could be shown (--when-journal-full).\n"
    )


def test_each_stream_goes_to_its_own_descriptor_in_order(view, capfdbinary) -> None:
    shown = view([batch(4, output(1, "a"), output(2, "b", "stderr"), output(3, "c"), output(4, "d")), batch(99, END)])
    assert shown.run() is None
    assert capfdbinary.readouterr() == (b"acd", b"b")
    assert shown.facts.ended == "run_finished"
    assert shown.output_bytes == 4


def test_a_lost_connection_is_resumed_from_the_cursor_and_nothing_is_shown_twice(scripted, capfdbinary) -> None:
    first = scripted(lambda _: [subscribed(0), batch(2, output(1, "a"), output(2, "b"))])
    second = scripted(lambda _: [subscribed(0), batch(3, output(2, "b"), output(3, "c")), batch(99, END)])
    asked = []

    def resume(cursor, store_id):
        asked.append((cursor, store_id))
        return Subscription(second.connection, after=cursor, store_id=store_id)

    subscription = Subscription(first.connection)
    first.hang_up()
    View(Screen(), ViewOptions(), subscription, resume).run()
    assert asked == [(2, "s")]
    assert capfdbinary.readouterr().out == b"abc"


def test_another_store_is_shown_from_its_start(view, capfdbinary) -> None:
    other = {**batch(1, output(1, "new")), "store_id": "other"}
    end = {**batch(99, END), "store_id": "other"}
    view([batch(5, output(5, "old ")), other, end]).run()
    assert capfdbinary.readouterr().out == b"old new"


def test_a_server_that_is_gone_for_good_is_told_with_the_last_event(scripted) -> None:
    server = scripted(lambda _: [subscribed(0), batch(7, output(7, "x"))])
    subscription = Subscription(server.connection)
    server.hang_up()
    with pytest.raises(Unavailable, match="the last event here is 7"):
        View(Screen(), ViewOptions(), subscription, gone).run()


def test_a_view_with_an_end_stops_exactly_there(view, capfdbinary) -> None:
    view([batch(3, output(1, "a"), output(2, "b"), output(3, "c"))], through=2).run()
    assert capfdbinary.readouterr().out == b"ab"


def test_only_one_stream_when_one_is_asked_for(view, capfdbinary) -> None:
    view([batch(2, output(1, "a"), output(2, "b", "stderr")), batch(99, END)], stream="stderr").run()
    assert capfdbinary.readouterr() == (b"", b"b")


def test_events_as_lines_are_told_whole_and_also_learned_from(view, capfdbinary) -> None:
    shown = view([batch(2, output(1, "a"), event(2, "novelty")), batch(99, END)], as_json=True)
    shown.run()
    lines = capfdbinary.readouterr().out.splitlines()
    assert [json.loads(line)["sequence"] for line in lines] == [1, 2, 99]
    assert shown.facts.ended == "run_finished"


def test_what_was_known_before_stays_known(view) -> None:
    shown = view([batch(99, END)], known=RunFacts(status="running"))
    shown.run()
    assert shown.facts.status == "running"


def test_warnings_are_said_on_lines_of_their_own_after_what_came_before(view, capfdbinary) -> None:
    diagnostic = {"id": "1", "code": "operation_failed", "summary": "The worker waits.", "detail": "no room"}
    warning = {**event(2, "framework_warning", {"summary": "x"}), "diagnostic": diagnostic}
    frames = [batch(3, output(1, "half", "stderr"), warning, output(3, "rest\n", "stderr")), batch(99, END)]
    view(frames, warnings=True).run()
    assert capfdbinary.readouterr().err == b"half\nhopline: The worker waits. no room\nrest\n"
    view(frames).run()
    assert capfdbinary.readouterr().err == b"halfrest\n"
