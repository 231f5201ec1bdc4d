"""A million lines through a page: it stays answerable, shows the end, and can be opened in a moment."""

import sys
import time

import pytest
from cli_rig import detached, hopline
from page_rig import Watched, Web
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.timeout(120)

LINES = 1_000_000
MILLION = f"""
import sys
sys.stdin.readline()
for i in range(1, {LINES + 1}):
    sys.stdout.write(f"\\x1b[3{{i % 8}}mline-{{i}}\\x1b[0m of a million, each with some eighty characters\\n")
sys.stdout.flush()
sys.stdin.readline()
"""
LONG_TASKS = """
window.longTasks = []
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) window.longTasks.push(Math.round(entry.duration))
}).observe({ type: 'longtask' })
"""
MAX_TASK_MILLIS = 400
"""The bar is 200 and is measured by the benchmark; here two cores may be busy with other tests."""


def test_a_million_lines_freeze_nothing_and_open_in_a_moment(browser: Browser) -> None:
    web = Web()
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    watched = Watched(context.new_page())
    watched.page.add_init_script(LONG_TASKS)
    record = detached("--", sys.executable, "-c", MILLION)
    watched.open(web, record["id"])
    watched.wait_for_claim("^live")
    watched.page.evaluate("window.longTasks = []")

    hopline("send", record["id"], "go")
    watched.wait_for_output("line-[0-9]+ of a million")
    watched.page.keyboard.press("?")
    expect(watched.locator("dialog")).to_be_visible(timeout=2000)
    watched.page.keyboard.press("Escape")
    watched.wait_for_output(f"line-{LINES} ")
    watched.wait_for_claim("^live")
    assert max(watched.page.evaluate("window.longTasks"), default=0) < MAX_TASK_MILLIS

    watched.page.goto("about:blank")
    began = time.monotonic()
    watched.page.goto(f"{web.origin}/#/runs/{record['id']}")
    watched.wait_for_output(f"line-{LINES} ")
    assert time.monotonic() - began < 5
    assert max(watched.page.evaluate("window.longTasks"), default=0) < MAX_TASK_MILLIS

    watched.page.keyboard.press("g")
    watched.wait_for_output("^line-1 of a million")
    context.close()
    web.close()
    assert watched.complaints == []
