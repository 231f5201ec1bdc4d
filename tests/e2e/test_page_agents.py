"""What agents did, on the page: the record of a run that is over, opened in a browser, and a live run's search."""

import re

import pytest
from cli_rig import detached, wait_for_output
from page_record import Story
from page_rig import Watched, Web
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.timeout(120)

ATTACK = "<img src=x onerror=window.broken=1><script>broken=1</script>"


def search_run() -> Story:
    """A search of one round, with its spans, and much output after it."""
    story = Story()
    story.span("span_started", "root", name="search")
    story.span("span_started", "work", "root", name="Cache the plan")
    story.turn("inv-1", "I will look at the hot loop.", span_id="work", round_label="round 1")
    story.span("span_ended", "work", "root", name="Cache the plan", status="done", ended_at="2026-01-01T12:01:30Z")
    story.turn("inv-2", "", error="timed out after 40 s", round_label="round 2")
    story.add("round_finished").add("chat", text="why did round 2 regress?")
    for number in range(150):
        story.output(f"line-{number}\n", seconds=2)
    story.span("span_ended", "root", name="search", status="failed", ended_at="2026-01-01T12:10:00Z")
    return story.end()


def test_a_trace_is_a_tree_with_states_times_and_costs(web: Web, watched: Watched) -> None:
    watched.open(web, search_run().written())
    watched.wait_for_claim("^ended")
    watched.page.keyboard.press("3")
    trace = watched.locator(".trace > ul")
    root = trace.locator("> li").first
    expect(root.locator("> .step .title")).to_have_text("search")
    expect(root.locator("> .step .state")).to_have_text("failed")
    expect(root.locator("> .step .figure").first).to_have_text("10m 00s")
    below = root.locator("> ul > li").first
    expect(below.locator("> .step .title")).to_have_text("Cache the plan")
    # The spans are the run's own fold; the turns in them are above the tail, and looked for there.
    expect(watched.locator(".older")).to_have_count(0)
    expect(below.locator("> ul .title")).to_have_text("implementer: implement, attempt 1")
    expect(root.locator("> .step .figure").nth(1)).to_have_text("1.5k")
    expect(root.locator("> .step .figure").nth(2)).to_have_text("$0.0125")
    expect(trace).to_contain_text("timed out after 40 s")
    expect(watched.locator(".run-bar .summary")).to_contain_text("$0.025")

    root.locator("> .step button").first.click()
    expect(root.locator("> .step button").first).to_have_attribute("aria-expanded", "false")
    expect(below).to_have_count(0)


def test_turns_tell_what_was_said_called_and_asked_the_newest_first(web: Web, watched: Watched) -> None:
    watched.open(web, search_run().written())
    watched.wait_for_claim("^ended")
    watched.page.keyboard.press("2")
    entries = watched.locator(".turns > ol > li")
    expect(entries).to_have_count(4)  # found above the tail, without being asked
    expect(entries.nth(0)).to_contain_text("Because the cache was cold.")
    expect(entries.nth(1)).to_contain_text("pass after 2 attempts, 1,234.5 req/s")
    expect(entries.nth(2).locator("button")).to_have_attribute("aria-expanded", "true")
    expect(entries.nth(2)).to_contain_text("timed out after 40 s")
    expect(entries.nth(3)).not_to_contain_text("hot loop")
    entries.nth(3).locator("button").click()
    expect(entries.nth(3)).to_contain_text("I will look at the hot loop.")
    entries.nth(3).locator(".call summary").click()
    expect(entries.nth(3).locator(".call pre")).to_contain_text("12 passed")


def test_a_question_about_a_run_that_is_over_is_answered_from_its_record(web: Web, watched: Watched) -> None:
    watched.open(web, search_run().written())
    watched.wait_for_claim("^ended")
    watched.page.keyboard.press("2")
    watched.locator(".ask input").fill("what is the status?")
    watched.page.keyboard.press("Enter")
    answer = watched.locator(".turns > .between")
    expect(answer.locator("h3")).to_have_text("what is the status?")
    expect(answer).to_contain_text("completed")


def test_the_rate_of_the_output_is_drawn_over_its_time(web: Web, watched: Watched) -> None:
    watched.open(web, search_run().written())
    watched.wait_for_claim("^ended")
    expect(watched.locator(".rate canvas")).to_be_visible()
    picture = watched.page.get_by_role("img", name="Output rate from 12:0")
    expect(picture).to_have_attribute("aria-label", re.compile("of the events that are loaded: most 9 B/s at 12:0"))
    drawn = watched.locator(".rate canvas").evaluate(
        "canvas => new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size"
    )
    assert drawn > 4
    watched.locator(".rate .u-over").hover()
    expect(watched.locator(".rate .quiet").first).to_contain_text("B/s at 12:0")


def test_the_first_view_does_without_the_libraries_of_a_run(web: Web, browser: Browser) -> None:
    page = browser.new_context().new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(web.url)
    page.wait_for_selector(".empty")
    page.wait_for_load_state("networkidle")
    assert [url for url in asked if "uplot" in url.lower()] == []
    page.context.close()


