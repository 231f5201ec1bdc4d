import pytest
from scripted_server import batch, event, output, response, subscribed

from hopline.client.history import bearings, last_lines
from hopline.errors import RunGone
from hopline.wire.client.requests import QueryEvents


def journal(*pieces: str | tuple[str, str]):
    """A script that answers query.events from these pieces of output, at most three events a Response."""
    told = []
    for number, piece in enumerate(pieces, 1):
        content, stream = (piece, "stdout") if isinstance(piece, str) else piece
        told.append(output(number, content, stream))

    def answer(request):
        assert isinstance(request, QueryEvents)
        before = request.before_sequence or 1 << 60
        found = [one for one in told if request.after_sequence < one["sequence"] < before]
        return [response(events=found[:3])]

    return answer


def tail(scripted, pieces, count, stream=None) -> str:
    server = scripted(journal(*pieces))
    found = last_lines(server.connection, len(pieces), count, stream)
    return b"".join(piece.data for piece in found).decode()


@pytest.mark.parametrize("cut", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("end", ["", "\n"])
def test_the_last_lines_are_the_same_however_the_output_was_cut(scripted, cut: int, end: str) -> None:
    text = "".join(f"line {number}\n" for number in range(40)) + "last" + end
    pieces = [text[start : start + cut] for start in range(0, len(text), cut)]
    for count in (1, 2, 10, 41, 60):
        expected = "".join(text.splitlines(keepends=True)[-count:])
        assert tail(scripted, pieces, count) == expected


def test_no_lines_are_no_question(scripted) -> None:
    assert tail(scripted, ["a\n"], 0) == ""
    assert tail(scripted, [], 5) == ""


def test_empty_lines_are_lines(scripted) -> None:
    assert tail(scripted, ["a\n\n\n"], 2) == "\n\n"


def test_lines_of_one_stream_are_counted_alone(scripted) -> None:
    pieces = ["out 1\n", ("err 1\n", "stderr"), "out 2\n", ("err 2\n", "stderr"), ("err 3\n", "stderr")]
    assert tail(scripted, pieces, 2, "stdout") == "out 1\nout 2\n"
    assert tail(scripted, pieces, 2) == "err 2\nerr 3\n"


def test_only_as_much_is_asked_for_as_is_needed(scripted) -> None:
    pieces = [f"{number}\n" for number in range(1000)]
    server = scripted(journal(*pieces))
    last_lines(server.connection, 1000, 3)
    assert sum(1 for request in server.requests) <= 3


def test_bearings_are_the_spine_and_the_cursor(scripted) -> None:
    server = scripted(lambda _: [subscribed(90), batch(50, event(2, "run_started")), batch(90, output(90, "x"))])
    here = bearings(server.connection)
    assert (here.sequence, here.store_id, len(here.events)) == (90, "s", 2)
    (request,) = server.requests
    assert request.tail == 1
    assert server.connection.ended


def test_a_server_that_leaves_before_the_bearings_are_known_is_gone(scripted) -> None:
    answers = iter([[subscribed(9)], []])
    server = scripted(lambda _: next(answers))
    server.connection.send(QueryEvents())
    with pytest.raises(RunGone, match="left before it told"):
        bearings(server.connection)


def test_events_that_cannot_be_read_fail_the_query(scripted) -> None:
    server = scripted(lambda _: [response(events=[{"sequence": "x"}])])
    with pytest.raises(Exception, match="cannot be read"):
        last_lines(server.connection, 5, 1)
