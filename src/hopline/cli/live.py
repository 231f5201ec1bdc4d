"""Attached to a run: the view with its keys, input and status line, and what is said when it ends."""

import os
import signal
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hopline.cli.controls import Controls
from hopline.cli.feed import InputFeed
from hopline.cli.keys import KeySource
from hopline.cli.raw_screen import RawScreen
from hopline.cli.raw_seat import RawSeat, redraw
from hopline.cli.screen import Screen
from hopline.cli.showing import ViewOptions
from hopline.cli.sinks import SinkClosed
from hopline.cli.statuses import FAILED, INTERRUPTED, PIPE_CLOSED, SIGNALLED
from hopline.cli.statusline import StatusLine
from hopline.cli.steering import Act, Steering
from hopline.cli.view import Leaving, Seat, View
from hopline.client import Subscription, facts
from hopline.client.batches import Output
from hopline.client.peers import Peer
from hopline.errors import HoplineError, Unavailable
from hopline.records import ENDED
from hopline.rendering import age, seconds_since, size

LAST_WORDS_SECONDS = 1.0
"""How long our own last words may wait for a reader."""

REDIAL_SECONDS = (0.0, 0.5, 1.0, 2.0, 4.0)
"""Waits before each attempt to resume a lost subscription."""


@dataclass(frozen=True, slots=True)
class Watch:
    """How to attach.

    Args:
        after: the cursor; events up to it are not shown.
        store_id: the store it counts in.
        as_json: events as JSON lines instead of output.
        starter: this view started the run, so that its standard input is the worker's.
        known: what is known of the run up to `after`.
        raw: our terminal, to be the worker's; None for a view of its output.
    """

    after: int = 0
    store_id: str = ""
    as_json: bool = False
    starter: bool = False
    known: facts.RunFacts = field(default_factory=facts.RunFacts)
    raw: RawSeat | None = None


def watch(peer: Peer, how: Watch, keys: KeySource) -> int:
    """Show the run until it ends or the person leaves. Returns the command's exit status."""
    steering, controls = Steering(), Controls(peer)
    screen = Screen(_status_line()) if how.raw is None else RawScreen(how.raw.terminal, how.raw.modes)
    feed = None
    try:
        if how.raw is not None and isinstance(screen, RawScreen):
            screen.begin(how.raw.recent)
            redraw(peer, how.raw)
        over = peer.record.status in ENDED and not peer.look()
        subscription = Subscription(peer.dial(), after=how.after, store_id=how.store_id)
        feed = _feed(peer, how)
        dead = over or (not peer.look() and peer.record.status not in ENDED)
        view = View(
            screen,
            ViewOptions(
                as_json=how.as_json,
                through=subscription.latest_sequence if dead else None,
                age_seconds=seconds_since(peer.record.started_at),
                held=peer.held,
                known=how.known,
                warnings=True,
                after=how.after,
            ),
            subscription,
            lambda cursor, store_id: resume(peer, cursor, store_id),
            Seat(steering, keys, controls, feed, None if how.raw is None else how.raw.terminal.size),
        )
        try:
            leaving = view.run()
            screen.leave()
            if leaving is None and view.facts.ended is None:
                screen.finish()
                screen.say(broken_off(peer, view.cursor))
                return FAILED
            if leaving is None:
                return _ended(peer, view, screen, stopped_here=steering.stopping)
            return _left(peer, leaving, screen, "" if how.raw is None else " --raw")
        except Unavailable as error:
            screen.leave()
            screen.say(_lost(peer, error))
            return FAILED
    except SinkClosed:
        return PIPE_CLOSED
    finally:
        screen.close()
        controls.close()
        if feed is not None:
            feed.close()


def resume(peer: Peer, cursor: int, store_id: str) -> Subscription | None:
    """The next subscription after a lost one, from exactly where it was; None when the run's server is dead."""
    for pause in REDIAL_SECONDS:
        time.sleep(pause)
        try:
            if peer.look():
                return Subscription(peer.connect(), after=cursor, store_id=store_id)
            if peer.record.status not in ENDED:
                return None
            return Subscription(peer.dial(), after=cursor, store_id=store_id)
        except peer.passing:
            continue
    return None


def _ended(peer: Peer, view: View, screen: Screen, *, stopped_here: bool) -> int:
    known, record = view.facts, peer.record
    worker = known.worker
    if worker is None or known.ended == "configuration_failed" or (worker.code is None and worker.signal is None):
        why = (known.reason or facts.newest_worker_sentence(worker, known.ended)).rstrip(".")
        screen.say(f"{why}; look at it: {peer.command('show')}")
    for sentence in survivors(record.id, known):
        screen.say(sentence)
    if os.isatty(2):
        spent = age(seconds_since(record.started_at))
        how = facts.newest_worker_sentence(known.worker, known.ended)
        screen.say(f"run {record.id} {known.status}: {how} · {spent} · {size(view.output_bytes)} shown")
    screen.finish(LAST_WORDS_SECONDS)
    return INTERRUPTED if stopped_here else facts.exit_status(known)


def broken_off(peer: Peer, sequence: int) -> str:
    """What to say of a run whose server is gone and whose journal holds no end."""
    if peer.record.status in ENDED:
        return f"{facts.end_missing(peer.record.status, sequence)} Look at it: {peer.command('doctor')}"
    return (
        f"run {peer.record.id} was interrupted: its server is gone; it is recorded up to event {sequence}. "
        f"Look at it: {peer.command('show')}"
    )


def show_pieces(pieces: Iterable[Output]) -> int | None:
    """Show output that is already here. Returns an exit status when nobody reads it."""
    screen = Screen()
    try:
        for piece in pieces:
            screen.show(piece.stream, piece.data)
            screen.finish()
    except SinkClosed:
        return PIPE_CLOSED
    finally:
        screen.close()
    return None


def survivors(run_id: str, known: facts.RunFacts) -> Sequence[str]:
    """What to say of processes that outlived the worker; nothing when they are gone."""
    retired = known.worker.retired if known.worker is not None else None
    if retired is None or retired.descendants.state != "remaining":
        return ()
    found = retired.descendants
    head = f"the worker ended, but {facts.descendants_sentence(known.worker)}:"
    return ("\n".join([head, *facts.survivor_lines(run_id, found)]),)


def _left(peer: Peer, leaving: Leaving, screen: Screen, option: str) -> int:
    match leaving.act:
        case Act.VANISH:
            return SIGNALLED + signal.SIGHUP
        case Act.ABANDON:
            screen.say(f"left while the run is being stopped; see what became of it: {peer.command('show')}")
            return INTERRUPTED
        case _:
            screen.say(f"detached; come back: {peer.command('attach')}{option}")
            return SIGNALLED + signal.SIGTERM if leaving.act is Act.DISMISS else 0


def _lost(peer: Peer, error: Unavailable) -> str:
    return f"{error} What is known of the run: {peer.command('show')}"


def _feed(peer: Peer, how: Watch) -> InputFeed | None:
    """Our standard input for the worker: all of it when we started the run, else only what a person types."""
    if not how.starter and not os.isatty(0):
        return None
    try:
        return InputFeed(peer.connect(), closes=how.raw is None)
    except HoplineError:
        return None


def _status_line() -> StatusLine | None:
    if not os.isatty(2) or os.environ.get("TERM", "dumb") == "dumb":
        return None
    return StatusLine(colour="NO_COLOR" not in os.environ)
