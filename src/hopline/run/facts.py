"""What the record of a run says of it, for a person who asks without an agent: folded from spine events. Pure."""

import msgspec

from hopline.wire.client.events import RunEvent
from hopline.wire.client.payload import Payload
from hopline.wire.client.payloads import (
    JournalDropped,
    RunStarted,
    WorkerExited,
    WorkerRetired,
    WorkerSignaled,
    WorkerStarted,
)

ENDS = frozenset({"run_finished", "run_failed", "run_interrupted", "configuration_failed"})


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """The newest of each; None where nothing has been recorded."""

    outer_loop: str | None = None
    command: str | None = None
    started_at: str | None = None
    generation: int = 0
    pid: int | None = None
    runner: str | None = None
    cwd: str | None = None
    outcome: str | None = None
    """How the newest worker ended, as a sentence's end: "exited with status 1"."""
    descendants: str | None = None
    """gone, remaining or unknown."""
    remaining: tuple[str, ...] = ()
    """Name and pid of each process that outlived the newest worker."""
    ended_at: str | None = None
    failure: str | None = None
    """The summary of what ended the run, when it did not complete."""
    rounds: int = 0
    dropped: int = 0
    """Events that drop-oldest took away."""


def with_event(facts: Facts, event: RunEvent, payload: Payload | None) -> Facts:
    """`facts` after `event`, whose typed payload is `payload`."""
    change = msgspec.structs.replace
    match payload:
        case RunStarted():
            return change(facts, outer_loop=payload.outer_loop, command=payload.input, started_at=event.timestamp)
        case WorkerStarted():
            return change(
                facts,
                generation=payload.generation,
                pid=payload.pid,
                runner=payload.runner,
                cwd=payload.cwd,
                outcome=None,
                descendants=None,
                remaining=(),
            )
        case WorkerExited():
            return change(facts, outcome=f"exited with status {payload.code}")
        case WorkerSignaled():
            return change(facts, outcome=f"was ended by signal {payload.signal}")
        case WorkerRetired():
            found = payload.descendants
            remaining = tuple(f"{one.name} (pid {one.pid})" for one in found.processes)
            return change(facts, descendants=found.state, remaining=remaining)
        case JournalDropped():
            return change(facts, dropped=facts.dropped + payload.last_sequence - payload.first_sequence + 1)
        case _:
            return _untyped(facts, event)


def _untyped(facts: Facts, event: RunEvent) -> Facts:
    change = msgspec.structs.replace
    match event.type:
        case kind if kind in ENDS:
            failure = event.diagnostic.summary if event.diagnostic is not None else None
            return change(facts, ended_at=event.timestamp, failure=failure)
        case "round_finished":
            return change(facts, rounds=facts.rounds + 1)
        case _:
            return facts
