"""What is proven of each thing that was asked, in steps with their times. Pure; the same as on the page.

A step is reached when the run said so, never because an earlier one was or because time has passed.
"""

from dataclasses import dataclass
from enum import StrEnum

from hopline.clock import parse_rfc3339
from hopline.tui.story import Control, Story, Worker
from hopline.tui.words import clock, count, signal_word

CLOCK_SLACK_SECONDS = 2.0
"""The run's clock and ours may differ by this much without a step being taken for an earlier request's."""


class Action(StrEnum):
    """What a person can ask."""

    INTERRUPT = "interrupt"
    INPUT = "input"
    RESTART = "restart"
    STOP = "stop"
    PAUSE = "pause"
    RESUME = "resume"
    STEER = "steer"


NO_AGENT = {
    Action.PAUSE: "a plain command cannot be paused; . interrupts it, s stops it",
    Action.RESUME: "a plain command is never paused: there is nothing to resume",
    Action.STEER: "a plain command takes no steering; i writes to its input",
}
"""What becomes of these where no agent takes them, with the next step."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The latest request of one action that was made here.

    Args:
        action: what.
        at: our time, RFC 3339.
        accepted_at: when its Response came.
        error: why it failed.
        delivered_at: when its Response said `delivered`; the event that says so too may have been skipped.
    """

    action: Action
    at: str
    accepted_at: str | None = None
    error: str | None = None
    delivered_at: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to be proven; `at` is None until it is."""

    label: str
    at: str | None


@dataclass(frozen=True, slots=True)
class Proof:
    """How far one request has come."""

    action: Action
    steps: tuple[Step, ...]
    error: str | None = None
    times: int = 0
    """How often this action was proven in this run, where that is counted."""

    @property
    def pending(self) -> bool:
        """Whether something is still to come."""
        return self.error is None and any(step.at is None for step in self.steps)

    @property
    def reached(self) -> Step:
        """The last step that is proven; the first one at least is."""
        return next((step for step in reversed(self.steps) if step.at is not None), self.steps[0])

    def line(self) -> str:
        """The proof in one line: `interrupt 3   delivered 12:04:11`."""
        times = f" {self.times}" if self.times > 1 else ""
        if self.error is not None:
            return f"{self.action}{times}  failed: {self.error}"
        waiting = next((f", {step.label} not yet" for step in self.steps if step.at is None), "")
        return f"{self.action}{times}  {self.reached.label} {clock(self.reached.at)}{waiting}"


def proof_of(story: Story, asked: Asked | None, action: Action) -> Proof | None:
    """How far the latest request of `action` has come, whoever made it; None when nobody did."""
    pending, proven, failed = _latest(story, action)
    if asked is None and pending is None and proven is None and (failed is None or failed.status != "cancelled"):
        return None
    since = _seconds(asked.at) - CLOCK_SLACK_SECONDS if asked is not None else 0.0

    def ours(control: Control | None) -> str | None:
        """Its time, unless it belongs to a request before ours."""
        return control.at if control is not None and _seconds(control.at) >= since else None

    accepted = ours(pending) or (asked.accepted_at if asked is not None else None)
    began = asked.at if asked is not None else (pending or proven or failed or Control("", "", "")).at
    error = asked.error if asked is not None else None
    if error is None and failed is not None and ours(failed):
        plainly = NO_AGENT.get(action) if not story.steerable else None
        error = plainly or failed.error or "it failed"
    done = ours(proven) or (asked.delivered_at if asked is not None else None)
    steps = (Step("asked", began), Step("accepted", accepted), *_further(story, action, accepted, done))
    return Proof(action, steps, error, story.interrupts if action is Action.INTERRUPT else 0)


def worker_words(worker: Worker | None, *, lost: bool = False) -> str:
    """What is proven about the worker. `lost`: the run's server is gone and had not ended it."""
    if worker is None:
        return "not started yet"
    generation = f", generation {worker.generation}" if worker.generation > 1 else ""
    if worker.signal is not None:
        return f"ended by {signal_word(worker.signal)}{generation} {clock(worker.ended_at)}"
    if worker.code is not None:
        return f"exited with {worker.code}{generation} {clock(worker.ended_at)}"
    if worker.retired_at is not None or lost:
        return f"unknown: nobody saw it end{generation}"
    return f"running, pid {worker.pid}{generation}"


def descendants_words(worker: Worker | None, *, lost: bool = False) -> str:
    """What is proven about what the worker started."""
    if worker is None:
        return "none yet"
    if worker.retired is None:
        return "unknown" if lost else "looked for when the worker ends"
    found = worker.retired.descendants
    if found.state != "remaining":
        return f"{found.state} {clock(worker.retired_at)}"
    names = ", ".join(process.name for process in found.processes[:3])
    return f"{count(len(found.processes), 'process', 'processes')} left behind ({names})"


def _latest(story: Story, action: Action) -> tuple[Control | None, Control | None, Control | None]:
    """The latest (pending, proven, failed) control of one action; a new pending one supersedes the others."""
    pending: Control | None = None
    proven: Control | None = None
    failed: Control | None = None
    for control in story.controls:
        if control.action != action:
            continue
        if control.status == "pending":
            pending, proven, failed = control, None, None
        elif control.status in ("failed", "cancelled"):
            failed = control
        else:
            proven = control
    return pending, proven, failed


def _further(story: Story, action: Action, accepted: str | None, proven: str | None) -> tuple[Step, ...]:
    worker = story.worker

    def later(moment: str | None) -> str | None:
        after = moment is not None and accepted is not None and _seconds(moment) >= _seconds(accepted) - 0.001
        return moment if after else None

    match action:
        case Action.INTERRUPT | Action.INPUT:
            return (Step("delivered", proven),)
        case Action.RESTART:
            return (Step("started again", proven),)
        case Action.PAUSE:
            return (Step("paused", proven),)
        case Action.RESUME:
            return (Step("going on", proven),)
        case Action.STEER:
            return (Step("taken by the agent", proven),)
        case Action.STOP:
            stopped = story.ended_at if story.status == "stopped" else None
            return (
                Step("worker ended", later(worker.ended_at if worker else None)),
                Step("descendants looked for", later(worker.retired_at if worker else None)),
                Step("stopped", stopped),
            )


def _seconds(moment: str) -> float:
    try:
        return parse_rfc3339(moment)
    except ValueError:
        return 0.0
