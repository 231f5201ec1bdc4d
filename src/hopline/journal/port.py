"""The journal's port: what an event store promises, in values. Everything else in this room is behind it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

MAX_EVENT_BYTES = 1_000_000
"""Longest event, without its newline; the caller bounds events with `truncated` (client wire, section 5)."""

SPINE_KINDS = frozenset(
    {
        "run_started",
        "run_status_changed",
        "run_finished",
        "run_failed",
        "run_interrupted",
        "configuration_failed",
        "round_finished",
        "experiments_changed",
        "chat_thread_created",
        "worker_started",
        "worker_exited",
        "worker_signaled",
        "worker_retired",
        "journal_dropped",
    }
)
"""Event types that a tail bootstrap carries besides its tail (frontend reference 7.1; the last five are ours)."""


@dataclass(frozen=True, slots=True)
class JournalOptions:
    """How one run's journal is kept."""

    durability: Literal["normal", "full"] = "normal"
    """normal: bytes are with the kernel before they are published. full: on stable storage before that."""
    reserve_bytes: int = -1
    """Bytes left free on the volume; -1 means the smaller of 5 % of it and 2 GiB."""
    max_bytes: int = 0
    """Bound on the segments together; 0 means none."""
    when_full: Literal["pause", "drop-oldest"] = "pause"
    """What happens at `max_bytes`: `room()` says False, or whole oldest segments go."""
    segment_bytes: int = 64 * 1024 * 1024
    """A segment is sealed when the next batch would make it longer than this (less when max_bytes is small)."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Committed events in order, as the bytes that were stored."""

    first: int
    """Sequence of the first event; 0 when there is none."""
    last: int
    """Sequence of the last event, the cursor to go on from; 0 when there is none."""
    count: int
    """How many events; fewer than last - first + 1 only where damage was stepped over."""
    data: bytes
    """Whole lines, each ending with a newline."""


NOTHING = Slice(0, 0, 0, b"")


@dataclass(frozen=True, slots=True)
class Damage:
    """A place in a segment that holds bytes no writer of ours produced, or lacks bytes one did."""

    path: Path
    start: int
    """Offset of the first damaged byte."""
    end: int
    """Offset after the last one; equal to `start` where lines are missing."""
    first_sequence: int
    last_sequence: int
    """The sequences lost there; less than `first_sequence` when none is lost (every line still reads)."""
    reason: str

    def __str__(self) -> str:
        """The sentence shown to a person."""
        lost = (
            "no event is lost"
            if self.last_sequence < self.first_sequence
            else f"events {self.first_sequence} to {self.last_sequence} are lost"
        )
        return f"{self.path}: bytes {self.start} to {self.end}: {self.reason}; {lost}"


@dataclass(frozen=True, slots=True)
class OpenReport:
    """What opening an existing journal for writing found and did."""

    torn_bytes: int = 0
    """Length of the unfinished last line that was cut; 0 when there was none."""
    index: Literal["current", "caught up", "rebuilt"] = "current"
    indexed_bytes: int = 0
    """Bytes of segments that were read to bring the index up to date."""
    damage: tuple[Damage, ...] = ()
    """Damage in what was read; the rest is looked at when it is read, or by `check`."""


@dataclass(frozen=True, slots=True)
class CloseReport:
    """What closing could not do; all zero when everything assigned is committed."""

    unwritten_events: int = 0
    unwritten_bytes: int = 0
    first_unwritten: int = 0
    """Sequence of the first event that is not in the journal; 0 when there is none."""
    reason: str | None = None
    """Why, in one sentence."""


class EventStore(Protocol):
    """What readers of a run need, live or finished; `Journal` and `JournalView` both satisfy it."""

    @property
    def store_id(self) -> str:
        """Names the sequence space: 32 hex digits, random per store."""
        ...

    @property
    def run_id(self) -> str:
        """The run whose events these are."""
        ...

    @property
    def first_sequence(self) -> int:
        """The oldest event kept; 1 unless oldest segments were dropped."""
        ...

    @property
    def committed_sequence(self) -> int:
        """The newest event that `read` returns; one less than `first_sequence` when there is none."""
        ...

    @property
    def last_sequence(self) -> int:
        """The newest event assigned; it may not be committed yet."""
        ...

    @property
    def size_bytes(self) -> int:
        """Committed bytes of the segments together."""
        ...

    @property
    def damage(self) -> list[Damage]:
        """Every damage met so far, each once."""
        ...

    def read(self, after: int, *, before: int | None = None, max_bytes: int = 1 << 20) -> Slice:
        """Committed events with after < sequence < before, at least one if there is any, else about `max_bytes`."""
        ...

    def spine(self, through: int) -> list[bytes]:
        """The lines of SPINE_KINDS with sequence <= through, in order, without newlines."""
        ...


@dataclass(slots=True)
class SpineRow:
    """Where one spine line lies."""

    sequence: int
    kind: str
    segment: int
    """The segment's first sequence; 0 means segments/spine.jsonl."""
    offset: int
    size: int
    """Bytes without the newline."""


@dataclass(slots=True)
class Mark:
    """A place to start reading from: the line with `sequence` begins at `offset` of the segment."""

    sequence: int
    segment: int
    offset: int
    crc32: int
    """Of the segment's bytes before `offset`; so two marks check the bytes between them."""


@dataclass(slots=True)
class SegmentRow:
    """What is known of a segment's first `size` bytes."""

    first_sequence: int
    last_sequence: int = field(default=-1)
    size: int = 0
    crc32: int = 0
    sealed: bool = False
