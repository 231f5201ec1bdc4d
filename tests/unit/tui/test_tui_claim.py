"""The connection line: what it says is true at every moment."""

from client_batches import RUN, STORE

from hopline.client.items import Connected, Disconnected, Finished, Item, Position, Reason, Rebootstrapped, Reconnected
from hopline.tui.claim import Connection, Light

AT = Position(48_213, STORE)


def after(*items: Item, now: float = 0.0) -> Connection:
    connection = Connection()
    for item in items:
        connection.receive(item, now)
    return connection


def line(connection: Connection, shown: int = 48_213, latest: int = 48_213, now: float = 0.0) -> str:
    return connection.claim(shown, latest, now).line()


CONNECTED = Connected(RUN, 48_213, 0, STORE)
LOST = Disconnected(AT, "the server closed the connection.", 4.0, 3)
BACK = Reconnected(AT, 48_300, missed_nothing=True)


def test_before_anything_came_it_is_opening() -> None:
    assert line(after()) == "opening"


def test_live_says_how_far_and_how_whole() -> None:
    assert line(after(CONNECTED)) == "live · event 48,213 · missed nothing"


def test_behind_says_by_how_much() -> None:
    assert line(after(CONNECTED), latest=50_523) == "behind 2,310 events, catching up · missed nothing"


def test_a_loss_says_why_and_counts_down() -> None:
    connection = after(CONNECTED, LOST)
    assert line(connection) == "the server closed the connection, retrying in 4 s · shown up to event 48,213"
    assert "retrying in 1 s" in line(connection, now=3.4)
    assert connection.claim(1, 1, 0.0).light is Light.LOST


def test_an_attempt_is_resuming_from_where_it_was() -> None:
    connection = after(CONNECTED, LOST)
    assert line(connection, now=4.0).startswith("resuming from 48,213")
    connection.dialling()
    assert line(connection).startswith("resuming from 48,213")
    assert not connection.over


def test_back_again_it_says_that_nothing_was_missed() -> None:
    assert line(after(CONNECTED, LOST, BACK)) == "live · event 48,213 · reconnected, missed nothing"


def test_starting_over_says_why() -> None:
    restart = Rebootstrapped(Reason.STORE_CHANGED, RUN, "b" * 32, 0, AT)
    not_whole = Reconnected(AT, 9, missed_nothing=False)
    connection = after(CONNECTED, LOST, not_whole, restart)
    assert line(connection, 9, 9) == "live · event 9 · restarted from the tail because the store changed"


def test_what_was_skipped_is_said_until_it_is_fetched() -> None:
    connection = after(CONNECTED, Rebootstrapped(Reason.FELL_BEHIND, RUN, STORE, 20, AT))
    connection.skipped(300)
    assert "skipped 300 events to stay live" in line(connection)
    connection.receive(LOST, 0.0)
    connection.receive(BACK, 0.0)
    assert "skipped 300 events" in line(connection)
    connection.filled(100)
    assert "skipped 200 events" in line(connection)
    connection.filled(200)
    assert "missed nothing" in line(connection)


def test_the_end_is_told_from_a_server_that_is_gone() -> None:
    assert line(after(CONNECTED, Finished(AT, complete=True))) == "ended · event 48,213 · missed nothing"
    gone = after(CONNECTED, Finished(AT, complete=False))
    assert line(gone) == "its server is gone · recorded up to event 48,213"
    assert gone.over


def test_giving_up_is_said_in_full() -> None:
    connection = after(CONNECTED, LOST)
    connection.failed("the run cannot be reached.")
    assert line(connection) == "the run cannot be reached. · shown up to event 48,213"
    assert connection.over
