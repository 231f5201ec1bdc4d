"""The snapshot equals the fold of the events up to its sequence, live and on reopening."""

from hypothesis import given
from hypothesis import strategies as st

from hopline.run.fold import RunFold
from hopline.run.status import NEXT, RunStatus
from hopline.wire.client.events import EventEncoder
from hopline.wire.client.payloads import RunStatusChanged

encoder = EventEncoder("r")


def change(sequence: int, previous: RunStatus, status: RunStatus) -> bytes:
    return encoder.line(sequence, "t", "run_status_changed", data=RunStatusChanged(status=status, previous=previous))


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[int, RunStatus]]:
    status, sequence, found = RunStatus.STARTING, 0, []
    while NEXT[status] and len(found) < 12:
        status = NEXT[status][draw(st.sampled_from(sorted(NEXT[status])))]
        sequence += draw(st.integers(1, 5))
        found.append((sequence, status))
    return found


@given(histories())
def test_a_snapshot_at_any_sequence_is_the_fold_up_to_it(history: list[tuple[int, RunStatus]]) -> None:
    live, reopened = RunFold("r"), RunFold("r")
    previous, lines = RunStatus.STARTING, []
    for sequence, status in history:
        lines.append(change(sequence, previous, status))
        live.add(sequence, lines[-1])
        previous = status
    reopened.replay(lines)
    for number in range(history[-1][0] + 1):
        expected = [status for sequence, status in history if sequence <= number]
        for fold in (live, reopened):
            snapshot = fold.snapshot(number)
            assert (snapshot.sequence, snapshot.status) == (number, expected[-1] if expected else "starting")


def test_what_is_not_known_changes_nothing() -> None:
    fold = RunFold("r")
    odd = change(2, RunStatus.STARTING, RunStatus.RUNNING).replace(b'"status":"running"', b'"status":"dreaming"')
    fold.replay([b"no event", encoder.line(1, "t", "run_finished"), odd])
    assert fold.snapshot(9).status == "starting"
