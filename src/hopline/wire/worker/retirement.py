"""The times of one retirement: when the worker is killed, when a drain is cut, when a consumer is given up.

Source: docs/wire/worker.md, "Retirement". Knows no frames and no descriptors.
"""

from enum import StrEnum

from hopline.wire.worker.limits import RelayLimits


class Phase(StrEnum):
    """States of a relay after its worker was acquired."""

    RUNNING = "running"
    RETIRING = "retiring"
    DRAINING = "draining"
    FLUSHING = "flushing"
    DONE = "done"


class Retirement:
    """Phase and deadlines of one generation. Times are monotonic seconds.

    Args:
        limits: capacities and times.
        patient: whether an exit that nobody asked for leaves a blocked consumer its time (WW-PATIENT).
    """

    def __init__(self, limits: RelayLimits, *, patient: bool) -> None:
        self._limits = limits
        self._patient = patient
        self.phase = Phase.RUNNING
        self.wanted = False
        """Whether the controller asked for the end or something failed, as opposed to the worker ending by itself."""
        self._kill_at: float | None = None
        self._killed_at: float | None = None
        self._cut_at: float | None = None
        self._cut_passed = False
        self._flush_from = 0.0

    def begin(self, now: float, grace_seconds: float) -> bool:
        """A shutdown or an end of file. The first fixes the deadline, later ones change nothing (WW-DEADLINE-FIXED).

        Returns whether this was the first.
        """
        if self.phase is not Phase.RUNNING:
            return False
        self.phase = Phase.RETIRING
        self._kill_at = now + grace_seconds
        return True

    def want(self, now: float) -> None:
        """The controller wants the end, or something failed: patience with a blocked consumer is over."""
        if not self.wanted:
            self.wanted = True
            self.took(now)

    def fail(self, now: float) -> bool:
        """A failure leaves no grace (WW-FATAL-AT-ONCE). Returns whether retirement begins with it."""
        self.want(now)
        if self.phase is Phase.RETIRING:
            self._kill_at = now
        return self.begin(now, 0.0)

    def kill_due(self, now: float) -> bool:
        """Whether to kill the worker now; True once, and never after its exit was observed (WW-EXIT-UNREAPED)."""
        if self.phase is not Phase.RETIRING or self._killed_at is not None:
            return False
        if self._kill_at is None or now < self._kill_at:
            return False
        self._killed_at = now
        return True

    def unkillable(self, now: float) -> bool:
        """Whether the killed worker has outlived its time (WW-UNKILLABLE)."""
        return (
            self.phase is Phase.RETIRING
            and self._killed_at is not None
            and now >= self._killed_at + self._limits.kill_seconds
        )

    def exited(self, now: float) -> None:
        """The worker's exit was observed; what it left is drained from here on."""
        self.phase = Phase.DRAINING
        self._cut_at = now + self._limits.drain_seconds
        self.took(now)

    def cut_due(self, now: float) -> bool:
        """Whether a stream that never pauses is cut now (WW-DRAIN-AVAILABLE)."""
        if self._cut_at is not None and now >= self._cut_at:
            self._cut_passed = True
        return self._cut_passed

    def took(self, now: float) -> None:
        """The consumer took something, or has nothing to take."""
        self._flush_from = max(self._flush_from, now)

    def consumer_given_up(self, now: float) -> bool:
        """Whether a consumer for whom something waits has had its time (WW-FLUSH-BOUND)."""
        give_up = self._give_up_at()
        return give_up is not None and now >= give_up

    def next_deadline(self, *, waiting: bool) -> float | None:
        """When to call `on_time` next; `waiting` says whether anything waits for the consumer."""
        if self.phase is Phase.RETIRING:
            return self._kill_at if self._killed_at is None else self._killed_at + self._limits.kill_seconds
        deadlines = [self._cut_at] if self.phase is Phase.DRAINING and not self._cut_passed else []
        if waiting:
            deadlines.append(self._give_up_at())
        return min((at for at in deadlines if at is not None), default=None)

    def _give_up_at(self) -> float | None:
        if self.phase not in (Phase.DRAINING, Phase.FLUSHING) or (self._patient and not self.wanted):
            return None
        return self._flush_from + self._limits.flush_seconds
