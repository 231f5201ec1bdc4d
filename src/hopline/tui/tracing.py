"""The trace: a run's spans as a tree of lines, each with its state, its verdict and what it waits for. Pure.

A span is taken from its newest event, or from a snapshot where that is newer (docs/wire/client.md, "Snapshot").
"""

from collections.abc import Iterable

from hopline.rendering import plain
from hopline.tui.order import moment
from hopline.tui.words import MARKS, Tone, clock, exact_age, time_of_day
from hopline.wire.client.events import RunEvent, payload_of
from hopline.wire.client.trace import Span, SpanEvent, SpanWait

MAX_DEPTH = 24
"""What is nested deeper stands at this depth."""

_TONES = {
    "running": Tone.RUNNING,
    "waiting": Tone.PAUSED,
    "done": Tone.DONE,
    "failed": Tone.WRONG,
    "stopped": Tone.STOPPED,
}
_LOOKS = {Tone.RUNNING: "32", Tone.PAUSED: "33", Tone.DONE: "34", Tone.WRONG: "31", Tone.STOPPED: "35"}


class Trace:
    """The spans of one run, in the order in which they first started."""

    def __init__(self) -> None:
        self._spans: dict[str, Span] = {}
        self._told_at: dict[str, int] = {}

    def fold(self, event: RunEvent) -> bool:
        """Take `event` in. Returns whether it told of a span."""
        payload = payload_of(event) if event.type.startswith("span_") else None
        if not isinstance(payload, SpanEvent):
            return False
        self._spans[payload.span.id] = payload.span
        self._told_at[payload.span.id] = event.sequence
        return True

    def seed(self, spans: Iterable[Span], sequence: int) -> None:
        """The spans as they were at event `sequence`; what events have told since then stands."""
        ours, self._spans = self._spans, {span.id: span for span in spans}
        for identity, span in ours.items():
            if self._told_at[identity] > sequence or identity not in self._spans:
                self._spans[identity] = span

    def text(self) -> str:
        """A line a span, children beneath their parent; a failure has its message beneath it."""
        children: dict[str | None, list[Span]] = {}
        for span in self._spans.values():
            parent = span.parent_id if span.parent_id in self._spans and span.parent_id != span.id else None
            children.setdefault(parent, []).append(span)
        lines: list[str] = []
        told: set[str] = set()
        stack = [(span, 0) for span in reversed(children.get(None, []))]
        while stack:
            span, depth = stack.pop()
            if span.id in told:
                continue
            told.add(span.id)
            lines += self._lines(span, min(depth, MAX_DEPTH))
            stack += [(child, depth + 1) for child in reversed(children.get(span.id, []))]
        lines += [line for span in self._spans.values() if span.id not in told for line in self._lines(span, 0)]
        return "".join(lines)

    def _lines(self, span: Span, depth: int) -> list[str]:
        tone = _TONES.get(span.status, Tone.RUNNING)
        label = span.label
        facts = [
            label.kind.replace("_", " ") if label is not None else "",
            span.status,
            label.verdict.replace("_", " ") if label is not None and label.verdict else "",
            *(f"waits for {self._waits(wait)}" for wait in span.waiting_on if span.status == "waiting"),
            *(f"{link.kind.replace('_', ' ')} {self._title(link.span_id)}" for link in (label.links if label else [])),
            clock(span.started_at),
            f"took {exact_age((moment(span.ended_at) or 0) - moment(span.started_at))}" if span.ended_at else "",
        ]
        words = plain(" · ".join(fact for fact in facts if fact))
        indent = "  " * depth
        title = plain(self._title(span.id))
        lines = [f"{indent}\x1b[{_LOOKS[tone]}m{MARKS[tone]}\x1b[0m \x1b[1m{title}\x1b[0m  {words}\n"]
        if span.failure is not None:
            said = plain(span.failure.message.strip().replace("\n", " "))
            lines.append(f"{indent}  \x1b[31m{said[:500]}\x1b[0m\n")
        return lines

    def _title(self, identity: str) -> str:
        span = self._spans.get(identity)
        if span is None:
            return identity
        return span.label.title if span.label is not None and span.label.title else span.name

    def _waits(self, wait: SpanWait) -> str:
        """What a span waits for, in words."""
        what = self._title(wait.span_id) if wait.span_id is not None else wait.kind
        until = f" until {time_of_day(wait.until)}" if wait.until is not None else ""
        return what + (f" ({wait.detail})" if wait.detail else "") + until
