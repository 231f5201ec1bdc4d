"""What following a run gives besides its events: where it stands, and what became of the connection.

Every change of the connection is an item of its own, so that a reader never has to guess whether what it holds is
whole (docs/guide/python-client.md, "Following a run").
"""

from dataclasses import dataclass
from enum import StrEnum

from msgspec import Raw

from hopline.wire.client.events import RunEvent


@dataclass(frozen=True, slots=True)
class Position:
    """How far a run's events have been given: enough to go on from there later, in another process too.

    Args:
        sequence: the last event given; 0 for none.
        store_id: the store that counts it; "" when no server has told it.
    """

    sequence: int = 0
    store_id: str = ""


class Reason(StrEnum):
    """Why a reader has to start over; the value finishes "restarted because ..."."""

    STORE_CHANGED = "the store changed"
    FELL_BEHIND = "more came than the tail holds"
    EVENTS_DROPPED = "older events were dropped"
    EVENTS_LOST = "the store lost its newest events"


@dataclass(frozen=True, slots=True)
class Connected:
    """The first connection is there; what follows is the run from `floor` on.

    Args:
        run_id: the run that answers.
        latest_sequence: its last event at that moment: up to it, what follows is history.
        floor: events up to it are not given, but for the spine (status changes, starts and ends).
        store_id: the store that counts them.
    """

    run_id: str
    latest_sequence: int
    floor: int
    store_id: str


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The connection is lost; the next attempt is made by itself.

    Args:
        position: from where it will go on.
        reason: a sentence for a person.
        retry_seconds: how long until that attempt.
        attempt: which one in a row it is, from 1.
    """

    position: Position
    reason: str
    retry_seconds: float
    attempt: int


@dataclass(frozen=True, slots=True)
class Reconnected:
    """Connected again after a loss.

    Args:
        position: from where it goes on.
        latest_sequence: the run's last event at that moment.
        missed_nothing: what follows continues exactly; when false, a Rebootstrapped follows at once.
    """

    position: Position
    latest_sequence: int
    missed_nothing: bool


@dataclass(frozen=True, slots=True)
class Rebootstrapped:
    """What follows starts over: forget what was folded before (WP-REBOOTSTRAP).

    Args:
        reason: why.
        run_id: the run that what follows belongs to.
        store_id: the store that counts it.
        floor: events up to it are not given, but for the spine.
        before: the last position in what is superseded; with the same store, events between it and `floor` were
            skipped and `history` can still fetch them.
    """

    reason: Reason
    run_id: str
    store_id: str
    floor: int
    before: Position


@dataclass(frozen=True, slots=True)
class Executions:
    """The agent executions that are active, whole: it replaces the list that came before.

    Args:
        through_sequence: the event up to which it holds.
        executions: JSON objects as the server sent them.
    """

    through_sequence: int
    executions: tuple[Raw, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """Nothing follows; always the last item.

    Args:
        position: the last event there is.
        complete: whether the run's end is recorded; when false, its server is gone and had not ended it.
    """

    position: Position
    complete: bool


Item = RunEvent | Connected | Disconnected | Reconnected | Rebootstrapped | Executions | Finished
