"""The lines around a run's output, made from what is known of it. Pure but for the clock of ages."""

import time

from textual.content import Content

from hopline.client.facts import survivor_line
from hopline.records import RunRecord
from hopline.tui.claim import Claim, Light
from hopline.tui.order import moment
from hopline.tui.output_view import OutputView
from hopline.tui.own_screen import has_screen
from hopline.tui.pane import Pane
from hopline.tui.proofs import Action, Proof, descendants_words, proof_of, worker_words
from hopline.tui.steering import Steering
from hopline.tui.watching import Watching
from hopline.tui.words import MARKS, Tone, clock, command, count, exact_age, outcome, plain, size, tone_of

COLOURS = {
    Tone.WAITING: "ansi_yellow",
    Tone.WRONG: "ansi_red",
    Tone.RUNNING: "ansi_green",
    Tone.PAUSED: "ansi_yellow",
    Tone.DONE: "ansi_blue",
    Tone.STOPPED: "ansi_magenta",
}
LIGHTS = {Light.LIVE: "ansi_green", Light.BUSY: "ansi_yellow", Light.LOST: "ansi_red", Light.OVER: "ansi_blue"}
LAMPS = {Light.LIVE: "●", Light.BUSY: "◐", Light.LOST: "✕", Light.OVER: "■"}

TABS = ("output", "turns", "trace", "events", "proven")
_OF_AN_AGENT = (("t Steer…", "steer"), ("p Pause", "pause"), ("c Resume", "resume"))
"""Offered where an agent can take them (decision 0024)."""
_OF_ANY = (
    ("s Stop", "stop"),
    ("r Restart", "restart"),
    ("/ Find", "find"),
    ("? Keys", "keys"),  # the last, for it is cut off first
)


def tabs(shown: str) -> Content:
    """The tabs; each can be clicked."""
    parts = []
    for key, name in enumerate(TABS, 1):
        style = "reverse bold" if name == shown else "bold"
        parts.append(Content.from_markup(f"[{style} @click=screen.tab('{name}')] {key} {name.title()} [/]"))
    return Content.assemble(*parts)


def controls(*, steerable: bool, screen: bool) -> Content:
    """The controls; each can be clicked.

    Args:
        steerable: an agent's loop runs it.
        screen: its worker has one of its own.
    """
    first = ((". Interrupt", "interrupt"), ("i Input", "write"), *((("a Its screen", "sit"),) if screen else ()))
    shown = (*first, *(_OF_AN_AGENT if steerable else ()), *_OF_ANY)
    return Content.assemble(*(Content.from_markup(f"[@click=screen.{action}] {title} [/]") for title, action in shown))


def head(name: str, watching: Watching, record: RunRecord | None, width: int) -> Content:
    """What the run is and how it stands: `‹ fix-auth  ● running · command · 12m 04s · 8.1 MB · generation 2`."""
    story = watching.story
    worker = story.worker
    status = "interrupted" if watching.lost and story.status not in ("completed", "failed", "stopped") else story.status
    tone = tone_of(status, waiting=bool(record is not None and record.waiting and not story.ended))
    words = (
        outcome(status, worker.code if worker else None, worker.signal if worker else None) if story.ended else status
    )
    if story.capacity is not None and not story.ended:
        words = f"{words} ({plain(story.capacity)})"
    if tone is Tone.WAITING and record is not None:
        words = f"waiting: {plain(record.waiting or '')}"
    began = story.started_at or (record.started_at if record is not None else None)
    ended = story.ended_at or (record.ended_at if record is not None else None)
    facts = [
        story.loop,
        exact_age((moment(ended) or time.time()) - moment(began)) if began else "",
        size(watching.written) if watching.written else "",
        f"generation {worker.generation}" if worker is not None and worker.generation > 1 else "",
    ]
    return Content.assemble(
        ("‹ ", "dim"),
        (plain(name), "bold"),
        "  ",
        (f"{MARKS[tone]} {words}", COLOURS[tone]),
        *(f" · {fact}" for fact in facts if fact),
    ).truncate(width, ellipsis=True)


def claim(told: Claim, width: int) -> Content:
    """The connection line."""
    return Content.assemble(
        (f"{LAMPS[told.light]} {told.text}", LIGHTS[told.light]), f" · {told.detail}" if told.detail else ""
    ).truncate(width, ellipsis=True)


