"""What a view cannot show because it is no longer there: sequences missing between the events that came. Pure.

Sequences have no holes when they are recorded (docs/wire/client.md, "Events"). What is missing up to the floor of a
frame was dropped by `drop-oldest`; what is missing past it was damaged. With agents a third reason exists, a legacy
event that a reader does not get, so from then on only the floor counts.
"""

from hopline.rendering import plural

REPEAT_SECONDS = 10.0
"""A gap soon after one that was told is counted and told later."""


class Gaps:
    """Counts the events that were asked for and did not come.

    Args:
        after: the cursor; the event after it is the first that is due.
    """

    def __init__(self, after: int = 0) -> None:
        self.dropped = 0
        self.damaged = 0
        self.unsure = False
        """Set once events may be left out on purpose."""
        self.through = after
        """The last event that came."""
        self._told = (0, 0)
        self._told_at = -REPEAT_SECONDS

    @property
    def whole(self) -> bool:
        """Whether everything came so far."""
        return not self.dropped and not self.damaged

    def take(self, sequence: int, floor: int) -> bool:
        """The event `sequence` comes next, in a frame of that floor. Returns whether some before it are missing."""
        first, self.through = self.through + 1, max(self.through, sequence)
        missing = sequence - first
        if missing <= 0:
            return False
        dropped = max(0, min(sequence - 1, floor) - first + 1)
        damaged = 0 if self.unsure else missing - dropped
        self.dropped += dropped
        self.damaged += damaged
        return bool(dropped or damaged)

    def restart(self, after: int) -> None:
        """Another store: count from `after` on."""
        self.through = after

    def sentence(self, now: float | None = None) -> str | None:
        """What has not been told yet; at monotonic `now` only if the last telling is some time ago."""
        dropped, damaged = self.dropped - self._told[0], self.damaged - self._told[1]
        if not dropped and not damaged:
            return None
        if now is not None:
            if now - self._told_at < REPEAT_SECONDS:
                return None
            self._told_at = now
        self._told = self.dropped, self.damaged
        parts = []
        if dropped:
            verb = "was" if dropped == 1 else "were"
            parts.append(f"{plural(dropped, 'event')} {verb} dropped before they could be shown (--when-journal-full)")
        if damaged:
            verb = "is" if damaged == 1 else "are"
            parts.append(f"{plural(damaged, 'event')} {verb} lost to damage of the journal (see: hopline doctor)")
        return f"the output has a gap: {'; '.join(parts)}."
