"""The page against a gateway that is only pretended, for what no run of today does: agents, other stores, waiting."""

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from page_rig import Watched, Web
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.timeout(60)

RUN = "0123456789ab"
NOW = "2026-01-01T12:00:00.000Z"

PRETENDED = """
window.asked = []
window.sockets = []
window.WebSocket = class {
  constructor(url) {
    this.url = url
    window.sockets.push(this)
    setTimeout(() => {
      this.onopen()
      if (url.endsWith('/runs/ws')) setTimeout(() => this.say(LISTING), 20)
    })
  }
  say(message) { this.onmessage({ data: JSON.stringify(message) }) }
  send(text) {
    const asked = JSON.parse(text)
    window.asked.push(asked)
    if (asked.type !== 'subscribe') {
      const refusal = REFUSED[asked.type]
      const answer = { request_id: asked.request_id, ok: !refusal, events: [], ack: null, snapshot: null }
      if (refusal) answer.diagnostic = { code: 'operation_failed', summary: refusal }
      setTimeout(() => this.say(answer))
      return
    }
    this.stream = true
    const floor = asked.tail ? 0 : asked.after_sequence
    const events = EVENTS.filter(event => event.sequence > floor)
    setTimeout(() => {
      this.say({ type: 'subscribed', request_id: asked.request_id, run_id: 'r', latest_sequence: EVENTS.length })
      this.say(batch(events, 'store-a'))
    })
  }
  close() {}
}
window.batch = (events, store_id) => ({
  type: 'event_batch', events, store_id, rebootstrap: false, history_after_sequence: 0,
  through_sequence: events.length ? events.at(-1).sequence : EVENTS.length,
})
window.REFUSED = {}
window.stream = () => window.sockets.filter(socket => socket.stream).at(-1)
"""


def row(**changes: Any) -> dict[str, Any]:
    return {
        "id": RUN,
        "name": "fix-auth",
        "status": "running",
        "live": True,
        "command": ["claude"],
        "cwd": "/work",
        "runner": "direct",
        "generation": 1,
        "started_at": NOW,
        "ended_at": None,
        "exit_code": None,
        "signal": None,
        "waiting": None,
        "bytes": 1000,
        "rates": [0, 5],
        "descendants": None,
        "survivors": 0,
        "pty": False,
        "columns": None,
        "rows": None,
        **changes,
    }


def event(sequence: int, kind: str, **fields: Any) -> dict[str, Any]:
    data = fields.pop("data", None)
    return {
        "protocol_version": 1,
        "sequence": sequence,
        "run_id": "r",
        "timestamp": NOW,
        "type": kind,
        "text": "",
        "diagnostic": None,
        "status": None,
        "data": data and {"kind": kind, **data},
        **fields,
    }


AGENT = [
    event(1, "run_started", data={"input": "claude", "outer_loop": "claude"}),
    event(2, "run_status_changed", data={"status": "running", "previous": "starting"}),
    event(3, "worker_started", data={"generation": 1, "pid": 42, "runner": "direct", "argv": ["claude"], "cwd": "/"}),
    event(4, "subprocess_output", data={"stream": "stdout", "content": "thinking\n", "process_id": "worker-1"}),
]


@pytest.fixture
def web() -> Iterator[Web]:
    served = Web()
    yield served
    served.close()


def pretend(browser: Browser, web: Web, rows: list[dict[str, Any]], events: list[dict[str, Any]]) -> Watched:
    watched = Watched(browser.new_context(viewport={"width": 1280, "height": 800}).new_page())
    listing = {"type": "runs", "full": True, "hostname": "desk", "now": NOW, "rows": rows, "removed": []}
    listing |= {"unreadable": [], "older": 0}
    constants = f"const LISTING = {json.dumps(listing)}; const EVENTS = {json.dumps(events)};"
    watched.page.add_init_script(constants + PRETENDED)
    return watched.open(web, RUN if events else None)


def asked(watched: Watched) -> list[str]:
    kinds: list[str] = watched.page.evaluate("window.asked.map(asked => asked.type)")
    return kinds


