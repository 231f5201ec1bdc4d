"""A real gateway and Debian's Chromium, as a person has them."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cli_rig import HOPLINE
from playwright.sync_api import Browser, Locator, Page, sync_playwright

WAIT_SECONDS = 20.0
FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, headless; nothing is downloaded."""
    program = shutil.which("chromium")
    assert program is not None, "Chromium is missing: apt-get install chromium"
    sandbox = ("--no-sandbox",) if os.getuid() == 0 else ()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*FLAGS, *sandbox])
        try:
            yield browser
        finally:
            browser.close()


class Web:
    """`hopline web`, which can be killed and started again where it was."""

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments
        self.port = 0
        self.start()

    def start(self) -> None:
        """Start it; on the same port the second time."""
        self.process = subprocess.Popen(
            [HOPLINE, "web", "--json", "--port", str(self.port), *self._arguments],
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )
        assert self.process.stdout is not None
        with self.process.stdout as told:
            self.record: dict[str, Any] = json.loads(told.readline())
        self.port = self.record["port"]

    @property
    def url(self) -> str:
        """The page with its token."""
        return str(self.record["url"])

    @property
    def origin(self) -> str:
        """What its page sends as Origin."""
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        """End it without a word."""
        self.process.kill()
        self.process.wait()

    def close(self) -> int:
        """End it as a person does; its exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(WAIT_SECONDS)


class Watched:
    """A page with everything that it complained about."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.set_default_timeout(WAIT_SECONDS * 1000)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)

    def open(self, web: Web, run: str | None = None) -> "Watched":
        """Open the page with its token, then a run."""
        self.page.goto(web.url)
        self.page.wait_for_selector(".runs, .empty")
        if run is not None:
            self.page.evaluate("run => { location.hash = `#/runs/${run}` }", run)
            self.page.wait_for_selector(".run-bar")
        return self

    def forgive_the_network(self) -> None:
        """Forget what the browser said about a gateway that was not there."""
        self.complaints[:] = [said for said in self.complaints if "net::ERR_" not in said]

    def locator(self, selector: str) -> Locator:
        """See Page.locator."""
        return self.page.locator(selector)

    def output(self) -> str:
        """The lines of the terminal that are in view."""
        text: str = self.page.evaluate(
            "() => [...document.querySelectorAll('.screen:not(.filling) .xterm-rows > div')]"
            ".map(row => row.textContent.trimEnd()).join('\\n')"
        )
        return text.replace("\xa0", " ")

    def wait_for_output(self, pattern: str) -> str:
        """Until what is in view matches."""
        return self.wait(lambda: self.output(), pattern, "the output")

    def wait_for_claim(self, pattern: str) -> str:
        """Until the connection line matches."""
        return self.wait(lambda: " ".join(self.locator(".claim").inner_text().split()), pattern, "the connection line")

    def wait(self, read: Any, pattern: str, what: str) -> str:
        """Until `read()` matches the pattern; what it was then."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not re.search(pattern, text := read()):
            assert time.monotonic() < deadline, f"{what} never matched {pattern!r}; it is {text!r}"
            self.page.wait_for_timeout(30)
        return str(text)

    def steps(self, title: str) -> dict[str, bool]:
        """What is proven of an action: step by step, whether it was reached."""
        section = self.locator(f".proof:has(h3:has-text('{title}'))")
        return {
            item.locator("span").first.inner_text(): "reached" in (item.get_attribute("class") or "")
            for item in section.locator(".steps li").all()
        }

    def wait_for_steps(self, title: str, *, pending: str | None = None) -> dict[str, bool]:
        """Until every step of an action is reached, or all but `pending`."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not (found := self.steps(title)) or not all(found[step] for step in found if step != pending):
            assert time.monotonic() < deadline, f"{title}: {found}"
            self.page.wait_for_timeout(30)
        return found
