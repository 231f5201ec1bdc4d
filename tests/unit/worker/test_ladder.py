"""The last steps against a launcher, on a loop whose clock the test jumps."""

import asyncio
import signal
from collections.abc import Callable
from typing import Any

import pytest

from hopline.worker import ladder as ladder_module
from hopline.worker.ladder import KILL_SECONDS, RELAY_SECONDS, TERM_SECONDS, Ladder


class Clock:
    """A loop's timers and nothing else."""

    def __init__(self) -> None:
        self.now = 100.0
        self.timers: list[tuple[float, Callable[[], object], Timer]] = []

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, step: Callable[[], object]) -> "Timer":
        timer = Timer()
        self.timers.append((when, step, timer))
        return timer

    def jump(self, seconds: float) -> None:
        end = self.now + seconds
        while due := [entry for entry in self.timers if entry[0] <= end and not entry[2].cancelled]:
            entry = min(due, key=lambda found: found[0])
            self.timers.remove(entry)
            self.now = entry[0]
            entry[1]()
        self.now = end


class Timer:
    cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()

    class Loops:
        TimerHandle = asyncio.TimerHandle

        @staticmethod
        def get_running_loop() -> Any:
            return clock

    monkeypatch.setattr(ladder_module, "asyncio", Loops)
    return clock


@pytest.fixture
def steps() -> list[str]:
    return []


@pytest.fixture
def ladder(clock: Clock, steps: list[str]) -> Ladder:
    return Ladder(lambda number: steps.append(signal.Signals(number).name), lambda: steps.append("given up"))


def test_nothing_happens_before_a_deadline_is_fixed(clock: Clock, steps: list[str], ladder: Ladder) -> None:
    clock.jump(1000)
    assert steps == [] and not ladder.begun


def test_each_step_comes_after_its_own_allowance(clock: Clock, steps: list[str], ladder: Ladder) -> None:
    ladder.begin(clock.now + 5)
    assert ladder.begun
    clock.jump(5 + RELAY_SECONDS - 0.01)
    assert steps == []
    clock.jump(0.02)
    assert steps == ["SIGTERM"]
    clock.jump(TERM_SECONDS - 0.02)
    assert steps == ["SIGTERM"]
    clock.jump(0.02)
    assert steps == ["SIGTERM", "SIGKILL"]
    clock.jump(KILL_SECONDS)
    assert steps == ["SIGTERM", "SIGKILL", "given up"]
    clock.jump(1000)
    assert len(steps) == 3


def test_a_deadline_is_never_put_off(clock: Clock, steps: list[str], ladder: Ladder) -> None:
    ladder.begin(clock.now + 1)
    ladder.begin(clock.now + 50)
    clock.jump(1 + RELAY_SECONDS)
    assert steps == ["SIGTERM"]


def test_a_failure_brings_the_deadline_forward(clock: Clock, steps: list[str], ladder: Ladder) -> None:
    ladder.begin(clock.now + 50)
    clock.jump(1)
    ladder.begin(clock.now)
    clock.jump(RELAY_SECONDS)
    assert steps == ["SIGTERM"]


def test_once_terminated_nothing_starts_over(clock: Clock, steps: list[str], ladder: Ladder) -> None:
    ladder.begin(clock.now + 5)
    clock.jump(5 + RELAY_SECONDS)
    ladder.begin(clock.now - 50)
    clock.jump(TERM_SECONDS)
    assert steps == ["SIGTERM", "SIGKILL"]


@pytest.mark.parametrize("begun", [False, True])
def test_nothing_is_signalled_once_the_launcher_was_reaped(
    clock: Clock, steps: list[str], ladder: Ladder, begun: bool
) -> None:
    if begun:
        ladder.begin(clock.now)
    ladder.stop()
    ladder.begin(clock.now - 1)
    clock.jump(1000)
    assert steps == []
