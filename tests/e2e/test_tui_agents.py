"""The full-screen view of a run with agents: its turns, its trace, and steering, and every kind of event."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from conformance_corpus import corpus
from conformance_format import Setup
from conformance_run import ScenarioRun
from tui_rig import Seat, shows, text_of

from hopline.client.session import open_run
from hopline.client.targets import SocketPath
from hopline.tui.app import run_app
from hopline.tui.run_screen import RunScreen
from hopline.wire.client.responses import Ack

SEARCH = corpus().payloads["run_started"][1]
STARTED, TURN_USAGE = corpus().payloads["agent_execution_started"][0], corpus().payloads["turn_usage_recorded"][0]
SPAN = corpus().payloads["span_updated"][0]["span"]


def on_agents(
    place: Path, body: Callable[[Seat, ScenarioRun], Awaitable[None]], size: tuple[int, int] = (100, 40)
) -> None:
    """`body` at the view of a run that a search runs."""

    async def sit() -> None:
        run = ScenarioRun(place, Setup())
        async with run.served():
            run.record("run_started", SEARCH)
            await run.committed()
            async with open_run(SocketPath(str(run.path))) as found:
                app = run_app(found, "search", near=False)
                async with app.run_test(size=size) as seat:
                    await shows(seat, "‹ search  ● running · search", "● live")
                    await body(seat, run)

    asyncio.run(asyncio.wait_for(sit(), 60))


def test_a_turn_is_told_with_what_was_asked_said_called_found_and_used(private_place: Path) -> None:
    forms = corpus().payloads

    async def sit(seat: Seat, run: ScenarioRun) -> None:
        await seat.press("2")
        await shows(seat, "No agent has taken a turn yet\\.")
        run.record("agent_execution_started", STARTED)
        run.record("agent_execution_activity_changed", forms["agent_execution_activity_changed"][2])
        await run.committed()
        await shows(
            seat,
            "▸ implementer · implement, attempt 1 · round 1 · acme · m-1 · \\d\\d:",
            "  Make it faster\\.",
            "● implementer · implement, attempt 1 · round 1 · tool · bash: Running tests · since \\d\\d:",
        )
        for content in ("I look at ", "the plan.\nThen \x1b[2J I act."):
            run.record("agent_output_chunk", {**forms["agent_output_chunk"][0], "content": content})
        run.record("tool_call", forms["tool_call"][0])
        run.record("tool_result", {**forms["tool_result"][0], "content": "\n".join(map(str, range(30)))})
        run.record("todo_update", forms["todo_update"][0])
        run.record("turn_usage_recorded", TURN_USAGE)
        run.record("agent_execution_finished", forms["agent_execution_finished"][1], status="completed")
        await run.committed()
        screen = await shows(
            seat,
            "implementer *\nI look at the plan\\.\nThen �\\[2J I act\\.",
            "→ implementer calls bash make test",
            "← bash gave back · exit 0 .*\n  0\n",
            "  … 22 more lines",
            "☰ implementer has 2 things to do\n  ✓ measure\n  ● change",
            "used 1,200 tokens in, 300 out · \\$0\\.0125",
            "✕ implementer · failed: timed out",
            not_any_more="● implementer",
        )
        assert screen.index("▸ implementer") < screen.index("→ implementer") < screen.index("✕ implementer")

    on_agents(private_place, sit)


def span(identity: str, parent: str | None, title: str, status: str, **fields: Any) -> dict[str, Any]:
    label = {**SPAN["label"], "title": title, "links": []}
    whole = {**SPAN, "id": identity, "parent_id": parent, "status": status, "label": label, "waiting_on": [], **fields}
    return {"kind": "span_updated", "span": whole}


def test_the_trace_is_a_tree_that_follows_and_begins_before_what_is_here(private_place: Path) -> None:
    async def sit(seat: Seat, run: ScenarioRun) -> None:
        await seat.press("3")
        await shows(seat, "Nothing was traced yet\\.")
        run.record("span_updated", span("b", "a", "Cache the plan", "waiting", waiting_on=SPAN["waiting_on"]))
        run.record("span_updated", span("a", None, "Faster", "running"))
        run.record(
            "span_updated", span("c", "b", "Try it", "failed", failure={"kind": "outcome", "message": "too slow"})
        )
        await run.committed()
        await shows(
            seat,
            "\n● Faster +workstream · running",
            "\n  ◐ Cache the plan +workstream · waiting · waits for time \\(provider limit\\) until \\d\\d:",
            "\n    ✕ Try it +workstream · failed .*\n      too slow",
        )

    on_agents(private_place, sit)


def test_spans_of_before_the_tail_come_from_a_snapshot(private_place: Path) -> None:
    async def sit() -> None:
        run = ScenarioRun(private_place, Setup())
        async with run.served():
            run.record("span_updated", span("a", None, "Faster", "running"))
            await run.publish(150, 1)
            run.record("span_updated", span("b", "a", "Cache the plan", "done"))
            await run.committed()
            async with open_run(SocketPath(str(run.path))) as found:
                app = run_app(found, "search", near=False)
                async with app.run_test(size=(100, 30)) as seat:
                    await shows(seat, "● live")
                    await seat.press("3")
                    await shows(seat, "\n● Faster .*\n  ✓ Cache the plan")

    asyncio.run(asyncio.wait_for(sit(), 60))


def test_an_agent_is_steered_paused_and_resumed_and_a_plain_command_is_not(private_place: Path) -> None:
    async def sit(seat: Seat, run: ScenarioRun) -> None:
        await shows(seat, "t Steer… +p Pause +c Resume")
        with_an_agent(run)
        await seat.press("t", *"be quick", "enter")
        await shows(seat, "steer  accepted \\d\\d:\\d\\d:\\d\\d, taken by the agent not yet")
        run.recorder.event("control", text="/steer", status="consumed")
        await run.committed()
        await shows(seat, "steer  taken by the agent \\d\\d:")
        await seat.press("p")
        await shows(seat, "pause  accepted .*, paused not yet")
        await seat.press("c")
        await shows(seat, "resume  going on \\d\\d:")
        run.record("run_started", corpus().payloads["run_started"][0])
        await run.committed()
        await shows(seat, not_any_more="Steer…")
        for key, said in (
            ("p", "cannot be paused; \\. interrupts it"),
            ("t", "takes no steering; i writes to its input"),
        ):
            await seat.press(key)
            await shows(seat, said)

    on_agents(private_place, sit)


def with_an_agent(run: ScenarioRun) -> None:
    """The commands that act at an agent's boundary are recorded as they are where there is one."""

    def taken(action: str, text: str) -> Ack:
        status = "consumed" if action == "resume" else "pending"
        run.recorder.event("control", text=text, status=status)
        return Ack(action, status)

    run.controller.without_agent = taken  # type: ignore[method-assign]  # a stand-in


