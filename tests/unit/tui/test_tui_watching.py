"""Following a run for a screen: what is skipped is fetched or said, what starts over is shown anew."""

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from client_batches import OTHER_STORE, RUN, STORE
from jumping_loop import run_jumping
from scripted_dialler import ScriptedDialler

from hopline.client.session import Run
from hopline.tui.event_lines import event_line
from hopline.tui.pane import EVENTS_AT_FIRST
from hopline.tui.watching import Watching
from hopline.wire.client.events import RunEvent, decode_event
from hopline.wire.client.responses import Response, encode_response
from hopline.wire.client.streams import EventBatch, Subscribed


def output(sequence: int, text: str = "") -> RunEvent:
    content = text or f"row {sequence}\n"
    data = {
        "kind": "subprocess_output",
        "process_id": "worker-1",
        "stream": "stdout",
        "content": content,
        "offset": sequence * 100,
    }
    return made(sequence, "subprocess_output", data)


def made(sequence: int, kind: str, data: dict[str, Any] | None = None, **fields: Any) -> RunEvent:
    whole = {
        "sequence": sequence,
        "run_id": RUN,
        "timestamp": "2026-01-01T00:00:00Z",
        "type": kind,
        "data": data,
        **fields,
    }
    return decode_event(msgspec.json.encode(whole))


def ack(latest: int) -> Callable[[dict[str, Any]], bytes]:
    return lambda sent: msgspec.json.encode(
        Subscribed(request_id=sent["request_id"], run_id=RUN, latest_sequence=latest)
    )


def frame(events: Sequence[RunEvent], floor: int = 0, **fields: Any) -> bytes:
    fields.setdefault("store_id", STORE)
    through = events[-1].sequence if events else floor
    return msgspec.json.encode(
        EventBatch(events=list(events), through_sequence=through, history_after_sequence=floor, **fields)
    )


def history(events: Sequence[RunEvent]) -> Callable[[dict[str, Any]], bytes]:
    """Answers query.events from `events`."""

    def answer(sent: dict[str, Any]) -> bytes:
        assert sent["type"] == "query.events"
        chosen = [
            event
            for event in events
            if sent.get("after_sequence", 0) < event.sequence < sent.get("before_sequence", 1 << 60)
        ]
        return encode_response(
            Response(
                request_id=sent["request_id"],
                timestamp="2026-01-01T00:00:00Z",
                events=msgspec.Raw(msgspec.json.encode(chosen)),
            )
        )

    return answer


END = made(1000, "run_finished", status="completed")


def watch(dialler: ScriptedDialler, then: Callable[[Watching], Any] | None = None) -> Watching:
    """Follow to the end, then do something more."""

    async def watching() -> Watching:
        run = Run(dialler)
        found = Watching(run)
        await found.follow()
        if then is not None:
            await then(found)
        await run.close()
        return found

    return run_jumping(watching())


def rows(watching: Watching) -> list[str]:
    return [line.text() for line in watching.panes["output"].lines.lines if line.text()]


def claim(watching: Watching) -> str:
    return watching.claim(0.0).line()


def test_a_run_is_shown_from_its_tail_with_what_the_spine_tells() -> None:
    spine = made(2, "run_started", {"kind": "run_started", "outer_loop": "command", "input": "make"})
    watching = watch(ScriptedDialler([ack(12), frame([spine, output(11), output(12)], floor=10), frame([END])]))
    assert rows(watching) == ["row 11", "row 12"]
    assert watching.story.command == "make"
    assert watching.panes["output"].floor == 10
    assert watching.written == 1200 + len("row 12\n")
    assert claim(watching) == "ended · event 1,000 · missed nothing"
    assert "run_started" in watching.log.lines[0].text()


def test_what_a_short_tail_skipped_is_fetched_when_it_is_little() -> None:
    skipped = [output(sequence) for sequence in range(13, 31)]
    stream = [
        ack(12),
        frame([output(11), output(12)], floor=10),
        frame([output(31)], floor=30, rebootstrap=True),
        frame([END]),
    ]
    watching = watch(ScriptedDialler(stream, [history(skipped)]))
    assert rows(watching) == [f"row {number}" for number in range(11, 32)]
    assert claim(watching).endswith("missed nothing")


def test_a_view_that_stood_still_has_all_of_a_quiet_run_fetched_however_many_events_they_are() -> None:
    stream = [
        ack(12),
        frame([output(11), output(12)], floor=10),
        frame([output(901)], floor=900, rebootstrap=True),
        frame([END]),
    ]
    pages = [history([output(number) for number in range(13, 500)]), history([output(n) for n in range(500, 901)])]
    watching = watch(ScriptedDialler(stream, pages))
    assert rows(watching) == [f"row {number}" for number in range(11, 902)]
    assert claim(watching).endswith("missed nothing")


