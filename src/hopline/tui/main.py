"""Opens the full-screen view from the command line, and says in one line how it was left."""

import asyncio
import sys
from typing import TYPE_CHECKING

from hopline.client.targets import LocalRun, OverSsh, ssh_target
from hopline.tui.guard import TerminalGuard

if TYPE_CHECKING:
    from hopline.tui.app import HoplineApp
    from hopline.tui.watching import Watching

SIGNALLED = 128


def show_run(run: str, host: str | None) -> int:
    """`hopline attach RUN` on a terminal. Returns the worker's status once the run is over, else 0.

    Args:
        run: an id, a unique beginning of one, a name, or @last.
        host: the machine it is on, for ssh; None for this one.

    Raises what finding the run raises, before the terminal is touched.
    """
    target = LocalRun(run) if host is None else ssh_target(host, run)
    with TerminalGuard(0):
        return asyncio.run(_watch(target, host))


def show_runs(host: str | None) -> int:
    """`hopline top`. Returns 0 when it was left."""
    with TerminalGuard(0):
        return asyncio.run(_list(host))


async def _watch(target: LocalRun | OverSsh, host: str | None) -> int:
    from hopline.client.session import open_run
    from hopline.tui.watching import KEPT_BACKOFF

    async with open_run(target, backoff_seconds=KEPT_BACKOFF) as run:
        record = run.record
        assert record is not None
        from hopline.tui.app import run_app
        from hopline.tui.headings import title_of

        app = run_app(run, title_of(record), near=isinstance(target, LocalRun), host=host)
        await app.run_async()
        watching = app.shown_run.watching if app.shown_run is not None else None
        place = f"--ssh {target.host} {record.id}" if isinstance(target, OverSsh) else record.id
        return _left(app, watching, place)


async def _list(host: str | None) -> int:
    from hopline.client.roster import FarRuns, LocalRuns
    from hopline.tui.app import list_app

    if host is None:
        app = list_app(LocalRuns(), "", LocalRun("@last"))
    else:
        place = ssh_target(host, "@last")
        app = list_app(FarRuns(place), host, place)
    await app.run_async()
    return SIGNALLED + app.signal if app.signal is not None else app.return_code or 0


def _left(app: "HoplineApp", watching: "Watching | None", place: str) -> int:
    if app.return_code:
        return app.return_code
    story = watching.story if watching is not None else None
    if app.signal is not None or story is None or story.ended is None:
        sys.stderr.write(f"hopline: detached; come back: hopline attach {place}\n")
        return SIGNALLED + app.signal if app.signal is not None else 0
    worker = story.worker
    if worker is None:
        return 1
    if worker.signal is not None:
        return SIGNALLED + worker.signal
    return 1 if worker.code is None else worker.code & 0xFF