def test_what_waits_is_in_the_title_the_icon_and_the_first_row(web: Web, browser: Browser) -> None:
    rows = [row(), row(id="0" * 12, name="waits", waiting="allow `git push`?")]
    watched = pretend(browser, web, rows, [])
    expect(watched.locator("a.run").first.locator(".state")).to_have_text("waiting: allow `git push`?")
    expect(watched.locator(".summary .waiting")).to_have_text("1 waiting for you")
    expect(watched.page).to_have_title("(1) hopline")
    assert watched.locator("link[rel=icon]").get_attribute("href") == "/assets/icons/waiting-1.svg"
    watched.page.context.close()
    assert watched.complaints == []


def test_an_agent_can_be_paused_resumed_and_steered(web: Web, browser: Browser) -> None:
    watched = pretend(browser, web, [row()], AGENT)
    watched.wait_for_output("thinking")
    button = watched.page.get_by_role
    button("button", name="Pause").click()
    paused = event(5, "run_status_changed", data={"status": "paused", "previous": "running"})
    watched.page.evaluate("event => stream().say(batch([event], 'store-a'))", paused)
    button("button", name="Resume").click()
    button("button", name="Steer…").click()
    watched.locator("dialog textarea").fill("look at the tests first")
    watched.locator("dialog").get_by_role("button", name="Steer").click()
    watched.wait(lambda: str(asked(watched)), "command.steer", "what was asked")
    assert [kind for kind in asked(watched) if kind.startswith("command.")] == [
        "command.pause",
        "command.resume",
        "command.steer",
    ]
    watched.page.context.close()
    assert watched.complaints == []


def test_another_store_is_begun_anew_and_said(web: Web, browser: Browser) -> None:
    watched = pretend(browser, web, [row()], AGENT)
    watched.wait_for_output("thinking")
    watched.wait_for_claim("^live · event 4 · missed nothing$")
    anew = [*AGENT[:3], event(4, "subprocess_output", data={"stream": "stdout", "content": "another\n"})]
    watched.page.evaluate("events => stream().say(batch(events, 'store-b'))", anew)
    watched.wait_for_output("^another")
    watched.wait_for_claim("^live · event 4 · restarted from the tail because the store changed$")
    watched.page.context.close()
    assert watched.complaints == []


def test_a_hole_in_what_came_is_said(web: Web, browser: Browser) -> None:
    watched = pretend(browser, web, [row()], AGENT)
    watched.wait_for_claim("^live · event 4 · missed nothing$")
    late = event(9, "subprocess_output", data={"stream": "stdout", "content": "late\n"})
    watched.page.evaluate("event => stream().say(batch([event], 'store-a'))", late)
    watched.wait_for_claim("^live · event 9 · 4 events missing from the journal$")
    watched.page.context.close()


def test_events_newer_than_the_page_are_listed_and_break_nothing(web: Web, browser: Browser) -> None:
    strange = [event(5, "span_started", data={"span": {"id": "x"}}), event(6, "something_newer", data=None)]
    watched = pretend(browser, web, [row()], [*AGENT, *strange])
    watched.wait_for_claim("^live · event 6")
    watched.page.keyboard.press("4")
    expect(watched.locator(".event-list")).to_contain_text("something_newer")
    watched.locator(".event:has-text('span_started')").click()
    expect(watched.locator(".event-list pre")).to_contain_text('"id": "x"')
    watched.page.context.close()
    assert watched.complaints == []


def say(watched: Watched, *events: dict[str, Any]) -> None:
    """These events come."""
    watched.page.evaluate("events => stream().say(batch(events, 'store-a'))", list(events))


def control(sequence: int, text: str, status: str, **fields: Any) -> dict[str, Any]:
    return event(sequence, "control", text=text, status=status, **fields)


def status(sequence: int, now: str, before: str) -> dict[str, Any]:
    return event(sequence, "run_status_changed", data={"status": now, "previous": before})


def execution(activity: dict[str, Any], **changes: Any) -> dict[str, Any]:
    entry = {"execution_id": "exec-1", "agent_kind": "implementer", "round_label": "round 1", "stage": "implement"}
    entry |= {"attempt": 1, "assignment": "Make it faster.", "started_at": NOW, "provider": None, "model": None}
    return entry | {"activity": {"kind": "agent_execution_activity_changed", "tool": None, **activity}} | changes