def test_nothing_that_an_agent_says_becomes_markup(web: Web, watched: Watched) -> None:
    """WG-NO-MARKUP"""
    story = Story()
    label = {"kind": ATTACK, "title": ATTACK, "verdict": ATTACK, "attrs_json": "{}", "links": []}
    failure = {"kind": "outcome", "message": ATTACK}
    story.span("span_started", ATTACK, name=ATTACK, label=label, status="failed", failure=failure)
    story.turn(ATTACK, ATTACK, error=ATTACK, agent_kind=ATTACK, round_label=ATTACK)
    open_turn = {"execution_id": "open", "agent_kind": ATTACK}
    about = {"stage": ATTACK, "user_prompt": ATTACK, "provider": ATTACK, "model": ATTACK}
    story.add("agent_execution_started", data=about, **open_turn)
    story.add("tool_call", data={"tool": ATTACK, "args": {"command": ATTACK}}, **open_turn)
    story.add("tool_result", data={"tool": ATTACK, "content": ATTACK}, **open_turn)
    story.add("todo_update", data={"todos": [{"content": ATTACK, "status": ATTACK}]}, **open_turn)
    story.add("control", text=f"/steer: {ATTACK}", status="pending")
    story.add("chat", text=ATTACK, data={"answer": ATTACK})
    story.add("judge_result", data={"verdict": ATTACK, "feedback": ATTACK})
    story.add("quota_paused", data={"provider": ATTACK, "detail": ATTACK})
    watched.open(web, story.end().written())
    watched.wait_for_claim("^ended")
    for digit in "2345":
        watched.page.keyboard.press(digit)
        closed = watched.locator(".event-list button[aria-expanded=false]")
        while closed.count():
            closed.first.click()
        for summary in watched.locator(".event-list summary").all():
            summary.click()
        text = watched.locator("#app").inner_text()
        assert digit == "5" or ATTACK in text
    assert watched.page.evaluate("window.broken") is None
    assert watched.page.evaluate("document.querySelectorAll('#app img, #app script').length") == 0


def test_a_plain_command_says_in_a_sentence_what_it_does_not_have(web: Web, watched: Watched) -> None:
    record = detached("--", "sh", "-c", "echo ready; cat")
    wait_for_output(record["id"], b"ready")
    watched.open(web, record["id"])
    watched.wait_for_claim("^live")
    watched.page.keyboard.press("2")
    expect(watched.locator(".event-list .none")).to_have_text(
        "A plain command takes no turns: its output is all it says."
    )
    watched.page.keyboard.press("3")
    expect(watched.locator(".event-list .none")).to_have_text(
        "A plain command has no trace: what is known of its worker stands under Proven."
    )
    # What is asked of a live run is recorded, for everybody.
    watched.page.keyboard.press("2")
    watched.locator(".ask input").fill("status")
    watched.locator(".ask button").click()
    expect(watched.locator(".turns li")).to_contain_text("running")


def test_search_goes_above_what_is_held_and_can_be_cancelled(web: Web, watched: Watched) -> None:
    story = Story("command")
    for number in range(6000):
        story.output(f"{'needle' if number == 40 else 'line'}-{number} {'x' * 300}\n", seconds=0.01)
    watched.open(web, story.end().written())
    watched.wait_for_output("line-5999")
    watched.page.keyboard.press("/")
    watched.page.keyboard.type("needle-40")
    expect(watched.locator(".find .found")).to_have_text("none")
    expect(watched.locator(".beyond")).to_contain_text("earlier events not searched")

    # The answer to one page is held back, so that the search is seen under way.
    watched.page.evaluate(
        """() => {
          const message = WebSocket.prototype.send
          WebSocket.prototype.send = function (text) {
            if (text.includes('query.events')) window.later = () => message.call(this, text)
            else message.call(this, text)
          }
          window.restore = () => { WebSocket.prototype.send = message; window.later() }
        }"""
    )
    watched.page.get_by_role("button", name="Search above").click()
    expect(watched.locator(".beyond")).to_contain_text("searching above")
    watched.page.get_by_role("button", name="Cancel").click()
    expect(watched.page.get_by_role("button", name="Search on")).to_be_visible()
    watched.page.evaluate("window.restore()")
    watched.page.get_by_role("button", name="Search on").click()
    watched.wait_for_output("needle-40 ")
    expect(watched.locator(".find .found")).to_have_text("1 of 1")
    expect(watched.locator(".beyond")).to_contain_text("newer events not searched")
    watched.page.keyboard.press("Escape")
    watched.locator(".stage").click(position={"x": 5, "y": 5})
    watched.page.keyboard.press("G")
    watched.wait_for_output("line-5999")


def test_the_views_of_agents_fit_a_phone(web: Web, browser: Browser) -> None:
    run = search_run().written("a-search-with-quite-a-long-name")
    context = browser.new_context(viewport={"width": 390, "height": 800}, is_mobile=True, has_touch=True)
    watched = Watched(context.new_page()).open(web, run)
    watched.wait_for_claim("^ended")
    for name in ("Turns", "Trace", "Events", "Proven"):
        watched.page.get_by_role("button", name=name, exact=True).tap()
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= 390
        for control in watched.locator(".turn, .step button, .ask button, .tabs button").all():
            box = control.bounding_box()
            assert box is not None
            assert box["height"] >= 44
    expect(watched.locator(".rate canvas")).to_be_visible()
    context.close()
    assert watched.complaints == []
