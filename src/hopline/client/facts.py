"""What is proven about a run's workers, folded from its events. Pure.

Four facts, never guessed from one another: an interrupt was delivered, the run stopped, the worker exited or was
signalled, its descendants are gone, remain, or are unknown (docs/guide, "What is proven").
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from hopline.rendering import plain, plural, signal_name
from hopline.wire.client.events import RunEvent, payload_of
from hopline.wire.client.payloads import (
    Descendant,
    Descendants,
    RunStatusChanged,
    WorkerExited,
    WorkerRetired,
    WorkerSignaled,
    WorkerStarted,
)

_SIGNALLED = 128
"""Added to a signal's number to make the exit status that shells use."""

RUN_ENDS = frozenset({"run_finished", "run_failed", "run_interrupted", "configuration_failed"})
"""Events that nothing of their run follows."""

NEVER_BEGAN = frozenset({"run_failed", "configuration_failed"})
"""Those of them that prove, without a worker before them, that none was started."""


@dataclass(frozen=True, slots=True)
class Worker:
    """One generation as its events tell it."""

    generation: int
    pid: int | None = None
    runner: str | None = None
    code: int | None = None
    signal: int | None = None
    retired: WorkerRetired | None = None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The fold. `worker` is the newest generation; None before any started."""

    status: str = "starting"
    worker: Worker | None = None
    ended: str | None = None
    """The event that ended the run; None while it lives."""
    reason: str | None = None
    """Why it failed or was interrupted, in the server's words."""
    last_sequence: int = 0
    earlier: tuple[Worker, ...] = field(default=())
    """Generations before the newest, oldest first."""


def fold(facts: RunFacts, event: RunEvent) -> RunFacts:
    """`facts` after `event`."""
    facts = replace(facts, last_sequence=max(facts.last_sequence, event.sequence))
    if event.type in RUN_ENDS:
        reason = event.diagnostic.summary if event.diagnostic is not None else event.text or None
        return replace(facts, ended=event.type, reason=reason)
    match payload_of(event):
        case RunStatusChanged(status=status):
            return replace(facts, status=status)
        case WorkerStarted() as started:
            earlier = facts.earlier if facts.worker is None else (*facts.earlier, facts.worker)
            worker = Worker(started.generation, pid=started.pid, runner=started.runner)
            return replace(facts, worker=worker, earlier=earlier)
        case WorkerExited(generation=generation, code=code):
            return _with(facts, generation, code=code)
        case WorkerSignaled(generation=generation, signal=number):
            return _with(facts, generation, signal=number)
        case WorkerRetired(generation=generation) as retired:
            return _with(facts, generation, retired=retired)
    return facts


def fold_all(facts: RunFacts, events: Iterable[RunEvent | object]) -> RunFacts:
    """`facts` after each of `events`; output among them changes nothing."""
    for event in events:
        if isinstance(event, RunEvent):
            facts = fold(facts, event)
    return facts


def _with(facts: RunFacts, generation: int, **changes: object) -> RunFacts:
    worker = facts.worker
    if worker is None or worker.generation != generation:
        worker = Worker(generation)
    return replace(facts, worker=replace(worker, **changes))  # type: ignore[arg-type]  # the field's name and value come together


def exit_status(facts: RunFacts) -> int:
    """What an attached command exits with: the worker's status, 128 + signal, or 1 when neither is known."""
    worker = facts.worker
    if worker is None:
        return 1
    if worker.signal is not None:
        return _SIGNALLED + worker.signal
    return 1 if worker.code is None else worker.code & 0xFF


def end_missing(status: str, sequence: int) -> str:
    """What to say of a run that ended and whose journal does not hold the end."""
    return (
        f"the end is missing: the record says that the run {'is ' if status == 'stopped' else ''}{status}, and the "
        f"journal breaks off after event {sequence}; what came then is lost."
    )


def worker_sentence(worker: Worker | None) -> str:
    """The third fact: `exited with status 0`, `ended by signal 9 (SIGKILL)`, or that it is not known."""
    if worker is None:
        return "not recorded"
    if worker.signal is not None:
        return f"ended by signal {signal_name(worker.signal)}"
    if worker.code is not None:
        return f"exited with status {worker.code}"
    return "running" if worker.retired is None else "unknown: nobody saw it end"


def newest_worker_sentence(worker: Worker | None, ended: str | None) -> str:
    """As `worker_sentence`, of the newest generation; that none ever started is said only where it is proven."""
    return "never started" if worker is None and ended in NEVER_BEGAN else worker_sentence(worker)


def descendants_sentence(worker: Worker | None) -> str:
    """The fourth fact: `gone`, `2 remain` or `unknown`, and what that rests on."""
    if worker is None or worker.retired is None:
        return "unknown: not looked for yet"
    found = worker.retired.descendants
    how = f" ({worker.retired.how})" if worker.retired.how else ""
    match found.state:
        case "remaining":
            verb = "remains" if len(found.processes) == 1 else "remain"
            return f"{plural(len(found.processes), 'process')} {verb}{how}"
        case "gone" | "unknown":
            return found.state + how
    return f"{found.state}{how}"


def survivor_line(run_id: str, survivor: Descendant) -> str:
    """One process that outlived its worker, and how to end it."""
    return (
        f"  {survivor.pid} {plain(survivor.name)}, started {survivor.started_at}"
        f" · end it: hopline doctor {run_id} --end {survivor.pid}@{survivor.start_time:.2f}"
    )


def survivor_lines(run_id: str, descendants: Descendants) -> list[str]:
    """A line a survivor."""
    return [survivor_line(run_id, survivor) for survivor in descendants.processes]
