"""A run's events in memory, until its state folder answers: the same promises as a journal, for as long as it lives.

Source: docs/wire/client.md, "Stores" (frontend reference 7.3).
"""

from hopline.errors import Refused
from hopline.ids import new_store_id
from hopline.journal.port import NOTHING, SPINE_KINDS, Damage, Slice
from hopline.wire.client.diagnostics import Code

MAX_SCRATCH_BYTES = 16 << 20
"""What people may leave in a run that has not started: questions, mostly."""


class ScratchStore:
    """An `EventStore` that is written and read on the owner's thread; every event is committed at once.

    Args:
        run_id: the run whose events these are.
        store_id: names the sequence space; made up when not given.
    """

    def __init__(self, run_id: str, store_id: str = "") -> None:
        self.run_id = run_id
        self.store_id = store_id or new_store_id()
        self.first_sequence = 1
        self.size_bytes = 0
        self.damage: list[Damage] = []
        self._lines: list[tuple[bytes, str]] = []

    @property
    def last_sequence(self) -> int:
        """The newest event."""
        return len(self._lines)

    @property
    def committed_sequence(self) -> int:
        """The newest event that `read` returns."""
        return len(self._lines)

    @property
    def next_sequence(self) -> int:
        """What the next event must carry."""
        return len(self._lines) + 1

    def append(self, line: bytes, *, kind: str) -> int:
        """Keep one event, its newline not included. Returns its sequence; raises Refused when memory is full."""
        if self.size_bytes + len(line) > MAX_SCRATCH_BYTES:
            raise Refused("The run's state folder does not answer, and memory is full.", code=Code.OPERATION_FAILED)
        self._lines.append((line + b"\n", kind))
        self.size_bytes += len(line) + 1
        return len(self._lines)

    def read(self, after: int, *, before: int | None = None, max_bytes: int = 1 << 20) -> Slice:
        """Events with after < sequence < before, at least one if there is any, else about `max_bytes`."""
        end = len(self._lines) if before is None else min(before - 1, len(self._lines))
        taken: list[bytes] = []
        size = 0
        for line, _ in self._lines[after:end]:
            if taken and size + len(line) > max_bytes:
                break
            taken.append(line)
            size += len(line)
        return Slice(after + 1, after + len(taken), len(taken), b"".join(taken)) if taken else NOTHING

    def spine(self, through: int) -> list[bytes]:
        """The lines of SPINE_KINDS with sequence <= through, in order, without newlines."""
        return [line[:-1] for line, kind in self._lines[:through] if kind in SPINE_KINDS]

    def entries(self) -> list[tuple[bytes, str]]:
        """Every event with its kind, to be kept elsewhere; lines without their newlines."""
        return [(line[:-1], kind) for line, kind in self._lines]
