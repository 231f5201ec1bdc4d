"""The times of a retirement, by jumping the clock."""

import pytest

from hopline.wire.worker.limits import RelayLimits
from hopline.wire.worker.retirement import Phase, Retirement


def retirement(*, patient: bool = False) -> Retirement:
    return Retirement(RelayLimits(), patient=patient)


def test_nothing_is_due_while_running() -> None:
    times = retirement()
    assert times.next_deadline(waiting=True) is None
    assert not times.kill_due(1e9)
    assert not times.unkillable(1e9)
    assert not times.consumer_given_up(1e9)
    assert not times.cut_due(1e9)


def test_the_first_trigger_fixes_the_deadline() -> None:
    """WW-DEADLINE-FIXED"""
    times = retirement()
    assert times.begin(10.0, 0.6)
    assert not times.begin(10.3, 5.0)
    assert times.next_deadline(waiting=False) == pytest.approx(10.6)
    assert not times.kill_due(10.59)
    assert times.kill_due(10.6)


def test_a_grace_of_zero_kills_at_once() -> None:
    times = retirement()
    times.begin(10.0, 0.0)
    assert times.kill_due(10.0)


def test_the_greatest_grace_is_no_overflow() -> None:
    times = retirement()
    times.begin(10.0, (2**64 - 1) / 1000)
    assert not times.kill_due(1e12)


def test_a_failure_leaves_no_grace() -> None:
    """WW-FATAL-AT-ONCE"""
    times = retirement()
    assert times.begin(10.0, 100.0)
    assert not times.fail(11.0)
    assert times.kill_due(11.0)


def test_a_kill_is_due_once_and_never_after_the_exit() -> None:
    """WW-EXIT-UNREAPED"""
    times = retirement()
    times.begin(10.0, 0.0)
    assert times.kill_due(10.0)
    assert not times.kill_due(10.0)
    other = retirement()
    other.begin(10.0, 1.0)
    other.exited(10.5)
    assert not other.kill_due(20.0)


def test_a_worker_that_outlives_its_kill_is_noticed() -> None:
    """WW-UNKILLABLE"""
    times = retirement()
    times.fail(10.0)
    assert times.kill_due(10.0)
    assert times.next_deadline(waiting=False) == 15.0
    assert not times.unkillable(14.9)
    assert times.unkillable(15.0)


def test_the_drain_is_cut_once_after_its_window() -> None:
    """WW-DRAIN-AVAILABLE"""
    times = retirement()
    times.exited(10.0)
    assert times.next_deadline(waiting=False) == pytest.approx(10.1)
    assert not times.cut_due(10.05)
    assert times.cut_due(10.1)
    assert times.next_deadline(waiting=False) is None


def test_a_consumer_that_takes_nothing_is_given_up_after_its_second() -> None:
    """WW-FLUSH-BOUND"""
    times = retirement()
    times.exited(10.0)
    times.cut_due(10.2)
    assert times.next_deadline(waiting=True) == 11.0
    assert not times.consumer_given_up(10.99)
    assert times.consumer_given_up(11.0)


def test_a_consumer_that_goes_on_taking_is_not_given_up() -> None:
    """WW-FLUSH-BOUND"""
    times = retirement()
    times.exited(10.0)
    for moment in range(11, 70):
        times.took(moment - 0.5)
        assert not times.consumer_given_up(moment)
    assert times.consumer_given_up(70.0)


def test_patience_lasts_until_the_end_is_wanted() -> None:
    """WW-PATIENT"""
    times = retirement(patient=True)
    times.exited(10.0)
    times.cut_due(10.2)
    assert times.next_deadline(waiting=True) is None
    assert not times.consumer_given_up(1e6)
    times.want(1e6)
    assert not times.consumer_given_up(1e6 + 0.9)
    assert times.consumer_given_up(1e6 + 1.0)
    times.want(1e6 + 2)
    assert times.consumer_given_up(1e6 + 2)


def test_patience_does_not_apply_when_the_end_was_wanted_before_the_exit() -> None:
    """WW-PATIENT"""
    times = retirement(patient=True)
    times.want(9.0)
    times.begin(9.0, 1.0)
    times.exited(10.0)
    assert times.consumer_given_up(11.0)


@pytest.mark.parametrize("phase", list(Phase))
def test_only_the_phases_after_the_exit_have_a_consumer_to_give_up(phase: Phase) -> None:
    times = retirement()
    times.exited(10.0)
    times.phase = phase
    assert times.consumer_given_up(100.0) == (phase in (Phase.DRAINING, Phase.FLUSHING))