def test_what_a_short_tail_skipped_is_said_when_it_is_much() -> None:
    stream = [
        ack(12),
        frame([output(11), output(12)], floor=10),
        frame(
            [made(2, "run_started", {"kind": "run_started", "input": "x"}), output(901)], floor=900, rebootstrap=True
        ),
        frame([END]),
    ]
    watching = watch(ScriptedDialler(stream))
    assert rows(watching) == ["row 901"]
    assert watching.panes["output"].above() == (900 - EVENTS_AT_FIRST, 901)
    assert "skipped 888 events to stay live" in claim(watching)


def test_a_gap_that_cannot_be_fetched_is_said() -> None:
    stream = [ack(12), frame([output(12)], floor=11), frame([output(31)], floor=30, rebootstrap=True), frame([END])]
    watching = watch(ScriptedDialler(stream, []))
    assert "skipped 18 events" in claim(watching)


def test_another_store_is_shown_anew_and_why_is_said() -> None:
    stream = [
        ack(2),
        frame([output(1), output(2, "old\n")]),
        frame([output(1, "new\n")], rebootstrap=True, store_id=OTHER_STORE),
    ]
    watching = watch(ScriptedDialler([*stream, frame([END], store_id=OTHER_STORE)]))
    assert rows(watching) == ["new"]
    assert "restarted from the tail because the store changed" in claim(watching)


def test_a_lost_connection_is_resumed_and_nothing_is_shown_twice() -> None:
    watching = watch(ScriptedDialler([ack(1), frame([output(1)])], [ack(2), frame([output(2)]), frame([END])]))
    assert rows(watching) == ["row 1", "row 2"]
    assert claim(watching).endswith("reconnected, missed nothing")


def test_a_server_that_is_gone_is_said() -> None:
    watching = watch(ScriptedDialler([ack(1), frame([output(1)]), ...], live=False))
    assert watching.lost
    assert claim(watching) == "its server is gone · recorded up to event 1"


def test_a_stream_that_fails_for_good_is_said() -> None:
    watching = watch(ScriptedDialler([ack(1), frame([output(1)])]))
    assert "cannot be reached" in claim(watching)


def test_older_output_is_put_above_from_where_the_tail_began() -> None:
    everything = [output(sequence) for sequence in range(1, 51)]
    everything[44] = output(45, "no newline ")

    async def load(watching: Watching) -> None:
        while events := await watching.fetch("output", above=True):
            watching.panes["output"].put_above(events)

    asked: list[dict[str, Any]] = []

    def noted(sent: dict[str, Any]) -> bytes:
        asked.append(sent)
        return history(everything)(sent)

    stream = [ack(50), frame(everything[45:], floor=45), frame([END])]
    watching = watch(ScriptedDialler(stream, [noted] * 9), load)
    expected = [f"row {number}" for number in range(1, 45)] + ["no newline row 46"]
    assert rows(watching)[:45] == expected
    assert watching.panes["output"].floor == 0
    assert 45 - asked[0]["after_sequence"] == EVENTS_AT_FIRST
    assert (45 - EVENTS_AT_FIRST) - asked[1].get("after_sequence", 0) > EVENTS_AT_FIRST - 1


def test_older_output_is_fetched_once_at_a_time_and_none_above_the_beginning() -> None:
    async def load(watching: Watching) -> None:
        both = await asyncio.gather(watching.fetch("output", above=True), watching.fetch("output", above=True))
        assert sorted(map(len, both)) == [0, 5]
        watching.panes["output"].put_above(both[0] or both[1])
        assert await watching.fetch("output", above=True) == []

    events = [output(sequence) for sequence in range(1, 7)]
    watching = watch(ScriptedDialler([ack(6), frame(events[5:], floor=5), frame([END])], [history(events)]), load)
    assert rows(watching) == [f"row {number}" for number in range(1, 7)]


def test_an_event_is_a_line_without_anything_that_drives_a_terminal() -> None:
    line = event_line(made(48_213, "control", text="/stop\x1b[2J\n", status="pending"))
    assert re.fullmatch(r"   48,213  \d\d:\d\d:\d\d  control +/stop�\[2J +pending", line)
    assert "code=3" in event_line(made(7, "worker_exited", {"kind": "worker_exited", "generation": 1, "code": 3}))
    diagnostic = {"id": "1", "code": "x", "summary": "It broke."}
    assert event_line(made(7, "run_failed", diagnostic=diagnostic)).endswith("It broke.")
    assert len(event_line(made(7, "chat", text="x" * 5000))) == 1000