def proofs(watching: Watching, steering: Steering) -> list[Proof]:
    """What was asked, the latest of each kind, whoever asked it."""
    found = (proof_of(watching.story, steering.asked.get(action), action) for action in Action)
    return [proof for proof in found if proof is not None]


def summary(watching: Watching, steering: Steering, now: float, *, wide: bool) -> str:
    """What is proven in one line: what was asked last, the worker, its descendants; and that a screen is not shown.

    Args:
        wide: what is proven stands beside it already.
    """
    told = "shown line by line; a: its screen" if has_screen(watching) else ""
    if wide:
        return told
    asked = sorted(proofs(watching, steering), key=lambda proof: proof.steps[0].at or "")
    parts = [asked[-1].line()] if asked else []
    if asked and (left := _left(asked[-1], steering, now)):
        parts.append(left)
    worker, lost = watching.story.worker, watching.lost
    parts.append(f"worker {worker_words(worker, lost=lost)}")
    if told:
        parts.insert(len(parts) - 1, told)
    if worker is not None and worker.retired is not None:
        parts.append(f"descendants {descendants_words(worker, lost=lost)}")
    return " · ".join(parts)


def proven(watching: Watching, steering: Steering, now: float) -> Content:
    """Everything that is proven, a fact a line."""
    story, lost = watching.story, watching.lost
    lines: list[Content | str | tuple[str, str]] = [("proven\n", "bold")]
    facts = [
        ("worker", worker_words(story.worker, lost=lost)),
        ("descendants", descendants_words(story.worker, lost=lost)),
        ("reason", story.reason or ""),
        ("note", story.warning or ""),
    ]
    lines += [f"{name:<12} {plain(words)}\n" for name, words in facts if words]
    if story.worker is not None and story.worker.retired is not None:
        for process in story.worker.retired.descendants.processes:
            lines.append((survivor_line(watching.run_id, process) + "\n", "ansi_red"))
    for proof in proofs(watching, steering):
        lines.append("\n")
        times = f" · {count(proof.times, 'time')}" if proof.times > 1 else ""
        lines.append((f"{proof.action}{times}\n", "bold"))
        for step in proof.steps:
            mark, at = ("✓", clock(step.at)) if step.at else ("·", "not yet")
            lines.append(f"  {mark} {step.label:<22} {at}\n")
        if proof.error is not None:
            lines.append((f"  ✕ {plain(proof.error)}\n", "ansi_red"))
        if left := _left(proof, steering, now):
            lines.append(f"  {left}\n")
    if story.command:
        lines += ["\n", ("command\n", "bold"), f"  {plain(story.command)}\n"]
    return Content.assemble(*lines)


def foot(view: OutputView, watching: Watching, tab: str, told: str, width: int) -> Content:
    """Beneath what is read: what is above, what has come below, and what is proven where there is no room beside."""
    if not view.following:
        pane = watching.panes.get(tab)
        new = f" ({count(view.new_lines, 'new', 'new')})" if view.new_lines else ""
        if pane is not None and pane.parted is not None:
            new = f" ({count(watching.newest - pane.parted, 'event')} below)"
        above = _above(pane) if pane is not None and view.at_top else ""
        jump = Content.from_markup("[reverse @click=screen.live] ▼ jump to live$new · G [/]", new=new)
        return Content.assemble(jump, "  ", above or told).truncate(width, ellipsis=True)
    return Content(told).truncate(width, ellipsis=True)


def _above(pane: Pane) -> str:
    if pane.floor <= 0:
        return "the beginning"
    if pane.closed:
        return "what is above cannot be had here: hopline logs shows all there is"
    return f"▲ {count(pane.floor, 'event')} above, loading"


def _left(proof: Proof, steering: Steering, now: float) -> str:
    """The hard way comes after the gentle one had its grace."""
    ends = proof.action in (Action.STOP, Action.RESTART)
    if not ends or not proof.pending or steering.kill_at is None or steering.kill_at <= now:
        return ""
    return f"killed in {max(1, round(steering.kill_at - now))} s unless it has left by then"


def title_of(record: RunRecord) -> str:
    """A run's name, or what it runs."""
    return record.name or command(record.command, 40)
