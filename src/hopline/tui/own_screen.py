"""The screen of a worker that has a terminal: it is sat at in place of this view, which comes back afterwards.

This view shows lines and no screen (docs/decisions/0043-a-worker-s-screen-is-sat-at.md).
"""

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator

from textual.app import App, SuspendNotSupported

from hopline.tui.watching import Watching


def has_screen(watching: Watching) -> bool:
    """Whether the worker has a terminal and lives."""
    record = watching.run.record
    return record is not None and record.pty and watching.story.writable


def sit_at(app: App[None], watching: Watching, host: str | None) -> str:
    """Give the terminal to `hopline attach --raw` until it is left. Returns what there is to say.

    Nothing is read meanwhile; what came is caught up with afterwards, as after any pause of ours.

    Args:
        host: where ssh finds the run; None for this machine.
    """
    record = watching.run.record
    if record is None or not record.pty:
        return "this worker has no screen of its own: it writes to a pipe"
    if not watching.story.writable:
        return "there is no worker whose screen could be shown"
    there = ["--ssh", host] if host is not None else []
    command = [sys.executable, "-m", "hopline", "attach", "--raw", *there, record.id]
    try:
        with app.suspend(), _left_to_the_child():
            status = subprocess.run(command, check=False).returncode
    except (SuspendNotSupported, OSError) as error:
        return f"this terminal cannot be given away ({error}); in another one: hopline attach --raw {record.id}"
    return "back from its screen" if status == 0 else f"its screen was left with status {status}"


@contextlib.contextmanager
def _left_to_the_child() -> Iterator[None]:
    """What the terminal's keys send goes to all of us, and means the child alone; a handler is not inherited by it."""
    numbers = (signal.SIGINT, signal.SIGQUIT)
    before = [signal.signal(number, lambda *_: None) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