def test_a_plain_command_shows_what_needs_an_agent_with_the_reason(web: Web, browser: Browser) -> None:
    started = event(1, "run_started", data={"input": "cat", "outer_loop": "command"})
    watched = pretend(browser, web, [row()], [started, *AGENT[1:]])
    watched.wait_for_output("thinking")
    expect(watched.page.get_by_role("button", name="Interrupt")).to_be_enabled()
    for name in ("Steer…", "Pause", "Resume"):
        button = watched.page.get_by_role("button", name=name, exact=True)
        expect(button).to_be_disabled()
        expect(button).to_have_attribute("title", "needs an agent: this run is a plain command")
        expect(button).to_have_accessible_description(re.compile("needs an agent: this run is a plain command"))
    watched.page.keyboard.press("s")
    watched.page.keyboard.press("p")
    assert [kind for kind in asked(watched) if kind.startswith("command.")] == []
    # Another client may ask all the same: what came of it is said.
    summary = "Nothing was steered: this run is a plain command, without an agent."
    say(watched, control(5, "/steer: look", "cancelled", diagnostic={"summary": summary}))
    expect(watched.locator(".proof:has-text('steer')")).to_contain_text(summary)
    watched.page.context.close()
    assert watched.complaints == []


def test_pausing_and_steering_stay_asked_for_until_they_are_proven(web: Web, browser: Browser) -> None:
    watched = pretend(browser, web, [row()], AGENT)
    watched.wait_for_output("thinking")
    watched.page.keyboard.press("p")
    watched.wait(lambda: str(watched.steps("pause")), "'accepted': True", "the pause")
    assert watched.steps("pause")["paused"] is False
    clock = watched.page.evaluate("new Date().toISOString()")
    say(
        watched,
        status(5, "pausing", "running") | {"timestamp": clock},
        control(6, "/pause", "pending", timestamp=clock),
    )
    say(
        watched,
        status(7, "paused", "pausing") | {"timestamp": clock},
        control(8, "/pause", "consumed", timestamp=clock),
    )
    watched.wait_for_steps("pause")
    expect(watched.locator("#announcements")).to_contain_text("fix-auth paused")

    watched.page.keyboard.press("s")
    watched.locator("dialog textarea").fill("<img src=x onerror=window.broken=1>")
    watched.locator("dialog").get_by_role("button", name="Steer").click()
    clock = watched.page.evaluate("new Date().toISOString()")
    say(watched, control(9, "/steer: <img src=x onerror=window.broken=1>", "pending", timestamp=clock))
    watched.wait_for_steps("steer", pending="taken by the agent")
    watched.page.keyboard.press("2")
    expect(watched.locator(".between.steer p")).to_have_text("<img src=x onerror=window.broken=1>")
    say(watched, control(10, "/steer", "consumed", timestamp=clock))
    watched.wait_for_steps("steer")
    assert watched.page.evaluate("window.broken") is None
    watched.page.context.close()
    assert watched.complaints == []


def test_a_refusal_is_said_in_the_runs_words(web: Web, browser: Browser) -> None:
    watched = pretend(browser, web, [row()], AGENT)
    watched.wait_for_output("thinking")
    watched.page.evaluate("REFUSED['command.pause'] = 'The run is starting and cannot be paused yet.'")
    watched.page.get_by_role("button", name="Pause").click()
    expect(watched.locator(".proof.wrong")).to_contain_text("The run is starting and cannot be paused yet.")
    watched.page.evaluate("REFUSED['query.chat'] = 'The record cannot be read.'")
    watched.page.keyboard.press("2")
    watched.locator(".ask input").fill("why?")
    watched.page.keyboard.press("Enter")
    expect(watched.locator(".turns [role=alert]")).to_have_text("The record cannot be read.")
    expect(watched.locator(".ask input")).to_have_value("why?")
    watched.page.context.close()
    assert watched.complaints == []


