"""A run's events wherever they are kept: in memory until its state folder answers, in the journal from then on.

Readers hold this and notice nothing when the journal continues the same store; when it is another store they start
over (docs/wire/client.md, "Stores"; WP-REBOOTSTRAP).
"""

from collections.abc import Callable

from hopline.journal.journal import Journal
from hopline.journal.port import Damage, EventStore, Slice
from hopline.run.scratch import ScratchStore
from hopline.wire.client.events import renumbered


class RunStore:
    """An `EventStore` that changes its place once.

    Args:
        run_id: the run whose events these are.
        on_commit: called when an event in memory is there to be read.
    """

    def __init__(self, run_id: str, on_commit: Callable[[], None]) -> None:
        self.run_id = run_id
        self._scratch: ScratchStore | None = ScratchStore(run_id)
        self._on_commit = on_commit
        self._store: EventStore = self._scratch

    @property
    def store_id(self) -> str:
        """Names the sequence space; a new journal is to be made with it."""
        return self._store.store_id

    @property
    def first_sequence(self) -> int:
        """The oldest event kept."""
        return self._readable().first_sequence

    @property
    def committed_sequence(self) -> int:
        """The newest event that `read` returns; it never goes back within one store."""
        return self._readable().committed_sequence

    @property
    def last_sequence(self) -> int:
        """The newest event assigned."""
        return self._store.last_sequence

    @property
    def next_sequence(self) -> int:
        """What the next event must carry."""
        return self._store.last_sequence + 1

    @property
    def size_bytes(self) -> int:
        """Committed bytes."""
        return self._readable().size_bytes

    @property
    def damage(self) -> list[Damage]:
        """Every damage met so far."""
        return self._store.damage

    def append(self, line: bytes, *, kind: str) -> int:
        """Keep one event in memory, before `attach`. Raises Refused when it is full."""
        assert self._scratch is not None
        sequence = self._scratch.append(line, kind=kind)
        self._on_commit()
        return sequence

    def room(self) -> bool:
        """No worker writes before the journal is there."""
        return True

    def read(self, after: int, *, before: int | None = None, max_bytes: int = 1 << 20) -> Slice:
        """As a journal reads."""
        return self._readable().read(after, before=before, max_bytes=max_bytes)

    def spine(self, through: int) -> list[bytes]:
        """As a journal's."""
        return self._readable().spine(through)

    def entries(self) -> list[tuple[bytes, str]]:
        """What is in memory: lines and kinds, in order."""
        return [] if self._scratch is None else self._scratch.entries()

    def attach(self, journal: Journal) -> bool:
        """Keep everything in `journal` from now on; append there. Returns whether it goes on with the same store.

        An empty journal gets the events as they are; one that holds events gets them behind those, with new numbers.
        """
        assert self._scratch is not None
        for line, kind in self._scratch.entries():
            journal.append(renumbered(line, journal.next_sequence), kind=kind)
        self._store = journal
        continued = journal.store_id == self._scratch.store_id
        if not continued:
            self._scratch = None
        self._on_commit()
        return continued

    def _readable(self) -> EventStore:
        """Until the journal has committed what was in memory, memory is read, so that nothing disappears meanwhile."""
        if self._scratch is None or self._scratch is self._store:
            return self._store
        if self._store.committed_sequence < self._scratch.last_sequence:
            return self._scratch
        self._scratch = None
        return self._store