def test_a_wait_for_capacity_is_said_in_the_first_line(private_place: Path) -> None:
    async def sit(seat: Seat, run: ScenarioRun) -> None:
        run.record("quota_paused", corpus().payloads["quota_paused"][0])
        await run.committed()
        await shows(seat, "^‹ search .* \\(capacity of acme, back at \\d\\d:\\d\\d:\\d\\d\\)")
        run.record("quota_resumed", corpus().payloads["quota_resumed"][0])
        await run.committed()
        await shows(seat, not_any_more="capacity of acme")

    on_agents(private_place, sit)


def test_no_form_of_any_kind_of_event_is_left_out_or_drives_the_terminal(private_place: Path) -> None:
    apart = {"run_finished", "run_failed", "run_interrupted", "subprocess_output"}
    kinds = sorted(kind for kind in set(corpus().events) - apart if not kind.startswith("invocation_"))
    names = [kind for kind in kinds for _ in corpus().payloads[kind]]

    async def sit(seat: Seat, run: ScenarioRun) -> None:
        screen = seat.app.screen
        assert isinstance(screen, RunScreen)
        before = len(screen.watching.log.lines)
        for kind in kinds:
            for form in corpus().payloads[kind]:
                run.record(kind, form)
        await run.committed()
        for tab in ("4", "2", "3"):
            await seat.press(tab)
            await shows(seat, "· missed nothing")
            assert "\x1b" not in text_of(seat.app)  # type: ignore[arg-type]  # the app is ours
        while len(screen.watching.log.lines) < before + len(names):
            await seat.pause(0.02)
        told = [line.text()[20:].split()[0] for line in screen.watching.log.lines[before - 1 : -1]]
        assert told == names

    on_agents(private_place, sit)
