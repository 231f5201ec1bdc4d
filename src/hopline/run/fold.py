"""The snapshot: what the events up to a sequence amount to, live and on reopening alike.

Only spine events change it, so a finished run is folded from its spine in constant time
(docs/wire/client.md, "Snapshot").
"""

from collections import deque
from collections.abc import Iterable

from hopline.run.status import RunStatus
from hopline.wire.client.events import decode_event, payload_of
from hopline.wire.client.payloads import RunStatusChanged
from hopline.wire.client.responses import RunSnapshot


class RunFold:
    """Folds status changes by sequence; a snapshot at N counts what is at or before N and nothing later.

    Args:
        run_id: stamped on every snapshot.
    """

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._status = RunStatus.STARTING
        self._later: deque[tuple[int, RunStatus]] = deque()

    def status_changed(self, sequence: int, status: RunStatus) -> None:
        """The event at `sequence`, later than any before, moved the run to `status`."""
        self._later.append((sequence, status))

    def replay(self, lines: Iterable[bytes]) -> None:
        """Fold stored spine lines, oldest first; what is not known here changes nothing."""
        for line in lines:
            try:
                event = decode_event(line)
            except ValueError:
                continue
            change = payload_of(event)
            if isinstance(change, RunStatusChanged) and change.status in set(RunStatus):
                self.status_changed(event.sequence, RunStatus(change.status))

    def snapshot(self, sequence: int) -> RunSnapshot:
        """The fold at `sequence`, which never goes back from one call to the next."""
        while self._later and self._later[0][0] <= sequence:
            self._status = self._later.popleft()[1]
        return RunSnapshot(run_id=self._run_id, sequence=sequence, status=self._status)
