"""Where a reader of a run stands, across connections: what to ask next, what a frame means, when to dial again. Pure.

Continuation is decided by the dial, the marker and the store id, never by contiguous sequences (docs/wire/client.md,
"Resuming"; frontend reference 7.3 and 7.6). Time is an argument; nothing here waits.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hopline.client.checkpoints import Fault
from hopline.client.facts import RUN_ENDS
from hopline.client.items import Connected, Disconnected, Item, Position, Reason, Rebootstrapped, Reconnected
from hopline.wire.client.events import RunEvent
from hopline.wire.client.requests import Subscribe
from hopline.wire.client.streams import EventBatch

BACKOFF_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Waits before each attempt to dial again; after the last one the reader is told (reference 7.6)."""


@dataclass(frozen=True, slots=True)
class GaveUp:
    """No attempt is left; `sentence` says so to a person."""

    sentence: str


@dataclass(frozen=True, slots=True)
class StartOver:
    """What the server counts cannot continue what was given: dial again at once, from the start."""


@dataclass(frozen=True, slots=True)
class _Form:
    """Which optional fields a subscribe carries; a server that refuses one is asked without it."""

    tail: bool
    store: bool


class Resume:
    """Follows one run from `after` on.

    `request` is sent on each new connection. A refusal goes to `rejected`, the acknowledgement to `acknowledged`, each
    frame to `receive`, the loss of a connection to `lost`, which gives the time of the next attempt.

    Args:
        after: where the reader stands.
        tail: begin with at most this many of the newest events, with the spine before them; None for all after `after`.
        backoff_seconds: the waits.
    """

    def __init__(
        self,
        after: Position | None = None,
        tail: int | None = None,
        backoff_seconds: Iterable[float] = BACKOFF_SECONDS,
    ) -> None:
        self.position = after or Position()
        """The last event that was given, and its store."""
        self.run_id = ""
        """The run that answers; "" until it is known."""
        self.floor = 0
        self.latest_sequence = 0
        """The newest event that the server has told of."""
        self.over = False
        """Whether the newest event that was given ends the run."""
        self.applied = True
        """Whether the last frame was this run's: when not, nothing else that it carried counts (reference 7.3)."""
        self._tail = tail
        self._backoff = tuple(backoff_seconds)
        self._attempt = 0
        self._lost_at = 0.0
        self._retry_at: float | None = None
        self._connected = False
        self._fresh = True
        self._announced_run = ""
        self._start_over: Reason | None = None
        self._refused_tail = False
        self._refused_store = False
        self._form = _Form(False, False)

    def request(self) -> Subscribe:
        """What to send on a new connection, or again on the same one after a refusal that `rejected` took."""
        self._fresh = True
        self._retry_at = None
        boot = not self._connected or self._start_over is not None
        at = Position() if self._start_over is not None else self.position
        tail = self._tail if boot and not self._refused_tail else None
        store_id = "" if self._refused_store else at.store_id
        self._form = _Form(tail is not None, bool(store_id))
        return Subscribe(after_sequence=at.sequence, tail=tail, store_id=store_id)

    def rejected(self) -> bool:
        """The server refused the request. Whether to ask again, without what an older server may not know."""
        if self._form.tail:
            self._refused_tail = True
        elif self._form.store:
            self._refused_store = True
        else:
            return False
        return True

    def acknowledged(self, run_id: str, latest_sequence: int) -> None:
        """The server accepted the request."""
        self._announced_run = run_id
        self.latest_sequence = latest_sequence

    def receive(self, batch: EventBatch) -> list[Item] | Fault | StartOver:
        """The items of one frame, oldest first; the position moves with them."""
        if self._fresh:
            return self._first(batch)
        if batch.rebootstrap:
            reason = Reason.STORE_CHANGED if self._other_store(batch) else self._shortened(batch)
            return [self._restart(batch, reason), *self._events(batch)]
        if self._other_store(batch):
            return Fault("the store changed without a word")
        if batch.through_sequence < self.position.sequence:
            return Fault(f"the cursor went back from {self.position.sequence} to {batch.through_sequence}")
        return self._events(batch)

    def receive_event(self, event: RunEvent) -> list[Item] | Fault | StartOver:
        """One event of the legacy form, with no batch around it."""
        through = max(event.sequence, self.position.sequence)
        return self.receive(EventBatch(events=[event], through_sequence=through, store_id=self.position.store_id))

    def lost(self, reason: str, now: float) -> Disconnected | GaveUp:
        """The connection ended, or could not be made. `next_deadline` is the time of the next attempt."""
        if self._attempt == 0:
            self._lost_at = now
        if self._attempt >= len(self._backoff):
            tries, seconds = self._attempt, now - self._lost_at
            return GaveUp(
                f"the run cannot be reached: {reason} {tries} attempts in {seconds:.1f} s failed; the last event here "
                f"is {self.position.sequence}."
            )
        wait = self._backoff[self._attempt]
        self._attempt += 1
        self._retry_at = now + wait
        return Disconnected(self.position, reason, wait, self._attempt)

    def next_deadline(self) -> float | None:
        """When to dial again; None while connected."""
        return self._retry_at

    @property
    def caught_up(self) -> bool:
        """Whether everything the server had told of when it accepted was given."""
        return self._connected and not self._fresh and self.position.sequence >= self.latest_sequence

    def _first(self, batch: EventBatch) -> list[Item] | Fault | StartOver:
        """The first frame of a connection: a continuation, or a fresh fold that no marker announces."""
        self._fresh = False
        before, begun = self.position, self._connected
        reason = self._start_over or self._broken(batch)
        if reason is not None and self._start_over is None and self._partial(batch, reason):
            self._start_over = reason
            return StartOver()
        if reason is None and self.run_id and self._announced_run not in ("", self.run_id):
            return Fault(f"run {self._announced_run} answers now instead of {self.run_id}")
        self._start_over = None
        self._connected = True
        self._attempt = 0
        restarted = [] if reason is None else [self._restart(batch, reason)]
        if reason is None:
            self.run_id = self.run_id or self._announced_run
            self.floor = batch.history_after_sequence
            self.position = replace(before, store_id=batch.store_id or before.store_id)
        opening: Item
        if begun:
            opening = Reconnected(before, self.latest_sequence, missed_nothing=reason is None)
        else:
            store_id = batch.store_id or before.store_id
            opening = Connected(self.run_id, self.latest_sequence, batch.history_after_sequence, store_id)
        return [opening, *restarted, *self._events(batch)]

    def _broken(self, batch: EventBatch) -> Reason | None:
        """Why the first frame does not continue what was given; None when it does."""
        if self._other_store(batch):
            return Reason.STORE_CHANGED
        if batch.through_sequence < self.position.sequence:
            return Reason.EVENTS_LOST
        if self._form.tail:
            return None
        held = self.floor if self._connected else self.position.sequence
        return Reason.EVENTS_DROPPED if batch.history_after_sequence > held else None

    def _partial(self, batch: EventBatch, reason: Reason) -> bool:
        """Whether the frame that starts over lacks what came before our cursor, because the server took it for its own.

        A server that was told the store replays another one from its start; one that was not cannot.
        """
        if reason is Reason.EVENTS_DROPPED or self.position.sequence == 0:
            return False
        return reason is Reason.EVENTS_LOST or not self._form.store

    def _other_store(self, batch: EventBatch) -> bool:
        known = self.position.store_id
        return bool(known and batch.store_id and batch.store_id != known)

    def _shortened(self, batch: EventBatch) -> Reason:
        return Reason.FELL_BEHIND if self._tail is not None else Reason.EVENTS_DROPPED

    def _restart(self, batch: EventBatch, reason: Reason) -> Rebootstrapped:
        before = self.position
        self.position = Position(0, batch.store_id or before.store_id)
        self.floor = batch.history_after_sequence
        self.run_id = next((event.run_id for event in batch.events if event.run_id), "") or self._announced_run
        self.over = False
        return Rebootstrapped(reason, self.run_id, self.position.store_id, self.floor, before)

    def _events(self, batch: EventBatch) -> list[Item]:
        """The events that are new and of this run. A foreign one is left out, and the frame's cursor with it."""
        given: list[Item] = []
        last, foreign = self.position.sequence, False
        for event in batch.events:
            if event.run_id and event.run_id != self.run_id:
                if self.run_id:
                    foreign = True
                    continue
                self.run_id = event.run_id
            if event.sequence <= last:
                continue
            last = event.sequence
            given.append(event)
            if event.type in RUN_ENDS:
                self.over = True
            elif event.type == "run_started":
                self.over = False
        self.applied = not foreign
        if not foreign:
            last = max(last, batch.through_sequence)
        self.latest_sequence = max(self.latest_sequence, last)
        self.position = replace(self.position, sequence=last)
        return given
