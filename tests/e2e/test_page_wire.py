"""The page against a gateway that is only pretended, for what no run of today does: agents, other stores, waiting."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from page_rig import Watched, Web, chromium
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
      const answer = { request_id: asked.request_id, ok: true, error: null, diagnostic: null, events: [], ack: null }
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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as launched:
        yield launched


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
