"""What is known of one run, folded from its events, each fact with its time. Pure; the same as on the page.

Four facts are kept apart and never guessed from one another: an interrupt was delivered, the run stopped, the worker
exited or was signalled, its descendants are gone, remain, or are unknown (docs/guide, "What is proven").
"""

from dataclasses import dataclass, replace

from hopline.client.facts import RUN_ENDS
from hopline.tui.words import time_of_day
from hopline.wire.client.capacity import QuotaPaused, QuotaResumed, QuotaWaitCancelled, QuotaWaiting
from hopline.wire.client.events import RunEvent, payload_of
from hopline.wire.client.payloads import (
    FrameworkWarning,
    RunStarted,
    RunStatusChanged,
    WorkerExited,
    WorkerRetired,
    WorkerSignaled,
    WorkerStarted,
)

KEPT_CONTROLS = 50


@dataclass(frozen=True, slots=True)
class Worker:
    """One generation; None for what is not known yet."""

    generation: int
    pid: int | None = None
    started_at: str | None = None
    ended_at: str | None = None
    code: int | None = None
    signal: int | None = None
    retired_at: str | None = None
    retired: WorkerRetired | None = None


@dataclass(frozen=True, slots=True)
class Control:
    """One event of a command that somebody gave."""

    action: str
    """interrupt, stop, restart."""
    status: str
    """pending, delivered, consumed or failed."""
    at: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Story:
    """The fold."""

    status: str = "starting"
    command: str = ""
    loop: str = "command"
    """What runs it: `command`, or an agent's loop."""
    worker: Worker | None = None
    """The newest generation."""
    started_at: str | None = None
    ended: str | None = None
    """The event that ended the run; None while it lives."""
    ended_at: str | None = None
    reason: str | None = None
    controls: tuple[Control, ...] = ()
    """The latest, oldest first."""
    interrupts: int = 0
    """How many were delivered."""
    capacity: str | None = None
    """What a provider's limit makes the run wait for, in words; None when it waits for none."""
    warning: str | None = None
    """The latest thing that the server warned of."""

    @property
    def steerable(self) -> bool:
        """Whether an agent's loop runs it, which can be paused, resumed and steered; a plain command cannot."""
        return self.loop != "command"

    @property
    def writable(self) -> bool:
        """Whether there is a worker that may take input and signals."""
        worker = self.worker
        return self.ended is None and worker is not None and worker.ended_at is None and worker.retired_at is None


def fold(story: Story, event: RunEvent) -> Story:
    """`story` after `event`; the same object when nothing that is kept has changed."""
    if event.type == "subprocess_output":
        return story
    at = event.timestamp
    if event.type in RUN_ENDS:
        reason = event.diagnostic.summary if event.diagnostic is not None else event.text or None
        return replace(story, ended=event.type, ended_at=at, reason=reason)
    if event.type == "control":
        return _controlled(story, event)
    match payload_of(event):
        case RunStarted(input=command, outer_loop=loop):
            return replace(story, command=command, loop=loop, started_at=at, ended=None, ended_at=None, reason=None)
        case RunStatusChanged(status=status):
            return replace(story, status=status, capacity=None if status == "running" else story.capacity)
        case QuotaPaused(provider=provider, resumes_at=resumes, resets_at=resets):
            return replace(story, capacity=_capacity(provider, resets if resumes is None else resumes))
        case QuotaWaiting(provider=provider, resumes_at=resumes):
            return replace(story, capacity=_capacity(provider, resumes))
        case QuotaResumed() | QuotaWaitCancelled():
            return replace(story, capacity=None)
        case WorkerStarted(generation=generation, pid=pid):
            return replace(story, worker=Worker(generation, pid=pid, started_at=at))
        case WorkerExited(generation=generation, code=code):
            return replace(story, worker=replace(_worker(story, generation), code=code, ended_at=at))
        case WorkerSignaled(generation=generation, signal=signal):
            return replace(story, worker=replace(_worker(story, generation), signal=signal, ended_at=at))
        case WorkerRetired(generation=generation) as retired:
            return replace(story, worker=replace(_worker(story, generation), retired=retired, retired_at=at))
        case FrameworkWarning(summary=summary):
            return replace(story, warning=summary)
    return story


def _capacity(provider: str, back_at: float | None) -> str:
    return f"capacity of {provider}" + (f", back at {time_of_day(back_at)}" if back_at is not None else "")


def _worker(story: Story, generation: int) -> Worker:
    worker = story.worker
    return worker if worker is not None and worker.generation == generation else Worker(generation)


def _controlled(story: Story, event: RunEvent) -> Story:
    action = event.text.removeprefix("/").split(":")[0].strip()
    error = event.diagnostic.summary if event.diagnostic is not None else None
    control = Control(action, event.status or "", event.timestamp, error)
    delivered = action == "interrupt" and control.status == "delivered"
    return replace(
        story,
        controls=(*story.controls, control)[-KEPT_CONTROLS:],
        interrupts=story.interrupts + delivered,
    )