def test_the_hard_way_is_offered_only_after_the_gentle_one_had_its_grace(web: Web, browser: Browser) -> None:
    watched = pretend(browser, web, [row()], AGENT)
    watched.wait_for_output("thinking")
    watched.page.evaluate(
        "list => stream().say({...batch([], 'store-a'), active_executions: list})",
        [execution({"mode": "thinking", "summary": "Implementing"})],
    )
    watched.page.get_by_role("button", name="Stop…").click()
    expect(watched.locator("dialog")).to_contain_text(
        "its worker (pid 42) and what that has started, and with it the agent's turn under way"
    )
    watched.locator("dialog select").select_option("1")
    watched.locator("dialog").get_by_role("button", name="Stop").click()
    say(watched, status(5, "stopping", "running"))
    expect(watched.page.get_by_role("button", name="Stopping")).to_be_disabled()
    kill = watched.page.get_by_role("button", name="Kill now")
    kill.click()
    watched.wait(
        lambda: str(watched.page.evaluate("asked.filter(one => one.type === 'command.stop').map(one => one.grace_ms)")),
        r"\[1000, 0\]",
        "what was asked",
    )
    say(watched, event(6, "worker_signaled", data={"generation": 1, "signal": 9}), status(7, "stopped", "stopping"))
    expect(kill).to_have_count(0)
    watched.page.context.close()
    assert watched.complaints == []


def test_a_question_leads_to_where_an_answer_goes(web: Web, browser: Browser) -> None:
    rows = [row(waiting="allow `git push`?"), row(id="0" * 12, name="held", waiting="no room on the disk")]
    watched = pretend(browser, web, rows, AGENT)
    expect(watched.locator(".question")).to_contain_text("allow `git push`?")
    watched.page.keyboard.press("Escape")
    expect(watched.locator(".runs .answer")).to_have_count(1)
    watched.page.get_by_role("link", name="Answer fix-auth").click()
    expect(watched.locator(".prompt input")).to_be_focused()
    watched.page.keyboard.type("yes")
    watched.page.keyboard.press("Enter")
    watched.wait(
        lambda: str(watched.page.evaluate("asked.filter(one => one.type === 'command.input')")),
        "'text': 'yes\\\\n'",
        "what was asked",
    )
    watched.page.context.close()
    assert watched.complaints == []


def test_who_is_at_work_is_shown_live_also_from_a_list_in_parts(web: Web, browser: Browser) -> None:
    """WP-GRANULARITY: deferred checkpoints"""
    watched = pretend(browser, web, [row()], AGENT)
    watched.wait_for_output("thinking")
    watched.page.keyboard.press("3")
    expect(watched.locator(".trace .none")).to_have_text("Nothing has been traced yet.")
    listed = json.dumps(
        [execution({"mode": "tool", "summary": "Running the tests"}, assignment="é" * 70_000)], ensure_ascii=False
    )
    digest = hashlib.sha256(listed.encode()).hexdigest()
    frame = {"active_executions": None, "active_executions_checkpoint_id": digest}
    watched.page.evaluate("frame => stream().say({...batch([], 'store-a'), ...frame})", frame)
    halves = (listed[:65_536], listed[65_536:])
    about = {"type": "active_executions_chunk", "checkpoint_id": digest, "parts": len(halves)}
    about |= {"through_sequence": 4, "store_id": "store-a", "history_after_sequence": 0}
    for part, payload in enumerate(halves):
        watched.page.evaluate("part => stream().say(part)", {**about, "part": part, "payload": payload})
    step = watched.locator(".trace .step:has(.what)")
    expect(step.locator(".title")).to_have_text("implementer: implement, attempt 1")
    expect(step).to_contain_text("Running the tests")
    finished = {"result": None, "error": "timed out", "reply": None}
    say(watched, event(5, "agent_execution_finished", data=finished, execution_id="exec-1", status="failed"))
    expect(step.locator(".state")).to_have_text("failed")
    expect(step.locator(".detail")).to_have_text("timed out")
    watched.wait_for_claim("^live · event 5 · missed nothing$")
    watched.page.context.close()
    assert watched.complaints == []


def test_a_part_that_does_not_belong_is_a_lost_connection_and_is_asked_for_again(web: Web, browser: Browser) -> None:
    watched = pretend(browser, web, [row()], AGENT)
    watched.wait_for_claim("^live · event 4 · missed nothing$")
    stray = {"type": "active_executions_chunk", "checkpoint_id": "0" * 64, "part": 0, "parts": 1, "payload": "[]"}
    watched.page.evaluate("part => stream().say(part)", stray)
    watched.wait_for_claim("^live · event 4 · reconnected, missed nothing$")
    watched.page.context.close()
