"""The snapshot: what the events up to a sequence amount to, live and on reopening alike.

The run of a plain command is changed by spine events only, so a finished one is folded from its spine in constant
time; a run of agents is folded from all of its events (docs/wire/client.md, "Snapshot").
"""

from collections import deque
from collections.abc import Iterable

from msgspec.structs import replace

from hopline.journal.port import EventStore
from hopline.run.executions import Executions
from hopline.run.facts import ENDS, Facts, with_event
from hopline.run.status import RunStatus
from hopline.wire.client.checkpoint import ExecutionList
from hopline.wire.client.events import RunEvent, decode_event, payload_of, sequence_of
from hopline.wire.client.overview import RunOverview
from hopline.wire.client.payload import Payload
from hopline.wire.client.payloads import RunStarted, RunStatusChanged
from hopline.wire.client.rounds import BenchmarkResult, GateFinished
from hopline.wire.client.state import ChatThread, RunSnapshot
from hopline.wire.client.trace import Span, SpanEvent
from hopline.wire.client.turns import ChatThreadCreated

FOLDED = ENDS | {
    "run_started",
    "run_status_changed",
    "worker_started",
    "worker_exited",
    "worker_signaled",
    "worker_retired",
    "journal_dropped",
    "round_finished",
    "benchmark_result",
    "gate_finished",
    "chat_thread_created",
    "agent_execution_started",
    "agent_execution_activity_changed",
    "agent_execution_finished",
    "invocation_started",
    "invocation_finished",
    "span_started",
    "span_updated",
    "span_ended",
}
"""Event types that change a snapshot or what is known of the run."""

READ_BYTES = 1 << 20

_STATUSES = frozenset(RunStatus)
_OUTPUT = b'"type":"subprocess_output"'


class RunFold:
    """Folds events by sequence; a snapshot at N counts what is at or before N and nothing later.

    Args:
        run_id: stamped on every snapshot.
    """

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self.restart()

    def restart(self) -> None:
        """Begin again with nothing: the run's store is another one."""
        self._later: deque[tuple[int, bytes]] = deque()
        self._status = "starting"
        self._agent_kind: str | None = None
        self._round_label: str | None = None
        self._executions = Executions()
        self._threads: dict[str, ChatThread] = {}
        self._spans: dict[str, Span] = {}
        self._overview: RunOverview | None = None
        self.facts = Facts()
        """As of the newest snapshot."""

    def add(self, sequence: int, line: bytes) -> None:
        """The event in `line`, of a FOLDED type and later than any before, was recorded."""
        self._later.append((sequence, line))

    def replay(self, lines: Iterable[bytes]) -> None:
        """Fold stored lines, oldest first; what cannot be read changes nothing."""
        for line in lines:
            try:
                self.add(sequence_of(line), line)
            except ValueError:
                continue

    def fold_store(self, store: EventStore, through: int) -> None:
        """Fold everything of `store` up to `through`."""
        after = store.first_sequence - 1
        self.replay(store.spine(after))
        while (found := store.read(after, before=through + 1, max_bytes=READ_BYTES)).count:
            self.replay(line for line in found.data.splitlines() if _OUTPUT not in line)
            self.advance(found.last)
            after = found.last

    def snapshot(self, sequence: int) -> RunSnapshot:
        """The fold at `sequence`, which never goes back from one call to the next."""
        self.advance(sequence)
        return RunSnapshot(
            run_id=self._run_id,
            sequence=sequence,
            status=self._status,
            agent_kind=self._agent_kind,
            round_label=self._round_label,
            active_executions=self._executions.active(),
            chat_threads=list(self._threads.values()),
            spans=list(self._spans.values()),
            overview=self._overview,
        )

    def executions_at(self, sequence: int) -> ExecutionList:
        """The active executions at `sequence`; as `snapshot`, it never goes back."""
        self.advance(sequence)
        return self._executions.listed()

    def has_executed(self, execution_id: str) -> bool:
        """Whether an agent_execution_* event of this execution has been folded, so that its legacy twins are to go."""
        return execution_id in self._executions.modern

    def advance(self, sequence: int) -> None:
        """Fold up to `sequence`, so that what is folded need not be held."""
        while self._later and self._later[0][0] <= sequence:
            try:
                event = decode_event(self._later.popleft()[1])
            except ValueError:
                continue
            self._fold(event, payload_of(event))

    def _fold(self, event: RunEvent, payload: Payload | None) -> None:
        self.facts = with_event(self.facts, event, payload)
        self._executions.fold(event, payload)
        match payload:
            case RunStatusChanged() if payload.status in _STATUSES:
                self._status = payload.status
            case RunStarted(overview=RunOverview() as overview):
                self._overview = overview
            case ChatThreadCreated():
                self._threads[payload.thread_id] = ChatThread(
                    thread_id=payload.thread_id, title=payload.title, provider=payload.provider, model=payload.model
                )
            case SpanEvent():
                self._spans[payload.span.id] = payload.span
            case GateFinished(metric=str() as metric, unit=str() as unit):
                self._measured(metric, unit)
            case BenchmarkResult():
                self._measured(payload.metric, payload.unit)
            case _:
                pass
        if event.type == "agent_execution_started":
            self._agent_kind, self._round_label = event.agent_kind, event.round_label
        if event.type in ENDS:
            self._executions.clear()

    def _measured(self, metric: str, unit: str) -> None:
        """The unit of the objective is that of its first measurement."""
        overview = self._overview
        if overview is not None and overview.objective.unit is None and overview.objective.metric == metric:
            self._overview = replace(overview, objective=replace(overview.objective, unit=unit))


def fold_of(store: EventStore) -> RunFold:
    """The fold of what `store` holds: of its spine, or of everything when the run is more than a plain command."""
    fold = RunFold(store.run_id)
    fold.replay(store.spine(store.committed_sequence))
    fold.snapshot(store.committed_sequence)
    if fold.facts.outer_loop in (None, "command"):
        return fold
    fold.restart()
    fold.fold_store(store, store.committed_sequence)
    return fold
