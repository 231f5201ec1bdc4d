"""`hopline attach --raw`: this terminal in place of the one that a worker has."""

from hopline.cli import live
from hopline.cli.keys import KeySource
from hopline.cli.places import on_terminal
from hopline.cli.raw_seat import PAST_EVENTS, late_seat
from hopline.cli.raw_terminal import RawTerminal
from hopline.client.facts import RunFacts, fold_all
from hopline.client.history import bearings
from hopline.client.peers import Peer
from hopline.errors import UsageError


def attach_raw(peer: Peer) -> int:
    """Sit at the terminal of a live run's worker until the run ends or the person leaves.

    Raises UsageError without a terminal on either side, RunGone for a run that has ended.
    """
    record = peer.record
    if not record.pty:
        raise UsageError(
            f"run {record.id} ({record.name}) has no terminal to sit at; leave --raw away, or start a run with --pty."
        )
    if not on_terminal():
        raise UsageError("--raw needs a terminal on standard input and output; leave it away to watch.")
    past = bearings(peer.dial_live("sit at"), PAST_EVENTS)
    known = fold_all(RunFacts(), past.events)
    with KeySource() as keys:
        seat = late_seat(RawTerminal(), past)
        return live.watch(peer, live.Watch(after=past.sequence, store_id=past.store_id, known=known, raw=seat), keys)
