"""What a run whose worker is gone still waits for, in simulated time (docs/wire/client.md, "Lifetime")."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

from jumping_loop import run_jumping

from hopline.run.leaving import (
    FIRST_SUBSCRIBER_SECONDS,
    SETTLE_SECONDS,
    SIGNALLED_COMMIT_SECONDS,
    STALLED_SECONDS,
    Leaving,
)


class End:
    """A run at its end: store, commits and subscriptions at once, each as a test sets it."""

    def __init__(self) -> None:
        self.last_sequence = self.committed_sequence = 5
        self.ever = self.satisfied = True
        self.count = 1
        self.taken = 0

    async def past(self, sequence: int, seconds: float) -> bool:
        await asyncio.sleep(seconds)
        return self.committed_sequence > sequence

    def progress(self) -> tuple[int, int]:
        return self.taken, 0


def seconds_of(wait: str, later: dict[float, Callable[[End, Leaving], Any]] | None = None, **state: Any) -> float:
    """How long a wait takes with the end in `state`; `later` happens meanwhile, at its time."""
    attached = state.pop("attached", False)

    async def main() -> float:
        loop = asyncio.get_running_loop()
        end = End()
        vars(end).update(state)
        leaving = Leaving(cast(Any, end), cast(Any, end), cast(Any, end), attached)
        for at, change in (later or {}).items():
            loop.call_at(at, change, end, leaving)
        await getattr(leaving, wait)()
        return loop.time()

    return run_jumping(main())


def set_to(**state: Any) -> Callable[[End, Leaving], None]:
    return lambda end, _: vars(end).update(state)


def asked(over: bool) -> Callable[[End, Leaving], None]:
    return lambda _, leaving: leaving.signalled(over)


def close_to(found: float, wanted: float) -> bool:
    return abs(found - wanted) < 0.3


def test_what_is_kept_already_is_not_waited_for() -> None:
    assert seconds_of("until_committed") == 0


def test_a_full_disk_is_waited_for_however_long_it_takes() -> None:
    assert close_to(seconds_of("until_committed", {7200.0: set_to(committed_sequence=5)}, committed_sequence=3), 7200)


def test_a_run_that_a_signal_ended_waits_for_a_full_disk_three_seconds() -> None:
    found = seconds_of("until_committed", {0.0: asked(over=False)}, committed_sequence=3)
    assert close_to(found, SIGNALLED_COMMIT_SECONDS)


def test_a_signal_after_the_end_waits_for_nothing() -> None:
    assert close_to(seconds_of("until_committed", {100.0: asked(over=True)}, committed_sequence=3), 100)
    assert close_to(seconds_of("until_settled", {0.5: asked(over=True)}, satisfied=False), 0.5)


def test_subscribers_that_have_everything_may_stay_a_second() -> None:
    assert close_to(seconds_of("until_settled"), SETTLE_SECONDS)


def test_a_subscriber_that_leaves_ends_the_wait() -> None:
    assert close_to(seconds_of("until_settled", {0.4: set_to(count=0)}), 0.4)


def test_one_that_has_not_everything_is_waited_for_as_long_as_it_takes_something() -> None:
    takes = {float(at): set_to(taken=at) for at in range(30, 150, 30)}
    found = seconds_of("until_settled", {**takes, 140.0: set_to(satisfied=True)}, satisfied=False)
    assert close_to(found, 140 + SETTLE_SECONDS)


def test_one_that_takes_nothing_is_left_after_forty_seconds() -> None:
    found = seconds_of("until_settled", {10.0: set_to(taken=1)}, satisfied=False)
    assert close_to(found, 10 + STALLED_SECONDS)


def test_a_starter_that_said_it_would_come_is_waited_for_ten_seconds() -> None:
    assert close_to(seconds_of("until_settled", attached=True, ever=False, count=0), FIRST_SUBSCRIBER_SECONDS)
    comes = {2.0: set_to(ever=True, count=1)}
    assert close_to(seconds_of("until_settled", comes, attached=True, ever=False, count=0), 2 + SETTLE_SECONDS)


def test_nobody_else_is_waited_for() -> None:
    assert seconds_of("until_settled", ever=False, count=0) == 0
