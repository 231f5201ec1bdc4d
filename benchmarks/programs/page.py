"""`page.py LINES`: a page of `hopline web` in a real Chromium while a run writes so many lines. Says one JSON line.

Run with tests/e2e on the path: the browser and its page are those of the page's tests, and so is the load.
"""

import json
import signal
import sys
import time

from cli_rig import detached, hopline
from page_rig import Watched, Web, chromium
from playwright.sync_api import Browser

OPENINGS = 3
LOAD = """
import sys
sys.stdin.readline()
for i in range(1, {lines} + 1):
    sys.stdout.write(f"\\x1b[3{{i % 8}}mline-{{i}}\\x1b[0m of a million, each with some eighty characters\\n")
sys.stdout.flush()
sys.stdin.readline()
"""
LONG_TASKS = """
window.longTasks = []
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) window.longTasks.push(entry.duration)
}).observe({ type: 'longtask' })
"""
SHOWN = """last => {
  const rows = document.querySelectorAll('.screen:not(.filling) .xterm-rows > div')
  return [...rows].some(row => row.textContent.replaceAll('\\xa0', ' ').includes(last))
}"""


def stream(watched: Watched, run: str, lines: int) -> dict[str, float]:
    """Seconds until the last line shows, and the longest task of the main thread meanwhile."""
    watched.wait_for_claim("^live")
    watched.page.evaluate("window.longTasks = []")
    started = time.monotonic()
    hopline("send", run, "go")
    watched.page.wait_for_function(SHOWN, arg=f"line-{lines} ", timeout=60_000)
    seconds = time.monotonic() - started
    tasks = watched.page.evaluate("window.longTasks")
    return {"seconds": seconds, "longest_ms": max(tasks, default=0), "tasks": len(tasks)}


def open_again(watched: Watched, web: Web, run: str, lines: int) -> float:
    """Milliseconds from the page's address to the last line on the screen."""
    watched.page.goto("about:blank")
    started = time.monotonic()
    watched.page.goto(f"{web.origin}/#/runs/{run}", wait_until="commit")
    watched.page.wait_for_function(SHOWN, arg=f"line-{lines} ", timeout=30_000)
    return (time.monotonic() - started) * 1000


def measure(browser: Browser, web: Web, lines: int) -> dict[str, object]:
    """One run, streamed and then opened a few times."""
    watched = Watched(browser.new_context(viewport={"width": 1280, "height": 800}).new_page())
    watched.page.add_init_script(LONG_TASKS)
    run = detached("--", sys.executable, "-c", LOAD.format(lines=lines))["id"]
    watched.open(web, run)
    streamed = stream(watched, run, lines)
    openings = [open_again(watched, web, run, lines) for _ in range(OPENINGS)]
    hopline("stop", run, "--grace", "0")
    return {**streamed, "openings_ms": openings}


def main(lines: int) -> None:
    """Measure, and end what was started."""
    signal.alarm(110)
    web = Web()
    with chromium() as browser:
        found = measure(browser, web, lines)
    web.close()
    print(json.dumps(found))


main(int(sys.argv[1]))
