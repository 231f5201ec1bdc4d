"""Looking back without replaying everything: what the spine tells of a run, and its last lines of output."""

from dataclasses import dataclass

import msgspec

from hopline.client.batches import Output, read_batch, read_outputs
from hopline.client.connection import ANSWER_SECONDS, Connection
from hopline.client.subscription import Subscription
from hopline.errors import ConnectFailed, RunGone
from hopline.wire.client.events import RunEvent
from hopline.wire.client.requests import QueryEvents

FIRST_WINDOW_EVENTS = 8
MAX_WINDOW_EVENTS = 512


@dataclass(frozen=True, slots=True)
class Bearings:
    """Where a run stands at one moment.

    Args:
        sequence: the last event then; a subscription after it continues from here.
        store_id: the store that counts it.
        events: the spine and the newest events, oldest first.
    """

    sequence: int
    store_id: str
    events: list[Output | RunEvent]


def bearings(connection: Connection, tail: int = 1) -> Bearings:
    """Where the run stands; takes `connection` over and closes it. Costs the same for a long run as for a short one.

    Args:
        connection: a fresh one.
        tail: how many of the newest events to read.
    """
    subscription = Subscription(connection, tail=tail)
    events: list[Output | RunEvent] = []
    try:
        while (frame := subscription.next_frame(ANSWER_SECONDS)) is not None:
            batch = read_batch(frame)
            events += batch.events
            if batch.through_sequence >= subscription.latest_sequence:
                return Bearings(batch.through_sequence, batch.store_id, events)
    finally:
        subscription.close()
    raise RunGone("the run's server left before it told where the run stands; try again.")


def last_lines(connection: Connection, through: int, count: int, stream: str | None = None) -> list[Output]:
    """The pieces that hold the last `count` lines of output up to sequence `through`, the first piece cut to fit.

    Args:
        connection: a fresh one, for queries; stays the caller's.
        stream: only this stream's lines; None for both, in the order they were recorded.
    """
    kept: list[Output] = []
    newlines_left = count
    before, window = through + 1, FIRST_WINDOW_EVENTS
    while count > 0 and before > 1:
        after = max(0, before - 1 - window)
        for piece in reversed(_between(connection, after, before)):
            if not piece.data or stream not in (None, piece.stream):
                continue
            if not kept and piece.data.endswith(b"\n"):
                newlines_left += 1  # the one that ends the last line, besides those that begin `count` lines
            found = piece.data.count(b"\n")
            if found >= newlines_left:
                return [*_after_newline(piece, newlines_left), *reversed(kept)]
            newlines_left -= found
            kept.append(piece)
        before, window = after + 1, min(window * 2, MAX_WINDOW_EVENTS)
    return list(reversed(kept))


def _after_newline(piece: Output, nth_from_end: int) -> list[Output]:
    """What follows the `nth_from_end` newline of `piece`, counted from its end; nothing when that is empty."""
    end = len(piece.data)
    for _ in range(nth_from_end):
        end = piece.data.rindex(b"\n", 0, end)
    rest = piece.data[end + 1 :]
    return [Output(piece.sequence, piece.stream, rest)] if rest else []


def _between(connection: Connection, after: int, before: int) -> list[Output]:
    """Every output event with after < sequence < before; a Response may hold fewer than asked for."""
    found: list[Output] = []
    while True:
        response = connection.ask(QueryEvents(after_sequence=after, before_sequence=before))
        try:
            events = read_outputs(response.events)
        except msgspec.MsgspecError as error:
            raise ConnectFailed(f"the run's server sent events that cannot be read: {error}") from error
        if not events:
            return found
        found += [event for event in events if isinstance(event, Output)]
        after = events[-1].sequence
        if after >= before - 1:
            return found
