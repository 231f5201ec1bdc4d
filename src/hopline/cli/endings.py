"""Ends a worker or a run and waits for what is proven about it, fact by fact."""

import math
import os
import select
import signal
import sys
import time
from collections.abc import Callable

from hopline.client import Subscription, facts
from hopline.client.batches import read_batch
from hopline.client.history import bearings
from hopline.client.peers import LocalPeer, Peer
from hopline.errors import ConnectDenied, RunGone, Unavailable
from hopline.records import RunRecord, is_live
from hopline.wire.client.requests import CommandRestart, CommandStop

ACCEPT_SECONDS = 5.0
"""How long the server may take to accept a stop (frontend reference 10)."""

PATIENCE_SECONDS = 20.0
"""How much longer than the grace an ending may take: relay, launcher and the search for descendants have theirs."""


class Follower:
    """Folds a live run's facts, skipping the output in between: a flood does not delay what it waits for."""

    def __init__(self, peer: Peer, wanted: str) -> None:
        self._subscription = Subscription(peer.dial_live(wanted), tail=1, seconds=ACCEPT_SECONDS)
        self.facts = facts.RunFacts()

    def until(self, reached: Callable[[facts.RunFacts], bool], seconds: float) -> bool:
        """Wait until `reached` holds; False when the time is over or the server has left."""
        deadline = time.monotonic() + seconds
        while not reached(self.facts):
            try:
                frame = self._subscription.next_frame(max(0.0, deadline - time.monotonic()))
            except Unavailable:
                return False
            if frame is None:
                return False
            batch = read_batch(frame)
            if batch.rebootstrap:
                self.facts = facts.RunFacts()
            self.facts = facts.fold_all(self.facts, batch.events)
        return True

    def close(self) -> None:
        """Leave the stream."""
        self._subscription.close()


def stop_and_tell(peer: Peer, grace: float | None) -> int:
    """Stop the run and print the four facts. Returns 0 when the run is known to have ended, 1 otherwise.

    A server of this machine that does not answer is sent SIGTERM, which ends its run too.
    """
    try:
        follower = Follower(peer, "stop")
        with peer.dial_live("stop") as connection:
            connection.ask(CommandStop(grace_ms=_millis(grace)), ACCEPT_SECONDS)
    except (RunGone, ConnectDenied):
        raise
    except Unavailable as error:
        if not isinstance(peer, LocalPeer):
            raise
        return _stop_by_signal(peer, str(error).partition(";")[0])
    _tell("stop", "accepted")
    try:
        whole = follower.until(lambda known: known.ended is not None, _patience(grace))
    finally:
        follower.close()
    _tell_worker(peer.record, follower.facts)
    _tell("run", follower.facts.status if whole else f"not known to have ended; look again: {peer.command('show')}")
    return 0 if whole else 1


def _stop_by_signal(peer: LocalPeer, why: str) -> int:
    """SIGTERM to a server that lives and does not answer, for the reason `why`. Returns 0 once it has left."""
    record = peer.record
    try:
        server = os.pidfd_open(record.pid)
    except ProcessLookupError:
        raise RunGone(f"run {record.id} has no server any more; look at it: hopline show {record.id}") from None
    try:
        if not is_live(record.id):  # asked after the descriptor was opened: while it is held, the pid is the server's
            raise RunGone(f"run {record.id} has ended; look at it: hopline show {record.id}")
        signal.pidfd_send_signal(server, signal.SIGTERM)
        _tell("stop", f"not accepted: {why}; it was sent SIGTERM")
        poller = select.poll()
        poller.register(server, select.POLLIN)
        left = bool(poller.poll(PATIENCE_SECONDS * 1000))
    finally:
        os.close(server)
    if not left:
        _tell("server", f"still there; end it: kill -9 {record.pid}")
        return 1
    _tell("server", "left")
    known = facts.fold_all(facts.RunFacts(), bearings(peer.dial()).events)
    _tell_worker(record, known)
    _tell("run", known.status)
    return 0 if known.ended is not None else 1


def restart_and_tell(peer: Peer, grace: float | None) -> int:
    """Restart the run's worker and print what became of the old one. Returns 0 once the new one has started."""
    follower = Follower(peer, "restart")
    try:
        follower.until(lambda known: known.worker is not None, PATIENCE_SECONDS)
        before = follower.facts.worker
        old = 0 if before is None else before.generation
        with peer.dial_live("restart") as connection:
            connection.ask(CommandRestart(grace_ms=_millis(grace)), PATIENCE_SECONDS + _grace(grace))
        _tell("restart", "accepted")
        started = follower.until(
            lambda known: known.ended is not None or (known.worker is not None and known.worker.generation > old),
            _patience(grace),
        )
    finally:
        follower.close()
    known = follower.facts
    past = next((worker for worker in known.earlier if worker.generation == old), before)
    _tell("worker", facts.worker_sentence(past))
    _tell("descendants", facts.descendants_sentence(past))
    new = known.worker
    if not started or known.ended is not None or new is None or new.generation <= old:
        _tell("new worker", f"not known to have started; look again: {peer.command('show')}")
        return 1
    _tell("new worker", f"started, pid {new.pid} (generation {new.generation})")
    return 0


def _tell_worker(record: RunRecord, known: facts.RunFacts) -> None:
    """The third and the fourth fact, and who remains."""
    worker = known.worker
    _tell("worker", facts.worker_sentence(worker))
    _tell("descendants", facts.descendants_sentence(worker))
    if worker is not None and worker.retired is not None:
        for line in facts.survivor_lines(record.id, worker.retired.descendants):
            sys.stdout.write(line + "\n")


def _tell(name: str, fact: str) -> None:
    sys.stdout.write(f"{name:<12} {fact}\n")
    sys.stdout.flush()


def _millis(grace: float | None) -> int | None:
    return None if grace is None else math.ceil(grace * 1000)


def _grace(grace: float | None) -> float:
    from hopline.settings import load_settings

    return load_settings().stop_grace_seconds if grace is None else grace


def _patience(grace: float | None) -> float:
    return PATIENCE_SECONDS + _grace(grace)
