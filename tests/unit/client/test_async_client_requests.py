"""One control connection: what is asked again after a loss, what is not, and how long an answer may take."""

from typing import Any

import pytest
from jumping_loop import run_jumping
from scripted_dialler import ScriptedDialler

from hopline.client.requests import RequestConnection, Unanswered
from hopline.client.session import Run
from hopline.errors import Refused, RunGone, Unavailable
from hopline.wire.client.requests import (
    CommandInterrupt,
    CommandPause,
    CommandResume,
    CommandSteer,
    QueryChat,
    QueryHistory,
    QuerySnapshot,
    Request,
)
from hopline.wire.client.responses import Ack, Response, diagnosed, encode_response, failed


def answer(sent: dict[str, Any]) -> bytes:
    return encode_response(
        Response(request_id=sent["request_id"], timestamp="2026-01-01T00:00:00Z", ack=Ack("interrupt", "delivered"))
    )


def stale(sent: dict[str, Any]) -> bytes:
    return encode_response(Response(request_id="another", timestamp="2026-01-01T00:00:00Z"))


def refused(sent: dict[str, Any]) -> bytes:
    diagnostic = diagnosed("1", "run_read_only", "The run has ended")
    return encode_response(failed(sent["request_id"], "", "2026-01-01T00:00:00Z", diagnostic))


def ask(dialler: ScriptedDialler, *requests: Request) -> list[Response]:
    async def asking() -> list[Response]:
        connection = RequestConnection(dialler, "me")
        try:
            return [await connection.ask(request) for request in requests]
        finally:
            await connection.close()

    return run_jumping(asking())


def test_requests_share_a_connection_and_each_has_its_own_id() -> None:
    dialler = ScriptedDialler([answer, stale, answer])
    ask(dialler, QuerySnapshot(), CommandInterrupt())
    (channel,) = dialler.channels
    assert channel.sent[0]["request_id"] != channel.sent[1]["request_id"]
    assert {sent["client_id"] for sent in channel.sent} == {"me"}
    assert channel.closed


def test_a_read_is_asked_again_under_a_new_id() -> None:
    dialler = ScriptedDialler([], [answer])
    ask(dialler, QuerySnapshot())
    first, second = (channel.sent[0]["request_id"] for channel in dialler.channels)
    assert first != second


@pytest.mark.parametrize("wanted", [CommandInterrupt(), CommandSteer(text="x"), QueryChat(text="why?")])
def test_what_must_not_happen_twice_is_never_sent_twice(wanted: Request) -> None:
    dialler = ScriptedDialler([], [answer])
    with pytest.raises(Unanswered, match="not known"):
        ask(dialler, wanted)
    assert len(dialler.channels) == 1


@pytest.mark.parametrize("wanted", [CommandPause(), CommandResume(), QueryHistory()])
def test_what_is_as_good_twice_as_once_is_sent_again(wanted: Request) -> None:
    dialler = ScriptedDialler([], [answer])
    ask(dialler, wanted)
    assert len(dialler.channels) == 2


def test_a_chat_has_a_connection_of_its_own() -> None:
    dialler = ScriptedDialler([answer, answer], [answer])

    async def asking() -> None:
        async with Run(dialler, "me") as run:
            await run.ask(QueryHistory())
            await run.ask(QueryChat(text="why?"))
            await run.ask(QueryHistory())

    run_jumping(asking())
    assert [[sent["type"] for sent in channel.sent] for channel in dialler.channels] == [
        ["query.history", "query.history"],
        ["query.chat"],
    ]
    assert all(channel.closed for channel in dialler.channels)


def test_a_connection_that_is_known_to_be_gone_is_dialled_anew_first() -> None:
    dialler = ScriptedDialler([answer], [answer])

    async def asking() -> None:
        connection = RequestConnection(dialler, "me")
        await connection.ask(CommandInterrupt())
        dialler.channels[0].gone = True
        await connection.ask(CommandInterrupt())
        await connection.close()

    run_jumping(asking())
    assert len(dialler.channels) == 2


def test_a_read_that_is_lost_twice_is_an_error() -> None:
    with pytest.raises(RunGone):
        ask(ScriptedDialler([], []), QuerySnapshot())


def test_no_answer_in_time_is_an_error_and_the_connection_is_given_up() -> None:
    dialler = ScriptedDialler([...])
    with pytest.raises(Unavailable, match="within 30 s"):
        ask(dialler, QuerySnapshot())
    assert dialler.channels[0].closed


def test_a_refusal_keeps_the_connection() -> None:
    dialler = ScriptedDialler([refused, answer])

    async def asking() -> None:
        connection = RequestConnection(dialler, "me")
        with pytest.raises(Refused) as caught:
            await connection.ask(CommandInterrupt())
        assert caught.value.code == "run_read_only"
        await connection.ask(QuerySnapshot())
        await connection.close()

    run_jumping(asking())
    assert len(dialler.channels) == 1


def test_a_dial_that_fails_is_told() -> None:
    with pytest.raises(RunGone, match="nothing listens"):
        ask(ScriptedDialler(), QuerySnapshot())
