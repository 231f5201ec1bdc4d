"""What a view shows of a run's frames, and what it learns from them: each event once, and what is missing said."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from hopline.cli.gaps import Gaps
from hopline.cli.screen import Screen
from hopline.client.batches import Output, read_batch, read_lines
from hopline.client.facts import RunFacts, fold
from hopline.wire.client.events import RunEvent, decode_event


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """What a view shows.

    Args:
        as_json: each event as one JSON line instead of the output.
        stream: only this stream's output; None for both.
        through: stop after this sequence; None to follow until the run ends.
        age_seconds: of the run when the view begins, for the status line.
        held: tells why the worker is held back, if it is, for the status line.
        known: what is known of the run up to the subscription's cursor.
        warnings: say what the server warns of.
        after: the subscription's cursor.
    """

    as_json: bool = False
    stream: str | None = None
    through: int | None = None
    age_seconds: float = 0.0
    held: Callable[[], str | None] = lambda: None
    known: RunFacts = field(default_factory=RunFacts)
    warnings: bool = False
    after: int = 0


class Showing:
    """The events of one run on one screen, from a cursor on.

    Args:
        screen: where it shows.
        options: what it shows.
    """

    def __init__(self, screen: Screen, options: ViewOptions) -> None:
        self.facts = options.known
        self.cursor = options.after
        """The last sequence shown."""
        self.gaps = Gaps(options.after)
        """What could not be shown."""
        self.store_id = ""
        """The store that counts the sequences; "" until one has."""
        self.output_bytes = 0
        self.events = 0
        """How many have come."""
        self._floor = 0
        self._screen = screen
        self._options = options

    def complete(self) -> bool:
        """Whether all is shown that was to be."""
        through = self._options.through
        if through is not None:
            return self.cursor >= through
        return self.facts.ended is not None

    def take_frame(self, line: bytes) -> None:
        """Show what one frame of the stream brings."""
        if self._options.as_json:
            lines = read_lines(line)
            self._place(lines.store_id, lines.floor)
            self.gaps.unsure |= any(head.type.startswith("agent_") for head, _ in lines.lines)
            fresh = [(head, event) for head, event in lines.lines if self._fresh(head.sequence)]
            self._screen.show("stdout", b"".join(bytes(event) + b"\n" for _, event in fresh))
            for head, event in fresh:
                if head.type != "subprocess_output":
                    self._learn(decode_event(event))
            through = lines.through_sequence
        else:
            batch = read_batch(line)
            self._place(batch.store_id, batch.floor)
            self.gaps.unsure |= any(isinstance(event, RunEvent) and event.execution_id for event in batch.events)
            self._show(batch.events)
            through = batch.through_sequence
        self.tell_gaps(time.monotonic())
        self.cursor = max(self.cursor, through)

    def _place(self, store_id: str, floor: int) -> None:
        if self.store_id and store_id != self.store_id:
            self.cursor = 0
            self.gaps.restart(0)
        self.store_id = store_id
        self._floor = floor

    def tell_gaps(self, now: float | None = None) -> None:
        """Say what could not be shown, if anything, and not too often before the end."""
        if (sentence := self.gaps.sentence(now)) is not None:
            self._screen.say(sentence)

    def _fresh(self, sequence: int) -> bool:
        """Whether the event is neither shown already nor past where the view stops; counts it."""
        self.events += 1
        through = self._options.through
        if sequence <= self.cursor or (through is not None and sequence > through):
            return False
        self.gaps.take(sequence, self._floor)
        return True

    def _show(self, events: list[Output | RunEvent]) -> None:
        run: list[bytes] = []
        stream = ""
        for event in events:
            if not self._fresh(event.sequence):
                continue
            if isinstance(event, RunEvent):
                if run:
                    self._write(stream, run)
                    run = []
                self._learn(event)
                continue
            if self._options.stream not in (None, event.stream):
                continue
            if event.stream != stream and run:
                self._write(stream, run)
                run = []
            stream = event.stream
            run.append(event.data)
        if run:
            self._write(stream, run)

    def _learn(self, event: RunEvent) -> None:
        self.facts = fold(self.facts, event)
        if self._options.warnings and event.type == "framework_warning" and event.diagnostic is not None:
            said = (event.diagnostic.summary, event.diagnostic.detail, event.diagnostic.hint)
            self._screen.say(" ".join(part for part in said if part))

    def _write(self, stream: str, pieces: list[bytes]) -> None:
        data = b"".join(pieces)
        self.output_bytes += len(data)
        self._screen.show(stream, data)
