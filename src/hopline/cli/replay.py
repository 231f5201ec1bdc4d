"""Replays a run up to now, or on until its end: output byte for byte, or events as JSON lines."""

from dataclasses import dataclass

from hopline.cli.live import resume
from hopline.cli.screen import Screen
from hopline.cli.showing import ViewOptions
from hopline.cli.sinks import SinkClosed
from hopline.cli.statuses import DONE, FAILED, PIPE_CLOSED
from hopline.cli.view import View
from hopline.client import Connection, Subscription
from hopline.client.facts import RunFacts, end_missing, fold_all
from hopline.client.history import bearings, last_lines
from hopline.client.memory import keep_large_blocks
from hopline.client.peers import Peer
from hopline.records import ENDED


@dataclass(frozen=True, slots=True)
class Replay:
    """What of a run to replay.

    Args:
        follow: go on until the run ends.
        raw: both streams to standard output.
        as_json: events instead of output.
        after: the cursor to begin after.
        tail: begin with the last so many lines, or events with `as_json`; None for all.
        stream: only this one's output.
    """

    follow: bool = False
    raw: bool = False
    as_json: bool = False
    after: int = 0
    tail: int | None = None
    stream: str | None = None


def replay(peer: Peer, connection: Connection, what: Replay) -> int:
    """Replay the run over `connection`, which is taken over.

    Returns the exit status: that of a failure when something of what was asked is missing, unless it was a part.
    """
    keep_large_blocks()
    here = bearings(connection)
    known = fold_all(RunFacts(), here.events)
    after, whole = what.after, True
    screen = Screen(merged=what.raw)
    try:
        if what.tail is not None and what.as_json:
            after = max(0, here.sequence - what.tail)
        elif what.tail is not None:
            with peer.dial() as queries:
                for piece in last_lines(queries, here.sequence, what.tail, what.stream):
                    screen.show(piece.stream, piece.data)
                    screen.finish()
            after = here.sequence
        through = None if what.follow and known.ended is None and peer.look() else here.sequence
        if through is None or after < through:
            options = ViewOptions(as_json=what.as_json, stream=what.stream, through=through, after=after)
            subscription = Subscription(peer.dial(), after=after, store_id=here.store_id)
            view = View(screen, options, subscription, lambda *place: resume(peer, *place))
            view.run()
            known, whole = fold_all(view.facts, here.events), view.gaps.whole
        if known.ended is None and not peer.look() and peer.record.status in ENDED:
            screen.say(end_missing(peer.record.status, here.sequence))
            whole = False
        screen.finish()
    except SinkClosed:
        return PIPE_CLOSED
    finally:
        screen.close()
    part = what.tail is not None or what.after > 0
    return DONE if whole or (part and known.ended is not None) else FAILED
