"""What this machine tells its peers of itself: its live runs every 5 s, its tools and addresses every 10 minutes."""

import asyncio
import contextlib
import os
import platform
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from hopline import __version__
from hopline.errors import HoplineError
from hopline.rendering import seconds_since
from hopline.roster import LocalRuns, Row
from hopline.wire.peer.heartbeat import Capabilities, SessionRow, Telemetry, Tool
from hopline.wire.peer.texts import shown

COLLECT_SECONDS = 5.0
LOOK_AROUND_SECONDS = 600.0
"""How often tools and addresses are looked for again."""

TOOLS = ("claude", "git", "gh", "python3", "node", "docker")
MAX_VERSION_BYTES = 1 << 16
VERSION_SECONDS = 2.0
"""How long a tool may take to say its version."""

_STATUSES = {
    "starting": "Processing",
    "running": "Processing",
    "pausing": "Processing",
    "paused": "Waiting",
    "stopping": "Processing",
}


def session_row(row: Row) -> SessionRow:
    """A live run as peers list it. Its id is what HOPLINE_SESSION is for its worker, so leases are renewed by it."""
    record = row.record
    return SessionRow(
        pid=record.pid,
        project=shown(record.name or Path(record.cwd).name or record.cwd),
        session_id=record.id,
        status="Waiting" if record.waiting else _STATUSES.get(record.status, "Unknown"),
        telemetry=Telemetry("No transcript", False),
        elapsed_secs=int(seconds_since(record.started_at)),
    )


async def capabilities() -> Capabilities:
    """The tools on PATH, asked side by side for their versions."""
    told = await asyncio.gather(*map(_tool, TOOLS))
    system = "macos" if platform.system() == "Darwin" else platform.system().lower()
    arch = {"arm64": "aarch64", "amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    tools = dict(zip(TOOLS, told, strict=True))
    return Capabilities(claudectl_version=__version__, os=system, arch=arch, tools=tools)


async def _tool(name: str) -> Tool:
    path = shutil.which(name)
    if path is None:
        return Tool("missing")
    try:
        asked = await asyncio.create_subprocess_exec(
            path,
            "--version",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            limit=MAX_VERSION_BYTES,
            start_new_session=True,
        )
    except OSError:
        return Tool("present")
    assert asked.stdout is not None, "it was asked for"
    try:
        async with asyncio.timeout(VERSION_SECONDS):
            line = await asked.stdout.readline()
    except (TimeoutError, ValueError):
        return Tool("present")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(asked.pid, signal.SIGKILL)  # it has said what was asked, and what it started goes with it
        await asked.wait()
    return Tool("present", shown(line.decode("utf-8", "replace").strip()) or None)


class Collection:
    """Keeps what the hub tells current.

    Args:
        collected: is given the sessions and the monotonic time of the look.
        equipped: is given the tools.
        placed: is given the addresses.
        listen: the addresses at present.
        changed: is told the monotonic time when tools or addresses are others than before.
    """

    def __init__(
        self,
        collected: Callable[[list[SessionRow], float], None],
        equipped: Callable[[Capabilities], None],
        placed: Callable[[list[str]], None],
        listen: Callable[[], list[str]],
        changed: Callable[[float], None],
    ) -> None:
        self._collected = collected
        self._equipped = equipped
        self._placed = placed
        self._listen = listen
        self._changed = changed
        self._runs = LocalRuns()

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._look_around())
            while True:
                self.collect(await asyncio.to_thread(self._sessions))
                await asyncio.sleep(COLLECT_SECONDS)

    def collect(self, rows: list[SessionRow]) -> None:
        """These are the live runs now."""
        self._collected(rows, time.monotonic())

    def _sessions(self) -> list[SessionRow]:
        try:
            roster = self._runs.look(time.monotonic())
        except (HoplineError, OSError):
            return []
        return [session_row(row) for row in roster.rows.values() if row.live]

    async def _look_around(self) -> None:
        told: tuple[list[str], Capabilities] | None = None
        while True:
            listen = await asyncio.to_thread(self._listen)
            self._placed(listen)  # at once: looking at tools takes seconds
            tools = await capabilities()
            self._equipped(tools)
            if (listen, tools) != told:
                told = (listen, tools)
                self._changed(time.monotonic())
            await asyncio.sleep(LOOK_AROUND_SECONDS)


def host_name() -> str:
    """What this machine calls itself."""
    return os.environ.get("HOSTNAME") or os.uname().nodename
